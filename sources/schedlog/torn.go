package schedlog

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/schedq/schedq/sources/lines"
)

// The log of a killed process may end in the middle of a line, and the next process's first line is then
// glued to it. So it is in concatenated files.

var (
	errLong   = fmt.Errorf("the line is longer than %d MiB", lines.MaxLine>>20)
	errGlued  = errors.New("another line is glued to it")
	errNoKlog = errors.New("it does not begin with klog's header")
	errLacks  = errors.New("it lacks values that kube-scheduler writes in such a line")
)

// maxHeader limits the bytes of a header: about 30, and a file's name.
const maxHeader = 150

// another returns the index in the rest of a line at which another line begins, or -1. It looks for the end of a header,
// ".go:414] ", because few lines contain one.
func another(rest []byte) int {
	for from := 0; ; {
		i := bytes.IndexByte(rest[from:], ']')
		if i < 0 {
			return -1
		}
		end := from + i
		from = end + 1
		number := end
		for number > 0 && digit(rest[number-1]) {
			number--
		}
		if number == end || !bytes.HasSuffix(rest[:number], []byte(".go:")) {
			continue
		}
		for at := number; at >= max(0, end-maxHeader); at-- {
			if h, ok := parseHeader(rest[at:]); ok && cap(h.rest) <= cap(rest)-end && !quotes(rest[:at], h.rest) {
				return at
			}
		}
	}
}

// quotes reports whether an apparent header is inside a quoted text, which continues with rest: klog escapes the quotes
// in it, and only a message's text follows the quote of a line's own message.
func quotes(before, rest []byte) bool {
	if !inQuotes(before, false) {
		return false
	}
	if len(rest) > 0 && rest[0] == '"' {
		return len(rest) == 1 || rest[1] == ' '
	}
	return len(rest) > 0 && rest[0] == '\\' || !inQuotes(rest, true)
}

// inQuotes reports whether text ends within quotes, given whether it begins within them.
func inQuotes(text []byte, in bool) bool {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			in = !in
		case text[i] == '\\' && in:
			i++
		}
	}
	return in
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// glued reads a line that has a header, and another line at i.
func (p *parser) glued(line []byte, i int) error {
	first, second := line[:i], line[i:]
	// If a text in it does not end, the line is torn, and its last word may be incomplete.
	if h, ok := parseHeader(first); ok && !inQuotes(h.rest, false) {
		if err := p.line(&h); err != nil {
			return err
		}
	}
	number := p.lines.Line()
	h, _ := parseHeader(second)
	if more := another(h.rest); more >= 0 {
		if err := p.glued(second, len(second)-len(h.rest)+more); err != nil {
			return err
		}
	} else if err := p.line(&h); err != nil {
		return err
	}
	return p.lines.ReadInPart(number, errGlued)
}

// headless reads a line without a header: part of a text of several lines, or not klog's.
func (p *parser) headless(line []byte) {
	if i := another(line); i >= 0 {
		p.held, p.heldAt = bytes.Clone(line[i:]), p.lines.Line()
		line = line[:i]
	}
	if p.ofPods == 0 {
		p.diagnosis.noteHeadless(line)
	}
	switch {
	case p.block != nil:
		p.block(line)
	case len(line) > 0 && !indented(line) && p.held == nil && !bytes.HasPrefix(line, []byte("Trace[")): // of a trace's steps (k8s.io/utils/trace)
		p.lines.Skip(errNoKlog)
	}
}

// indented reports whether a line can be part of a text of several lines, which klog indents.
func indented(line []byte) bool { return len(line) > 0 && (line[0] == '\t' || line[0] == ' ') }

// settle reads the held text if the line after it shows that it was a line. A text of several lines may contain
// something that looks like a line, but that text continues: its last line is klog's own.
func (p *parser) settle(next []byte) error {
	held := p.held
	p.held = nil
	if indented(next) {
		return nil
	}
	h, _ := parseHeader(held)
	var err error
	if more := another(h.rest); more >= 0 {
		err = p.glued(held, len(held)-len(h.rest)+more)
	} else {
		err = p.line(&h)
	}
	if err != nil {
		return err
	}
	return p.lines.ReadInPart(p.heldAt, errGlued)
}
