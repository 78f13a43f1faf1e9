package sources

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Bounds of a quantity's text. What resource.ParseQuantity, and arithmetic with what it returns, costs is
// not in the text's length: 1e-99999999 takes it minutes, and the same is true of 1e2147483648, whose
// exponent wraps around, and of a million digits.
const (
	maxDigits         = 100 // in a row
	maxExponentDigits = 3
	// maxQuantity is beyond every real amount (an exbibyte in thousandths is 1e21). Arithmetic on
	// quantities like 1e99999999 never ends.
	maxQuantity = 1e30
)

// What is wrong with a quantity: "spec.overhead.cpu is ...".
var (
	errCostly = fmt.Errorf("a number out of range (a quantity has at most %d digits, and at most %d in its exponent)", maxDigits, maxExponentDigits)
	errHuge   = fmt.Errorf("a number out of range (a quantity is at most %g)", maxQuantity)
	errNone   = errors.New("not a quantity like 500m or 2Gi")
)

// ParseQuantity is resource.ParseQuantity for a text that nobody vouches for. It refuses what would take it
// long, and what is larger than 1e30 either way. An error says what the text is: "not a quantity like ...".
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

// huge reports whether q is out of all proportion.
func huge(q resource.Quantity) bool {
	f := q.AsApproximateFloat64()
	return math.IsNaN(f) || math.Abs(f) > maxQuantity // NaN is 0 with an exponent that overflows
}

// Guard decodes raw, the JSON of API objects, unless a quantity in it is of a text that
// resource.ParseQuantity would take long over: parsing is what must not happen, so that is an error. Such a
// text in any other place, a name or a label, is no harm. Decode may be called twice, and whatever it is
// called with first is to be forgotten then. What begins the sentence of the error: "a Pod".
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

// damaged returns raw with each of the numbers damaged: what is a quantity there is none any more, and anything
// else hardly cares.
func damaged(raw []byte, found []number) []byte {
	damaged := bytes.Clone(raw)
	for _, n := range found {
		damaged[n.at] = '!'
	}
	return damaged
}

// quoted is the beginning of a number's text.
func quoted(number []byte) string {
	const most = 20
	if len(number) > most {
		return string(number[:most]) + "..."
	}
	return string(number)
}

// number is where in a text one stands that would be costly as a quantity: raw[from:to], of which raw[at] is
// a byte without which it is none.
type number struct{ from, at, to int }

// costly returns the numbers in raw with more than maxDigits digits in a row or an exponent of more than
// maxExponentDigits. Those that are a part of a longer word, as of a uid, are not meant. It looks at few bytes
// only, because nearly no text has such a number.
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

// exponentBefore returns the index of the e that makes the digits from raw[from] on an exponent, or -1.
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

// mantissaBefore returns where the number begins whose exponent is that at raw[e].
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

// isWholeWord reports whether raw[from:to] stands for itself, and is no part of a uid or of a name. Escaped
// characters make a part of one, too: resource.ParseQuantity is given them as they are, and refuses them.
func isWholeWord(raw []byte, from, to int) bool {
	return (from == 0 || !isWord(raw[from-1])) && (to == len(raw) || !isWord(raw[to]))
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isSign(c byte) bool { return c == '-' || c == '+' }

// isWord reports whether c makes one word with a number beside it.
func isWord(c byte) bool {
	return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '.' || c == '-' || c == '+' || c == '_' || c == '/' || c == '\\'
}
