// Package metrics reads the scheduler's own counts, as a poller of its metrics wrote them: JSON Lines,
// {"time":RFC3339,"active":0,"backoff":0,"unschedulable":0,"gated":0}, the gauge scheduler_pending_pods
// by its label queue.
package metrics

import (
	"bytes"
	"encoding/json"
	"io"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/lines"
)

// Format is the format's name in sources.Recording.
const Format = "metrics"

type sample struct {
	Time          *time.Time `json:"time"`
	Active        *int       `json:"active"`
	Backoff       int        `json:"backoff"`
	Unschedulable int        `json:"unschedulable"`
	Gated         int        `json:"gated"`
}

// Sniff reports whether head, the first bytes of a file, is the beginning of such a file, and its first
// time.
func Sniff(head []byte) (time.Time, bool) {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	s, err := parse(line)
	if err != nil || s.Time == nil || s.Active == nil {
		return time.Time{}, false
	}
	return s.Time.UTC(), true
}

func parse(line []byte) (s sample, err error) {
	if len(line) > 4096 {
		line = line[:4096]
	}
	err = json.Unmarshal(line, &s)
	return s, err
}

// Read reads a file to its end. Its events are *sources.Counts. An error names the file, the line and
// the cause.
func Read(r *lines.Reader) (*sources.Part, error) {
	part := &sources.Part{Format: Format}
	for {
		line, err := r.Next()
		if err == io.EOF {
			return part, nil
		}
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		s, err := parse(line)
		if err != nil && r.Cut() {
			part.Notices = append(part.Notices, r.CutNotice(part.Last))
			return part, nil
		}
		if err != nil || s.Time == nil || s.Active == nil {
			return nil, r.Errorf("this line does not hold the counts of the scheduler's queues: \"%.80s\"", sources.Sanitize(string(line)))
		}
		if err := sources.CheckTime(*s.Time); err != nil {
			return nil, r.Errorf("%w", err)
		}
		if *s.Active < 0 || s.Backoff < 0 || s.Unschedulable < 0 || s.Gated < 0 {
			return nil, r.Errorf("a count is negative")
		}
		part.Add(s.Time.UTC(), &sources.Counts{Active: *s.Active, Backoff: s.Backoff, Unschedulable: s.Unschedulable, Gated: s.Gated})
	}
}
