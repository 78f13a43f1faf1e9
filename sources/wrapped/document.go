package wrapped

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/schedq/schedq/sources/jsonscan"
)

// document reads JSON values out of a stream, one after the other. It checks no more than it has to in order to find where they end:
// whoever reads a log's line checks that. (encoding/json takes twenty times as long as the readers of plain logs do.)
type document struct {
	from io.Reader
	buf  []byte // buf[at:] was read, and not taken
	at   int
	held int   // buf[held:at] was taken and is kept; -1 for none
	err  error // what ended from
}

const firstRead = 1 << 18

// readMore reads as much again as is kept and waits to be taken, and reports whether there was any.
func (d *document) readMore() bool {
	from := d.at
	if d.held >= 0 {
		from, d.held = d.held, 0
	}
	d.buf, d.at = d.buf[:copy(d.buf, d.buf[from:])], d.at-from
	had := len(d.buf)
	if want := max(firstRead, 2*had); cap(d.buf) < want {
		d.buf = append(make([]byte, 0, want), d.buf...)
	}
	for d.err == nil && len(d.buf) < max(2*had, 1) {
		var n int
		n, d.err = d.from.Read(d.buf[len(d.buf):cap(d.buf)])
		d.buf = d.buf[:len(d.buf)+n]
	}
	return len(d.buf) > had
}

// peek returns the next byte that is no white space, which is not taken.
func (d *document) peek() (byte, error) {
	for {
		for ; d.at < len(d.buf); d.at++ {
			switch c := d.buf[d.at]; c {
			case ' ', '\t', '\r', '\n':
			default:
				return c, nil
			}
		}
		if !d.readMore() {
			return 0, d.ended()
		}
	}
}

// ended is the error where something should follow and nothing does.
func (d *document) ended() error {
	if d.err == io.EOF {
		return errCut
	}
	return d.err
}

var errCut = errors.New("what holds the log's lines is cut off")

func notJSON(is byte, should string) error {
	return fmt.Errorf("what holds the log's lines is not JSON: there is %q where %s should be", is, should)
}

// value returns the next value, which is good until the next call.
func (d *document) value() ([]byte, error) {
	c, err := d.peek()
	if err != nil {
		return nil, err
	}
	for {
		end := jsonscan.End(d.buf, d.at)
		if end >= 0 && (end < len(d.buf) || c == '{' || c == '[' || c == '"') || end >= 0 && d.err != nil {
			value := d.buf[d.at:end]
			d.at = end
			return value, nil
		}
		if end < 0 && c != '{' && c != '[' && c != '"' {
			return nil, notJSON(c, "a value")
		}
		if !d.readMore() {
			return nil, d.ended()
		}
	}
}

// skip takes the byte that peek returned.
func (d *document) skip() { d.at++ }

// separated takes the comma between two members or elements, or close at their end.
func (d *document) separated(close byte) (ended bool, err error) {
	c, err := d.peek()
	switch {
	case err != nil:
		return false, err
	case c == ',':
		d.skip()
		return false, nil
	case c == close:
		d.skip()
		return true, nil
	}
	return false, notJSON(c, fmt.Sprintf("a comma or %q", close))
}

// unwrapJSON reads records: one after another, or in lists, at any indentation. What is no JSON ends it with an error.
func unwrapJSON(from io.Reader, to *writer) error {
	d := &document{from: from, held: -1}
	for {
		c, err := d.peek()
		if err == errCut {
			return nil
		}
		if err != nil {
			return err
		}
		switch c {
		case '[':
			err = eachElement(d, to)
		case '{':
			err = object(d, to, true)
		default:
			if _, err = d.value(); err == nil {
				err = errors.New("there is a value where a record should be")
			}
		}
		if err != nil {
			return err
		}
	}
}

// eachElement reads the records of the list that begins here.
func eachElement(d *document, to *writer) error {
	d.skip()
	if c, err := d.peek(); err != nil || c == ']' {
		d.skip()
		return err
	}
	for {
		if err := element(d, to); err != nil {
			return err
		}
		if ended, err := d.separated(']'); ended || err != nil {
			return err
		}
	}
}

// element reads a record, or what is none.
func element(d *document, to *writer) error {
	c, err := d.peek()
	if err == nil && c == '{' {
		return object(d, to, false)
	}
	raw, err := d.value()
	if err == nil && c == '[' {
		err = insightsRow(raw, to)
	}
	return err
}

// span is where a member lies behind what is held: its name, and its value.
type span struct{ name, nameEnd, value, valueEnd int }

// object reads the object that begins here: a record or, with lists, a document with lists of records, which may be as long as the file.
func object(d *document, to *writer, lists bool) error {
	defer func() { d.held = -1 }()
	d.skip()
	d.held = d.at
	to.spans = to.spans[:0]
	var before members // of a document, in front of its last list
	if c, err := d.peek(); err != nil || c == '}' {
		d.skip()
		return err
	}
	for {
		s, err := d.name()
		if err != nil {
			return err
		}
		if c, err := d.peek(); err != nil {
			return err
		} else if c == '[' && lists && isList(string(d.buf[d.held+s.name:d.held+s.nameEnd])) {
			for _, m := range d.members(nil, to.spans) {
				before = append(before, member{bytes.Clone(m.name), bytes.Clone(m.value)})
			}
			d.held = -1
			if err := eachElement(d, to); err != nil {
				return err
			}
			d.held, to.spans = d.at, to.spans[:0]
		} else if value, err := d.value(); err != nil {
			return err
		} else if len(to.spans) < mostMembers {
			s.value, s.valueEnd = d.at-len(value)-d.held, d.at-d.held
			to.spans = append(to.spans, s)
		}
		if ended, err := d.separated('}'); err != nil {
			return err
		} else if ended {
			to.members = d.members(append(to.members[:0], before...), to.spans)
			return lineOf(to.members, to)
		}
	}
}

// name takes a member's name and the colon behind it.
func (d *document) name() (span, error) {
	c, err := d.peek()
	if err == nil && c != '"' {
		err = notJSON(c, "a name")
	}
	if err != nil {
		return span{}, err
	}
	name, err := d.value()
	if err != nil {
		return span{}, err
	}
	s := span{name: d.at - len(name) + 1 - d.held, nameEnd: d.at - 1 - d.held}
	if c, err = d.peek(); err == nil && c != ':' {
		err = notJSON(c, "a colon")
	}
	d.skip()
	return s, err
}

// members appends those that lie at spans.
func (d *document) members(to members, spans []span) members {
	for _, s := range spans {
		at := d.buf[d.held:]
		to = append(to, member{at[s.name:s.nameEnd], at[s.value:s.valueEnd]})
	}
	return to
}
