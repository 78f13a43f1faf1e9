// Package marks reads a log of actions on a cluster that a program writes with Go's standard logger:
// "2026/11/21 10:56:19    0.0s three nodes". The relative time may be absent. Times are assumed to be UTC.
package marks

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/lines"
)

// Format is the format's name in sources.Recording.
const Format = "marks"

const layout = "2006/01/02 15:04:05"

// Sniff reports whether a line from a file's beginning is from such a log, and returns its time.
func Sniff(line []byte) (time.Time, bool) {
	at, _, ok := parse(line)
	return at, ok
}

// parse splits a line into its time and its text.
func parse(line []byte) (time.Time, string, bool) {
	line = line[:min(len(line), sources.MaxText)]
	date, rest, _ := bytes.Cut(line, []byte(" "))
	clock, rest, _ := bytes.Cut(rest, []byte(" "))
	at, err := time.Parse(layout, string(date)+" "+string(clock))
	if err != nil || sources.CheckTime(at) != nil {
		return time.Time{}, "", false
	}
	text := strings.TrimSpace(string(rest))
	if relative, rest, ok := strings.Cut(text, "s "); ok && strings.Trim(relative, "0123456789.") == "" && relative != "" {
		text = strings.TrimSpace(rest)
	}
	return at, text, true
}

var errUntimed = errors.New("it does not begin with a time")

// Read reads a log to its end. Its events are *sources.Mark. It skips what it can't read and adds a notice. An error
// names the file, the line and the cause: nothing in the file can be read.
func Read(r *lines.Reader) (*sources.Part, error) {
	part := &sources.Part{Format: Format, Keep: r.Keep}
	r.CheckTimes(clock())
	if err := r.ReadAll(func(line []byte) error { return readLine(r, part, line) }); err != nil {
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

// readLine adds the mark in a line to part, or the marks in a torn line that others were appended to.
func readLine(r *lines.Reader, part *sources.Part, line []byte) error {
	from, torn := 0, false
	for from < len(line) {
		to := len(line)
		if at := glued.FindIndex(line[from+1:]); at != nil {
			to = from + 1 + at[0]
		}
		at, text, ok := parse(line[from:to])
		switch {
		case to == len(line) && r.Cut():
			return r.CutOff()
		case ok:
			part.Add(at, &sources.Mark{Text: sources.Sanitize(text)})
		default:
			torn = true
		}
		if to < len(line) {
			torn = true
		}
		from = to
	}
	switch {
	case !torn:
		return nil
	case glued.Match(line):
		return r.ReadInPart(r.Line(), errGlued)
	}
	r.Skip(errUntimed)
	return nil
}

var errGlued = errors.New("another line is glued to it")

// glued matches the start of a mark with a relative time. Inside a line only such marks are found, because a text may
// contain a time.
var glued = regexp.MustCompile(`\d{4}/\d\d/\d\d \d\d:\d\d:\d\d +\d+\.\ds `)

// clock returns the clock of such logs.
func clock() lines.Clock {
	return lines.Clock{
		Find:      func(line []byte) []byte { return line[:min(len(line), len(layout))] },
		MinuteLen: len("2026/11/21 10:56"),
		Parse: func(text []byte) (time.Time, bool) {
			at, err := time.Parse(layout, string(text))
			return at, err == nil
		},
	}
}
