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
	unread         loss  // lines
	inPart         loss  // lines
	skippedChanges loss  // changes of objects
	skipped        loss  // lines of another format that do no harm
	replaced       loss  // lines with invalid UTF-8
	repeated       loss  // lines, which are skipped
	nulls          loss  // bytes
	damage         error // of the compressed data
	trailing       bool  // damage is what follows complete data
	cutOffLine     int   // the number of the last line if it is cut off, or 0
	budget         int
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

// addCause counts a line, once, with the cause of the first one.
func (l *loss) addCause(line int, cause error) {
	if l.count > 0 && l.last == line {
		return
	}
	if l.count == 0 {
		l.cause = cause
	}
	l.add(line, 1)
}

// Unread records that the last line that Next returned is unreadable, and why. Notices counts it; a strict Reader
// returns the error.
func (r *Reader) Unread(cause error) error {
	if r.strict {
		return r.Errorf("%w", cause)
	}
	r.losses.unread.addCause(r.line, cause)
	return nil
}

// ReadInPart is Unread for a line of which a part can be read.
func (r *Reader) ReadInPart(line int, cause error) error {
	if r.strict {
		return fmt.Errorf("%s:%d: %w", r.name, line, cause)
	}
	r.losses.inPart.addCause(line, cause)
	return nil
}

// Skip records that the last line that Next returned is of another format, and why. Notices counts it; it is no
// error for a strict Reader.
func (r *Reader) Skip(cause error) { r.losses.skipped.addCause(r.line, cause) }

// SkipChange is Unread for a change of an object in the last line that Next returned.
func (r *Reader) SkipChange(object sources.SafeText, cause error) error {
	if r.strict {
		return r.Errorf("%w", cause)
	}
	l := &r.losses.skippedChanges
	if l.count == 0 {
		l.what, l.cause = object, cause
	}
	l.add(r.line, 1)
	return nil
}

// CutOff records that the last line that Next returned is the last of the file, and is cut off. A strict Reader
// returns an error.
func (r *Reader) CutOff() error {
	if r.strict {
		return r.Errorf("the line is cut off")
	}
	r.losses.cutOffLine = r.line
	return nil
}

// Expect returns err, with the file and the line, if the Reader is strict.
func (r *Reader) Expect(err error) error {
	if r.strict {
		return r.Errorf("%w", err)
	}
	return nil
}

// errMore is the error about a line with text after its object.
var errMore = errors.New("something follows the JSON object")

// Salvage calls take with each complete JSON object in a line that is not one object, because its writer was killed
// and another line is glued to it. begins are the possible beginnings of a line's object, so that nested objects do
// not count; an object must reach to the line's end or to another one. The cause is why the line is not one object,
// or nil if it has text after its object. Notices counts what can't be read; a strict Reader returns an error.
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
		return r.ReadInPart(r.line, errMore)
	case taken == 0:
		return r.Unread(cause)
	}
	return r.ReadInPart(r.line, cause)
}

// Notices returns sentences about the damage of the file, one per kind. end is the time of the last event.
func (r *Reader) Notices(end time.Time) []string {
	var notices []string
	add := func(format string, args ...any) { notices = append(notices, r.name+": "+fmt.Sprintf(format, args...)) }
	until := ""
	if !end.IsZero() {
		until = "; the recording ends at " + end.UTC().Format("2006-01-02 15:04:05.000 UTC")
	}
	l := &r.losses
	switch {
	case l.trailing:
		notices = append(notices, l.damage.Error()+", and is left out")
	case l.damage != nil:
		notices = append(notices, l.damage.Error()+until)
	case l.cutOffLine > 0:
		add("line %d is cut off%s", l.cutOffLine, until)
	}
	switch n := l.unread.count; {
	case n == 1:
		add("line %d can't be read: %s", l.unread.first, brief(l.unread.cause))
	case n > 1:
		add("%d lines can't be read, the first is line %d: %s", n, l.unread.first, brief(l.unread.cause))
	}
	switch n := l.inPart.count; {
	case n == 1:
		add("line %d can be read only in part: %s", l.inPart.first, brief(l.inPart.cause))
	case n > 1:
		add("%d lines can be read only in part, the first is line %d: %s", n, l.inPart.first, brief(l.inPart.cause))
	}
	switch n := l.skippedChanges.count; {
	case n == 1:
		add("a change of an object is left out, in line %d, of %s: %s", l.skippedChanges.first, l.skippedChanges.what, brief(l.skippedChanges.cause))
	case n > 1:
		add("%d changes of objects are left out, the first in line %d, of %s: %s", n, l.skippedChanges.first, l.skippedChanges.what, brief(l.skippedChanges.cause))
	}
	switch n := l.skipped.count; {
	case n == 1:
		add("line %d is skipped: %s", l.skipped.first, brief(l.skipped.cause))
	case n > 1:
		add("%d lines are skipped, the first is line %d: %s", n, l.skipped.first, brief(l.skipped.cause))
	}
	switch n := l.repeated.count; {
	case n == 1:
		add("1 line is repeated, line %d: schedq counts it once", l.repeated.first)
	case n > 1:
		add("%d lines are repeated, the first is line %d: schedq counts them once", n, l.repeated.first)
	}
	switch n := l.replaced.count; {
	case n == 1:
		add("line %d holds bytes that are no UTF-8, which show as \uFFFD", l.replaced.first)
	case n > 1:
		add("%d lines hold bytes that are no UTF-8, which show as \uFFFD; the first is line %d", n, l.replaced.first)
	}
	switch n := l.nulls.count; {
	case n == 1:
		add("a NUL byte is left out, in line %d", l.nulls.first)
	case n > 1:
		add("%d NUL bytes are left out, the first in line %d", n, l.nulls.first)
	}
	return notices
}

// NoContentErr returns the error about a file of which nothing could be read: its first damage, or nil without damage.
func (r *Reader) NoContentErr() error {
	l := &r.losses
	first := &l.unread
	for _, other := range []*loss{&l.skippedChanges, &l.inPart, &l.skipped} {
		if other.count > 0 && (first.count == 0 || other.first < first.first) {
			first = other
		}
	}
	switch {
	case first.count > 0:
		return fmt.Errorf("%s:%d: %w", r.name, first.first, first.cause)
	case l.damage != nil:
		return l.damage
	case l.cutOffLine > 0:
		return fmt.Errorf("%s:%d: the line is cut off, and nothing is before it: %w", r.name, l.cutOffLine, io.ErrUnexpectedEOF)
	}
	return nil
}

// OnlyCut reports whether the file is undamaged except for being cut off.
func (r *Reader) OnlyCut() bool {
	l := &r.losses
	return l.unread.count == 0 && l.inPart.count == 0 && l.skippedChanges.count == 0 &&
		(l.damage == nil || l.trailing || errors.Is(l.damage, io.ErrUnexpectedEOF))
}

// maxCause limits the bytes of a cause in a notice.
const maxCause = 300

func brief(cause error) string {
	s := cause.Error()
	if len(s) <= maxCause {
		return s
	}
	cut := maxCause
	for s[cut]&0xc0 == 0x80 { // within a character
		cut--
	}
	return s[:cut] + "…"
}
