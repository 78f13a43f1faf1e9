package files

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/audit"
	"github.com/schedq/schedq/sources/marks"
	"github.com/schedq/schedq/sources/metrics"
	"github.com/schedq/schedq/sources/scenario"
	"github.com/schedq/schedq/sources/schedlog"
	"github.com/schedq/schedq/sources/trace"
)

// detect finds the format, by the first lines that tell: a file may begin in the middle of a line.
func (f *file) detect() error {
	head, first := f.reader.Head(), true
	for line := range beginnings(head) {
		for _, known := range []struct {
			format string
			sniff  func([]byte) (time.Time, bool)
		}{
			{trace.Format, trace.Sniff},
			{audit.Format, audit.Sniff},
			{metrics.Format, metrics.Sniff},
			{marks.Format, marks.Sniff},
			{schedlog.Format, func(line []byte) (time.Time, bool) { return time.Time{}, schedlog.Sniff(line) }},
		} {
			if at, ok := known.sniff(line); ok {
				f.format, f.hint = known.format, at
				if known.format == trace.Format {
					f.hint = firstTime(head)
				}
				return nil
			}
		}
		if first && scenario.Sniff(head) {
			f.format = scenario.Format
			f.reader.Strict() // it is one text
			return nil
		}
		first = false
	}
	return f.unknown()
}

// maxBeginnings is how many lines are looked at to tell a format: a scheduler's log may begin within what another
// program wrote, or within its printed configuration.
const maxBeginnings = 200

// beginnings yields the first lines of a file that hold something.
func beginnings(head []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for range maxBeginnings {
			i := bytes.IndexAny(head, "\n\x00")
			line := head
			if i >= 0 {
				line = head[:i]
			}
			line = bytes.TrimRight(bytes.TrimPrefix(line, []byte("\ufeff")), "\r")
			if len(bytes.TrimSpace(line)) > 0 && !yield(line) || i < 0 {
				return
			}
			head = bytes.TrimLeft(head[i+1:], "\x00")
		}
	}
}

// firstTime returns the time of the first record of a trace, or the zero time.
func firstTime(head []byte) time.Time {
	for line := range beginnings(head) {
		var first struct{ Time time.Time }
		if json.Unmarshal(line, &first) == nil && !first.Time.IsZero() {
			return first.Time.UTC()
		}
	}
	return time.Time{}
}

// unknown says of which format a file can't be told.
func (f *file) unknown() error {
	name := f.reader.Name()
	f.reader.Strict()
	line, err := f.reader.Next() // a line that is too long or binary says so itself
	if err != nil {
		return err
	}
	if bytes.HasPrefix(line, []byte("{")) && bytes.Contains(line, []byte(`"ts":`)) && bytes.Contains(line, []byte(`"msg":`)) {
		return fmt.Errorf("%s: this log is in klog's JSON format, and schedq reads the text format: "+
			"run kube-scheduler with --logging-format=text", name)
	}
	return fmt.Errorf("%s: the format is not one that schedq reads (an audit log of kube-apiserver, a log of "+
		"kube-scheduler, a trace, counts, marks or a scenario): its first line is \"%s\"", name, sources.Sanitize(string(line[:min(len(line), 60)])))
}
