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

// detect finds the format, by the first lines that tell: a file may begin in the middle of a line.
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
	f.packed = f.reader.Packed() || f.unwrapped != nil && f.unwrapped.outer.Packed()
	return nil
}

// unwrap takes the lines out of what carries them, if something does.
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

// nothingIn returns the error about a file whose lines were taken out of what carries them, of which none is of use.
func (f *file) nothingIn(head []byte, err error) error {
	if program := schedlog.WhoseLines(head); program != "" {
		return fmt.Errorf("%s contains %s's log, and neither kube-scheduler's nor audit events", f.reader.Name(), program)
	}
	return fmt.Errorf("%w: what %s holds is neither an audit log nor kube-scheduler's", err, f.wrapper.Name)
}

// isOtherFormat reports whether a line is one of a format that is not a log's.
func isOtherFormat(text []byte) bool {
	for _, f := range formats() {
		if _, is := f.is(line{text: text}); is && f.role != changes && f.role != moves {
			return true
		}
	}
	return false
}

// unwrapped reads the lines that were taken out of something.
type unwrapped struct {
	lines  io.ReadCloser
	outer  *lines.Reader
	strict bool
	torn   error // why they end before what holds them does
}

// Read implements io.Reader. What can't be read ends the lines, and is an error only if it has to be.
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

// isMarkdown reports whether a file begins as a text in Markdown does that shows something: a heading, and later a fence.
func isMarkdown(head []byte) bool {
	heading := bytes.TrimLeft(head, "#")
	if level := len(head) - len(heading); level == 0 || level > 6 || !bytes.HasPrefix(heading, []byte(" ")) {
		return false
	}
	return bytes.Contains(head, []byte("\n```"))
}

// fenced returns a text in Markdown from the first line of klog's or of an audit log on: an issue shows such lines in a fence. It returns
// nil if there is none.
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
