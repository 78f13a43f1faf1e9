package wrapped

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/schedq/schedq/sources/jsonscan"
)

// document reads JSON values from a stream. It only finds their ends; the readers of the logs check the rest.
// (encoding/json takes twenty times as long as reading a plain log.)
type document struct {
	from io.Reader
	buf  []byte // buf[at:] is unread
	at   int
	err  error // what ended from
}

const firstRead = 1 << 18

// readMore doubles the unread text, and reports whether there was more.
func (d *document) readMore() bool {
	d.buf, d.at = d.buf[:copy(d.buf, d.buf[d.at:])], 0
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

// peek returns the next byte that is not white space, without consuming it.
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

// ended returns the error about a missing continuation.
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

// value returns the next value, which is valid until the next call. If it is a list or an object of more than most bytes,
// or a truncated one, value returns nothing and leaves it unread.
func (d *document) value(most int) ([]byte, error) {
	c, err := d.peek()
	if err != nil {
		return nil, err
	}
	nested := c == '{' || c == '['
	for {
		end := jsonscan.End(d.buf, d.at)
		if end >= 0 && (end < len(d.buf) || nested || c == '"') || end >= 0 && d.err != nil {
			value := d.buf[d.at:end]
			d.at = end
			return value, nil
		}
		switch {
		case end < 0 && !nested && c != '"':
			return nil, notJSON(c, "a value")
		case nested && len(d.buf)-d.at > most:
			return nil, nil
		case len(d.buf)-d.at > maxLine:
			return nil, errLong
		}
		if !d.readMore() {
			if nested && d.err == io.EOF {
				return nil, nil
			}
			return nil, d.ended()
		}
	}
}

var errLong = fmt.Errorf("a value in it is longer than %d MiB", maxLine>>20)

// skip consumes the byte that peek returned.
func (d *document) skip() { d.at++ }

// separated consumes the comma between two members or elements, or close at their end.
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

// inMemory limits the bytes of a document or a list that are read at once. A larger one is read element by element. A
// record is an element, and is read at once unless it exceeds the limit of a line.
const inMemory = 256 << 10

// readJSON reads values one after another: records, or documents with lists of records at any depth.
func (w *writer) readJSON(from io.Reader) error {
	d := &document{from: from}
	for {
		c, err := d.peek()
		if err == errCut {
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case c == '{' || c == '[':
		case w.wrapped+w.plain == 0:
			return notJSON(c, "a record")
		default: // the next document of a concatenated file
			return w.readText(io.MultiReader(bytes.NewReader(d.buf[d.at:]), from))
		}
		most := inMemory
		begin := d.buf[d.at:min(len(d.buf), d.at+4096)]
		if i := bytes.Index(begin, []byte(`"audit.k8s.io/`)); i > 0 && begin[i-1] != '\\' && !bytes.Contains(begin, []byte(`List"`)) {
			most = maxLine // it is an event
		}
		if err := w.next(context{inner: c == '['}, d, most); err != nil {
			return err
		}
	}
}

// next reads the next value of a document, at once if it has at most that many bytes.
func (w *writer) next(c context, d *document, most int) error {
	w.record++
	open, err := d.peek()
	switch {
	case err != nil:
		return err
	case open == '[':
		most = inMemory
	case open == '{' && most == maxLine && c.depth < maxDepth:
		inner := c
		inner.depth++
		if m, raw := w.nextRecord(d, inner.depth); raw != nil {
			_, err := w.members(inner, m, raw)
			return err
		}
	}
	raw, err := d.value(most)
	if err != nil {
		return err
	}
	if raw != nil {
		_, err := w.value(c, raw)
		return err
	}
	if c.depth++; c.depth > maxDepth {
		return errDeep
	}
	if open, _ := d.peek(); open == '[' {
		return w.nextList(c, d)
	}
	return w.nextObject(c, d)
}

// nextRecord returns the members of the next object, and its text. If the object is truncated or very large, it returns
// none and leaves the object unread.
func (w *writer) nextRecord(d *document, depth int) (m members, raw []byte) {
	for {
		text := d.buf[d.at:]
		m, rest, whole := w.scanFirst(text, depth)
		if whole {
			raw = text[:len(text)-len(rest)]
			d.at += len(raw)
			return m, raw
		}
		if len(m) == mostMembers || len(text) > maxLine || !d.readMore() {
			return nil, nil
		}
	}
}

var errDeep = fmt.Errorf("what holds the log's lines is nested more than %d times", maxDepth)

// nextList reads a list of a document.
func (w *writer) nextList(c context, d *document) error {
	d.skip()
	c.inner = true
	if next, err := d.peek(); err != nil || next == ']' {
		d.skip()
		return err
	}
	for {
		if err := w.next(c, d, maxLine); err != nil {
			return err
		}
		if ended, err := d.separated(']'); ended || err != nil {
			return err
		}
	}
}

// nextObject reads an object of a document that is too large to be a record. Its small members are the context of the
// lists and objects after them.
func (w *writer) nextObject(c context, d *document) error {
	d.skip()
	c.inner = true
	var small members
	size := 0
	if next, err := d.peek(); err != nil || next == '}' {
		d.skip()
		return err
	}
	for {
		name, err := d.name()
		if err != nil {
			return err
		}
		own := c
		own.member = string(name)
		next, err := d.peek()
		if err != nil {
			return err
		}
		if bytes.HasPrefix(small.get("apiVersion"), []byte(`"audit.k8s.io/`)) && string(name) != "items" {
			own.depth = maxDepth // a truncated event: its texts are not lines
		}
		if next == '{' || next == '[' {
			if own.stream = w.streamIn(small, c.depth+1); len(own.stream) == 0 {
				own.stream = c.stream
			} else {
				own.stream = bytes.Clone(own.stream)
			}
		}
		if next == '[' || next == '{' {
			err = w.next(own, d, inMemory)
		} else if raw, e := d.value(inMemory); e != nil {
			err = e
		} else {
			if size += len(raw); len(small) < mostMembers && size < inMemory {
				small = append(small, member{name, bytes.Clone(raw)})
			}
			_, err = w.value(own, raw)
		}
		if err != nil {
			return err
		}
		if ended, err := d.separated('}'); ended || err != nil {
			return err
		}
	}
}

// name returns a member's name and skips the colon after it.
func (d *document) name() ([]byte, error) {
	c, err := d.peek()
	if err == nil && c != '"' {
		err = notJSON(c, "a name")
	}
	if err != nil {
		return nil, err
	}
	name, err := d.value(inMemory)
	if err != nil {
		return nil, err
	}
	name = bytes.Clone(jsonscan.Text(name))
	if c, err = d.peek(); err == nil && c != ':' {
		err = notJSON(c, "a colon")
	}
	d.skip()
	return name, err
}
