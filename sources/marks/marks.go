// Package marks reads a log of what was done to a cluster, and when, as a program writes it with Go's
// standard logger: "2026/11/21 10:56:19    0.0s three nodes". The relative time may be absent. Times are
// taken as UTC.
package marks

import (
	"bytes"
	"io"
	"strings"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/lines"
)

// Format is the format's name in sources.Recording.
const Format = "marks"

const layout = "2006/01/02 15:04:05"

// Sniff reports whether head, the first bytes of a file, is the beginning of such a log, and its first
// time.
func Sniff(head []byte) (time.Time, bool) {
	line, _, _ := bytes.Cut(head, []byte("\n"))
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

// Read reads a log to its end. Its events are *sources.Mark. Lines without a time belong to the line
// before and are skipped. An error names the file, the line and the cause.
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
		at, text, ok := parse(line)
		if r.Cut() && len(line) > 0 {
			part.Notices = append(part.Notices, r.CutNotice(part.Last))
			return part, nil
		}
		if ok {
			part.Add(at, &sources.Mark{Text: sources.Sanitize(text)})
		}
	}
}
