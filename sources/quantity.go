package sources

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Limits of a quantity's text. The cost of resource.ParseQuantity, and of arithmetic with its result, does not depend on
// the length of the text alone: 1e-99999999 takes minutes, as do 1e2147483648, whose exponent wraps around, and a million
// digits.
const (
	maxDigits         = 100 // in a row
	maxExponentDigits = 3
	// maxQuantity is beyond every real amount (an exbibyte in thousandths is 1e21). Arithmetic on
	// quantities like 1e99999999 never ends.
	maxQuantity = 1e30
)

// Errors about a quantity: "spec.overhead.cpu is ...".
var (
	errCostly = fmt.Errorf("a number out of range (a quantity has at most %d digits, and at most %d in its exponent)", maxDigits, maxExponentDigits)
	errHuge   = fmt.Errorf("a number out of range (a quantity is at most %g)", maxQuantity)
	errNone   = errors.New("not a quantity like 500m or 2Gi")
)

// ParseQuantity is resource.ParseQuantity for untrusted text. It refuses text that would take long to parse, and
// quantities beyond 1e30 in either direction. An error completes a sentence: "not a quantity like ...".
func ParseQuantity(text string) (resource.Quantity, error) {
	if len(costly([]byte(text))) > 0 {
		return resource.Quantity{}, errCostly
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return q, errNone
	}
	if huge(q) {
		return q, errHuge
	}
	return q, nil
}

// huge reports whether q is too large.
func huge(q resource.Quantity) bool {
	f := q.AsApproximateFloat64()
	return math.IsNaN(f) || math.Abs(f) > maxQuantity // NaN is 0 with an exponent that overflows
}

// Guard decodes raw, the JSON of API objects. It returns an error, without parsing, if raw contains a quantity that
// resource.ParseQuantity would take long to parse. Such text is harmless elsewhere, in a name or a label. Guard may call
// decode twice; the result of the first call must then be discarded. what is the subject of the error: "a Pod".
func Guard(raw []byte, what string, decode func(raw []byte) error) error {
	found := costly(raw)
	if len(found) == 0 {
		return decode(raw)
	}
	if decode(damaged(raw, found)) != nil {
		return fmt.Errorf("%s holds %w: %s", what, errCostly, Sanitize(quoted(raw[found[0].from:found[0].to])))
	}
	return decode(raw)
}

// damaged returns raw with each of the numbers damaged, so that quantities no longer parse. Other text stays valid.
func damaged(raw []byte, found []number) []byte {
	damaged := bytes.Clone(raw)
	for _, n := range found {
		damaged[n.at] = '!'
	}
	return damaged
}

// quoted returns the start of a number's text.
func quoted(number []byte) string {
	const most = 20
	if len(number) > most {
		return string(number[:most]) + "..."
	}
	return string(number)
}

// number is the position of a number that would be costly as a quantity: raw[from:to]. Without the byte raw[at] it is no
// longer a number.
type number struct{ from, at, to int }

// costly returns the numbers in raw with more than maxDigits digits in a row or an exponent of more than
// maxExponentDigits, except parts of longer words, such as a UID. It inspects few bytes, because such numbers are rare.
func costly(raw []byte) (found []number) {
	const step = maxExponentDigits + 1
	for i := step - 1; i < len(raw); i += step {
		if !isDigit(raw[i]) {
			continue
		}
		from, to := i, i+1 // the row of digits
		for from > 0 && isDigit(raw[from-1]) {
			from--
		}
		for to < len(raw) && isDigit(raw[to]) {
			to++
		}
		switch e := exponentBefore(raw, from); {
		case to-from > maxDigits:
			found = append(found, number{from, from, to})
		case to-from > maxExponentDigits && e >= 0:
			if begin := mantissaBefore(raw, e); isWholeWord(raw, begin, to) {
				found = append(found, number{begin, e, to})
			}
		}
		// The next step is the first beyond the row.
		i += (to - i) / step * step
	}
	return found
}

// exponentBefore returns the index of the e before the exponent at raw[from], or -1.
func exponentBefore(raw []byte, from int) int {
	e := from - 1
	if e > 0 && isSign(raw[e]) {
		e--
	}
	if e < 0 || raw[e]|0x20 != 'e' {
		return -1
	}
	return e
}

// mantissaBefore returns the start of the number with the exponent at raw[e].
func mantissaBefore(raw []byte, e int) int {
	from := e
	for from > 0 && (isDigit(raw[from-1]) || raw[from-1] == '.') {
		from--
	}
	if from > 0 && isSign(raw[from-1]) {
		from--
	}
	return from
}

// isWholeWord reports whether raw[from:to] is not a part of a longer word, such as a UID or a name. Escaped characters
// count as parts of a word: resource.ParseQuantity refuses them.
func isWholeWord(raw []byte, from, to int) bool {
	return (from == 0 || !isWord(raw[from-1])) && (to == len(raw) || !isWord(raw[to]))
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isSign(c byte) bool { return c == '-' || c == '+' }

// isWord reports whether c and an adjacent number are one word.
func isWord(c byte) bool {
	return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '.' || c == '-' || c == '+' || c == '_' || c == '/' || c == '\\'
}
