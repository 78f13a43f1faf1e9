package lines

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/jsonscan"
)

// salvageBudget limits how many bytes of one file are read again to find whole objects in damaged lines, so that no
// file can be crafted to be slow.
const salvageBudget = 256 << 20

// losses counts the damage of a file by kind.
type losses struct {
	unread   loss  // lines
	torn     loss  // lines that are read in part
	leftOut  loss  // changes of objects
	skipped  loss  // lines of another format that do no harm
	replaced loss  // lines with invalid UTF-8
	repeated loss  // lines that are left out
	nulls    loss  // bytes
	damage   error // of the compressed data
	behind   bool  // the damage follows complete data
	cutOff   int   // the number of a last line that is cut off, or 0
	budget   int
}

// loss is a number of things of one kind, and the first of them.
type loss struct {
	count       int
	first, last int // lines
	what        sources.SafeText
	cause       error
}

func (l *loss) add(line, n int) {
	if l.count == 0 {
		l.first = line
	}
	l.count += n
	l.last = line
}

// because counts a loss. A line counts once.
func (l *loss) because(line int, cause error) {
	if l.count > 0 && l.last == line {
		return
	}
	if l.count == 0 {
		l.cause = cause
	}
	l.add(line, 1)
}

// Unread records that the line that Next returned last is unreadable, and why. The line is counted for Notices;
// a strict Reader returns the error.
func (r *Reader) Unread(cause error) error {
	if r.strict {
		return r.Errorf("%w", cause)
	}
	r.losses.unread.because(r.line, cause)
	return nil
}

// Torn is Unread for a line that can be read in part.
func (r *Reader) Torn(line int, cause error) error {
	if r.strict {
		return fmt.Errorf("%s:%d: %w", r.name, line, cause)
	}
	r.losses.torn.because(line, cause)
	return nil
}

// Skip records that the line that Next returned last is of another format, and why. It is
// counted for Notices, and no error for a strict Reader.
func (r *Reader) Skip(cause error) { r.losses.skipped.because(r.line, cause) }

// LeftOut is Unread for a change of an object in the line that Next returned last.
func (r *Reader) LeftOut(object sources.SafeText, cause error) error {
	if r.strict {
		return r.Errorf("%w", cause)
	}
	l := &r.losses.leftOut
	if l.count == 0 {
		l.what, l.cause = object, cause
	}
	l.add(r.line, 1)
	return nil
}

// CutOff records that the line that Next returned last is the file's last and is cut off. For a strict Reader it is an
// error.
func (r *Reader) CutOff() error {
	if r.strict {
		return r.Errorf("the line is cut off")
	}
	r.losses.cutOff = r.line
	return nil
}

// Expect returns err, with the file and the line, if the Reader is strict.
func (r *Reader) Expect(err error) error {
	if r.strict {
		return r.Errorf("%w", err)
	}
	return nil
}

// errMore is about a line that is more than one object.
var errMore = errors.New("something follows the JSON object")

// Salvage calls take with each whole JSON object of a line that is not one object: one that was torn when its
// writer was killed, and has another glued to it. An object inside a torn one is not taken for a line: begins
// are how one begins, and it must reach to the line's end or to another. The cause is why the line is not one
// object, or nil if it only goes on behind it. What can't be read is counted, for a strict Reader an error.
func (r *Reader) Salvage(line []byte, cause error, begins []string, take func(object []byte) error) error {
	switch {
	case r.strict && r.cut && cause != nil:
		return r.CutOff()
	case r.strict && cause == nil:
		return r.Errorf("%w", errMore)
	case r.strict:
		return r.Errorf("%w", cause)
	}
	taken := 0
	lost, err := jsonscan.Salvage(line, begins, &r.losses.budget, func(object []byte) error {
		taken++
		return take(object)
	})
	if err != nil || !lost {
		return err
	}
	if r.cut {
		return r.CutOff()
	}
	switch {
	case cause == nil:
		return r.Torn(r.line, errMore)
	case taken == 0:
		return r.Unread(cause)
	}
	return r.Torn(r.line, cause)
}

// Notices returns sentences about the damage of the file, one per kind. The events that were read go up to
// end.
func (r *Reader) Notices(end time.Time) []string {
	var said []string
	say := func(format string, args ...any) { said = append(said, r.name+": "+fmt.Sprintf(format, args...)) }
	until := ""
	if !end.IsZero() {
		until = "; the recording ends at " + end.UTC().Format("2006-01-02 15:04:05.000 UTC")
	}
	l := &r.losses
	switch {
	case l.behind:
		said = append(said, l.damage.Error()+", and is left out")
	case l.damage != nil:
		said = append(said, l.damage.Error()+until)
	case l.cutOff > 0:
		say("line %d is cut off%s", l.cutOff, until)
	}
	switch n := l.unread.count; {
	case n == 1:
		say("line %d can't be read: %s", l.unread.first, brief(l.unread.cause))
	case n > 1:
		say("%d lines can't be read, the first is line %d: %s", n, l.unread.first, brief(l.unread.cause))
	}
	switch n := l.torn.count; {
	case n == 1:
		say("line %d can be read only in part: %s", l.torn.first, brief(l.torn.cause))
	case n > 1:
		say("%d lines can be read only in part, the first is line %d: %s", n, l.torn.first, brief(l.torn.cause))
	}
	switch n := l.leftOut.count; {
	case n == 1:
		say("a change of an object is left out, in line %d, of %s: %s", l.leftOut.first, l.leftOut.what, brief(l.leftOut.cause))
	case n > 1:
		say("%d changes of objects are left out, the first in line %d, of %s: %s", n, l.leftOut.first, l.leftOut.what, brief(l.leftOut.cause))
	}
	switch n := l.skipped.count; {
	case n == 1:
		say("line %d is skipped: %s", l.skipped.first, brief(l.skipped.cause))
	case n > 1:
		say("%d lines are skipped, the first is line %d: %s", n, l.skipped.first, brief(l.skipped.cause))
	}
	switch n := l.repeated.count; {
	case n == 1:
		say("1 line is repeated, line %d: schedq counts it once", l.repeated.first)
	case n > 1:
		say("%d lines are repeated, the first is line %d: schedq counts them once", n, l.repeated.first)
	}
	switch n := l.replaced.count; {
	case n == 1:
		say("line %d holds bytes that are no UTF-8, which show as \uFFFD", l.replaced.first)
	case n > 1:
		say("%d lines hold bytes that are no UTF-8, which show as \uFFFD; the first is line %d", n, l.replaced.first)
	}
	switch n := l.nulls.count; {
	case n == 1:
		say("a NUL byte is left out, in line %d", l.nulls.first)
	case n > 1:
		say("%d NUL bytes are left out, the first in line %d", n, l.nulls.first)
	}
	return said
}

// Nothing returns the error about a file of which nothing could be read: the first damage, or nil if
// there is none.
func (r *Reader) Nothing() error {
	l := &r.losses
	first := &l.unread
	for _, other := range []*loss{&l.leftOut, &l.torn, &l.skipped} {
		if other.count > 0 && (first.count == 0 || other.first < first.first) {
			first = other
		}
	}
	switch {
	case first.count > 0:
		return fmt.Errorf("%s:%d: %w", r.name, first.first, first.cause)
	case l.damage != nil:
		return l.damage
	case l.cutOff > 0:
		return fmt.Errorf("%s:%d: the line is cut off, and nothing is before it: %w", r.name, l.cutOff, io.ErrUnexpectedEOF)
	}
	return nil
}

// OnlyCut reports whether the file's only damage is that it is cut off.
func (r *Reader) OnlyCut() bool {
	l := &r.losses
	return l.unread.count == 0 && l.torn.count == 0 && l.leftOut.count == 0 &&
		(l.damage == nil || l.behind || errors.Is(l.damage, io.ErrUnexpectedEOF))
}

// maxCause limits the bytes of the reason in a notice.
const maxCause = 300

func brief(cause error) string {
	s := cause.Error()
	if len(s) <= maxCause {
		return s
	}
	cut := maxCause
	for s[cut]&0xc0 == 0x80 { // inside a character
		cut--
	}
	return s[:cut] + "…"
}
