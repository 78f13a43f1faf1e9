// Package metrics reads the scheduler's own counts, as a poller of its metrics wrote them: JSON Lines,
// {"time":RFC3339,"active":0,"backoff":0,"unschedulable":0,"gated":0}, the gauge scheduler_pending_pods
// by its label queue.
package metrics

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/lines"
)

// Format is the format's name in sources.Recording.
const Format = "metrics"

// maxLine is how long a line may be, in bytes.
const maxLine = 4096

type sample struct {
	Time          *time.Time `json:"time"`
	Active        *int       `json:"active"`
	Backoff       int        `json:"backoff"`
	Unschedulable int        `json:"unschedulable"`
	Gated         int        `json:"gated"`
}

// begin is how a line begins.
const begin = `{"time":`

var begins = []string{begin}

// Sniff reports whether a line from a file's beginning is one of such a file, and its time.
func Sniff(line []byte) (time.Time, bool) {
	s, ok := decode(line)
	if i := bytes.LastIndex(line, []byte(begin)); !ok && i > 0 { // glued to a torn one
		s, ok = decode(line[i:])
	}
	if !ok {
		return time.Time{}, false
	}
	return s.Time.UTC(), true
}

func decode(line []byte) (s sample, ok bool) {
	ok = len(line) <= maxLine && json.Unmarshal(line, &s) == nil && s.Time != nil && s.Active != nil
	return s, ok
}

// parse reads one line, or says why it can't be read.
func parse(line []byte) (s sample, refused error) {
	s, ok := decode(line)
	if !ok {
		return s, fmt.Errorf("this line does not hold the counts of the scheduler's queues: \"%.80s\"", sources.Sanitize(string(line)))
	}
	if err := sources.CheckTime(*s.Time); err != nil {
		return s, err
	}
	if *s.Active < 0 || s.Backoff < 0 || s.Unschedulable < 0 || s.Gated < 0 {
		return s, errors.New("a count is negative")
	}
	return s, nil
}

// Read reads a file to its end. Its events are *sources.Counts. What can't be read is left out, and a notice tells. An
// error names the file, the line and the cause: nothing in the file can be read.
func Read(r *lines.Reader) (*sources.Part, error) {
	part := &sources.Part{Format: Format, Keep: r.Keep}
	take := func(line []byte) error {
		s, refused := parse(line)
		if refused != nil {
			return r.Unread(refused)
		}
		part.Add(s.Time.UTC(), &sources.Counts{Active: *s.Active, Backoff: s.Backoff, Unschedulable: s.Unschedulable, Gated: s.Gated})
		return nil
	}
	r.CheckTimes(lines.JSONTimes())
	err := r.ReadAll(func(line []byte) error {
		if r.Repeats(line) {
			return r.Repeated()
		}
		if json.Valid(line) {
			return take(line)
		}
		_, refused := parse(line)
		return r.Salvage(line, refused, begins, take)
	})
	if err != nil {
		return nil, err
	}
	if len(part.Events) == 0 {
		if err := r.NoContentErr(); err != nil {
			return nil, err
		}
	}
	part.Notices = r.Notices(part.Last)
	return part, nil
}
