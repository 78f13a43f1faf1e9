package apijson

import (
	"bytes"
	"encoding/json"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/sources/jsonscan"
)

// Bounds of what a Decoder remembers, and of what it takes for a pod's. Texts of up to maxWord bytes come again and
// again: kinds of conditions, labels, quantities.
const (
	maxWords   = 1 << 14
	maxWord    = 64
	maxAmounts = 1 << 12
	maxList    = 4096
	// maxSkipped limits the size of a skipped value. Larger ones are left to encoding/json, which validates them.
	maxSkipped = 64 << 10
)

// Decoder decodes the parts of pods and nodes. It is not safe for concurrent use.
type Decoder struct {
	words   map[string]string
	amounts map[string]resource.Quantity
	// any decodes rare values, and fails for values that must not be decoded.
	any func(raw []byte, into any) error

	raw     []byte
	at      int
	unusual bool
}

// New returns a Decoder that leaves rare members to decode.
func New(decode func(raw []byte, into any) error) *Decoder {
	return &Decoder{words: map[string]string{}, amounts: map[string]resource.Quantity{}, any: decode}
}

// run decodes raw with read. It reports whether all of it was as expected.
func (d *Decoder) run(raw []byte, read func()) bool {
	d.raw, d.at, d.unusual = raw, 0, false
	read()
	ok := !d.unusual && d.at == len(raw)
	d.raw = nil
	return ok
}

// stop gives up.
func (d *Decoder) stop() { d.unusual, d.at = true, len(d.raw) }

// next returns the next byte, or 0 at the end.
func (d *Decoder) next() byte {
	if d.at < len(d.raw) {
		return d.raw[d.at]
	}
	return 0
}

// is skips c and returns true if it is next.
func (d *Decoder) is(c byte) bool {
	if d.next() == c {
		d.at++
		return true
	}
	return false
}

// null skips null and returns true if it is next.
func (d *Decoder) null() bool {
	if bytes.HasPrefix(d.raw[d.at:], []byte("null")) {
		d.at += len("null")
		return true
	}
	return false
}

// value skips a value and returns it.
func (d *Decoder) value() []byte {
	end := jsonscan.End(d.raw, d.at)
	if end < 0 || end-d.at > maxSkipped {
		d.stop()
		return nil
	}
	from := d.at
	d.at = end
	return d.raw[from:end]
}

// stepOver steps over a value whose end is known, or over the one that comes next if that is another. Both are of one text, so their
// capacities tell.
func (d *Decoder) stepOver(value []byte) {
	if cap(d.raw)-cap(value) != d.at || len(value) > maxSkipped {
		d.value()
		return
	}
	d.at += len(value)
}

// members has member read each member's value of an object; null is an object without any. It returns whether there
// was an object.
func (d *Decoder) members(member func(name []byte)) bool {
	if d.null() {
		return false
	}
	if !d.is('{') {
		d.stop()
		return false
	}
	if d.is('}') {
		return true
	}
	for !d.unusual {
		name := d.plain()
		if !d.is(':') {
			d.stop()
			break
		}
		member(name)
		if d.is('}') {
			break
		}
		if !d.is(',') {
			d.stop()
		}
	}
	return true
}

// elements has element read each element of a list; null is a list without any. It returns whether there was a list.
func (d *Decoder) elements(element func()) bool {
	if d.null() {
		return false
	}
	if !d.is('[') {
		d.stop()
		return false
	}
	if d.is(']') {
		return true
	}
	for n := 1; !d.unusual; n++ {
		element()
		if d.is(']') {
			break
		}
		if !d.is(',') || n == maxList {
			d.stop()
		}
	}
	return true
}

// plain reads a string of printable ASCII without escapes, and returns it without its quotes.
func (d *Decoder) plain() []byte {
	if !d.is('"') {
		d.stop()
		return nil
	}
	from := d.at
	n := bytes.IndexByte(d.raw[from:], '"')
	if n < 0 {
		d.stop()
		return nil
	}
	text := d.raw[from : from+n]
	for _, c := range text {
		if c < 0x20 || c > 0x7e || c == '\\' {
			d.stop()
			return nil
		}
	}
	d.at = from + n + 1
	return text
}

// word reads a string, or null for "".
func word[T ~string](d *Decoder) T {
	if d.null() {
		return ""
	}
	return T(d.Word(d.plain()))
}

// Word returns text, the same one each time if it is short: it is kept once then.
func (d *Decoder) Word(text []byte) string {
	if len(text) > maxWord {
		return string(text)
	}
	if known, ok := d.words[string(text)]; ok {
		return known
	}
	if len(d.words) == maxWords {
		clear(d.words)
	}
	known := string(text)
	d.words[known] = known
	return known
}

// wordPointer reads a string, or null for nil.
func wordPointer[T ~string](d *Decoder) *T {
	if d.null() {
		return nil
	}
	s := word[T](d)
	return &s
}

// text reads a string that is rarely repeated and may contain any characters.
func (d *Decoder) text() (s string) {
	from := d.at
	if d.next() != '"' {
		return word[string](d)
	}
	if text := d.plain(); !d.unusual {
		return string(text)
	}
	d.unusual, d.at = false, from
	if raw := d.value(); raw != nil && json.Unmarshal(raw, &s) != nil {
		d.stop()
	}
	return s
}

// number reads a whole number, or null for 0.
func (d *Decoder) number() (n int64) {
	if d.null() {
		return 0
	}
	negative := d.is('-')
	from := d.at
	for c := d.next(); c >= '0' && c <= '9' && d.at-from < 18; c = d.next() {
		n = n*10 + int64(c-'0')
		d.at++
	}
	switch c := d.next(); {
	case d.at == from, d.raw[from] == '0' && d.at-from > 1, c != ',' && c != '}':
		d.stop()
	case negative:
		return -n
	}
	return n
}

func (d *Decoder) number32() int32 {
	n := d.number()
	if int64(int32(n)) != n {
		d.stop()
	}
	return int32(n)
}

// pointer reads what read reads, or null for nil.
func pointer[T any](d *Decoder, read func() T) *T {
	if d.null() {
		return nil
	}
	v := read()
	return &v
}

// yes reads true or false, or null for false.
func (d *Decoder) yes() bool {
	switch rest := d.raw[d.at:]; {
	case bytes.HasPrefix(rest, []byte("true")):
		d.at += len("true")
		return true
	case bytes.HasPrefix(rest, []byte("false")):
		d.at += len("false")
	case !d.null():
		d.stop()
	}
	return false
}

// time reads a time, as metav1.Time does.
func (d *Decoder) time() (t metav1.Time) {
	if d.null() {
		return t
	}
	at, err := time.Parse(time.RFC3339, string(d.plain()))
	if err != nil {
		d.stop()
	}
	return metav1.Time{Time: at.Local()}
}

// quantity reads a quantity of few characters.
func (d *Decoder) quantity() resource.Quantity {
	text := d.plain()
	if q, ok := d.amounts[string(text)]; ok {
		return q.DeepCopy() // one beyond 64 bits holds a pointer
	}
	if len(text) == 0 || len(text) > 16 || text[0] < '0' || text[0] > '9' || bytes.ContainsAny(text, "eE ") {
		d.stop()
		return resource.Quantity{}
	}
	q, err := resource.ParseQuantity(string(text))
	if err != nil {
		d.stop()
		return q
	}
	if len(d.amounts) == maxAmounts {
		clear(d.amounts)
	}
	d.amounts[string(text)] = q.DeepCopy()
	return q
}

// rare leaves a value to encoding/json.
func (d *Decoder) rare(into any) {
	if raw := d.value(); raw != nil && d.any(raw, into) != nil {
		d.stop()
	}
}
