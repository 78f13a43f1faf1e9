package lines

import (
	"bytes"
	"io"
)

// diversion is where lines go that are not for who calls Next.
type diversion struct {
	is     func(line []byte) bool
	to     io.Writer
	passed int // lines that were written, blank ones included
}

// Divert has Next not return the lines of which is says so, but write them to a file of their own, in which each has the
// number that it has here: the lines between are blank. Once writing fails they are lost. It must be called before Next.
func (r *Reader) Divert(is func(line []byte) bool, to io.Writer) {
	r.diverted = &diversion{is: is, to: to}
}

// diverts reports whether the line that was read last is not for who calls Next.
func (r *Reader) diverts(line []byte) bool {
	d := r.diverted
	if d == nil || !d.is(line) {
		return false
	}
	text := append(bytes.Repeat([]byte("\n"), max(r.line-1-d.passed, 0)), line...)
	if !r.cut {
		text = append(text, '\n')
	}
	d.passed = max(r.line, d.passed+1)
	if _, err := d.to.Write(text); err != nil {
		d.to = io.Discard
	}
	return true
}
