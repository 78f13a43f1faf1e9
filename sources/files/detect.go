package files

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/schedq/schedq/sources/lines"
	"github.com/schedq/schedq/sources/schedlog"
	"github.com/schedq/schedq/sources/wrapped"
)

// detect finds the format from the first lines that show it. A file may begin in the middle of a line.
func (f *file) detect(ctx context.Context) error {
	if err := f.unwrap(ctx); err != nil {
		return err
	}
	head := f.reader.Head()
	if isMarkdown(head) {
		head = fenced(head)
	}
	f.format, f.hint = formatOf(head)
	if f.format == nil {
		return f.unknown()
	}
	f.name, f.modTime = f.reader.Name(), f.reader.ModTime()
	f.packed = f.reader.Compressed() || f.unwrapped != nil && f.unwrapped.outer.Compressed()
	return nil
}

// unwrap extracts the lines from their wrapper, if there is one.
func (f *file) unwrap(ctx context.Context) error {
	w := wrapped.Detect(f.reader.Head(), isOtherFormat)
	if w == nil {
		return nil
	}
	f.wrapper = w
	if f.stream != nil {
		w = w.Of(*f.stream)
	}
	outer := f.reader
	begin := bytes.Clone(outer.Head())
	text := &unwrapped{lines: w.Open(outer.Rest()), outer: outer, strict: f.strict}
	r, err := lines.New(ctx, outer.Name(), outer.ModTime(), text)
	if err != nil {
		return f.nothingIn(begin, err)
	}
	f.reader, f.unwrapped, f.dated = r, text, schedlog.FindYear(begin)
	return nil
}

// nothingIn returns the error about a file with wrapped lines of which none is recognised.
func (f *file) nothingIn(head []byte, err error) error {
	if program := schedlog.WhoseLines(head); program != "" {
		return fmt.Errorf("%s contains %s's log, and neither kube-scheduler's nor audit events", f.reader.Name(), program)
	}
	return fmt.Errorf("%w: what %s holds is neither an audit log nor kube-scheduler's", err, f.wrapper.Name)
}

// isOtherFormat reports whether a line has a format other than those of logs.
func isOtherFormat(text []byte) bool {
	for _, f := range formats() {
		if _, is := f.is(line{text: text}); is && f.role != changes && f.role != moves {
			return true
		}
	}
	return false
}

// unwrapped reads the lines that were extracted from a wrapper.
type unwrapped struct {
	lines  io.ReadCloser
	outer  *lines.Reader
	strict bool
	torn   error // why they end before the wrapper does
}

// Read implements io.Reader. Damage ends the lines; it is an error only in strict mode.
func (u *unwrapped) Read(p []byte) (int, error) {
	n, err := u.lines.Read(p)
	if err != nil && err != io.EOF && !errors.Is(err, io.ErrClosedPipe) && !errors.Is(err, context.Canceled) && !u.strict {
		u.torn, err = err, io.EOF
	}
	return n, err
}

// Close implements io.Closer.
func (u *unwrapped) Close() error {
	u.outer.Close()
	return u.lines.Close()
}

// maxBeginnings limits how many lines are read to detect a format: a scheduler's log may begin with the output of
// another program or with its printed configuration.
const maxBeginnings = 200

// beginnings yields the first lines of a file that are not blank.
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

// isMarkdown reports whether a file looks like Markdown with an example: a heading, and later a fence.
func isMarkdown(head []byte) bool {
	heading := bytes.TrimLeft(head, "#")
	if level := len(head) - len(heading); level == 0 || level > 6 || !bytes.HasPrefix(heading, []byte(" ")) {
		return false
	}
	return bytes.Contains(head, []byte("\n```"))
}

// fenced returns a Markdown text from its first klog line or audit event on, or nil if it has none: issues show such
// lines in fences.
func fenced(text []byte) []byte {
	for rest := text; len(rest) > 0; {
		line, behind, _ := bytes.Cut(rest, []byte("\n"))
		if line = bytes.TrimRight(line, "\r"); schedlog.Sniff(line) || isAudit(line) {
			return rest
		}
		rest = behind
	}
	return nil
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
