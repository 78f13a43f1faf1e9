// Package jsonscan finds the parts of JSON text without decoding them, which is several times faster than decoding if
// only a few parts matter. It checks only what it needs to find the ends of values: decoding a value checks the rest.
// There is no recursion, so nesting costs nothing.
package jsonscan

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
)

// ErrNotJSON is the error for text that no JSON encoder writes.
var ErrNotJSON = errors.New("the line is not a JSON object")

// Members calls visit with the name and the value of each member of the JSON object raw, until visit
// returns false. Names are not unescaped. Both are parts of raw. Text after the object is ignored.
// The error is ErrNotJSON.
func Members(raw []byte, visit func(name, value []byte) bool) error {
	_, _, err := First(raw, visit)
	return err
}

// First is Members for an object that may be followed by more text. It returns the text after the object, and true for
// whole; or if visit returned false, the text after that member.
func First(raw []byte, visit func(name, value []byte) bool) (rest []byte, whole bool, err error) {
	return FirstBy(raw, func(_ []byte, i int) int { return End(raw, i) }, visit)
}

// FirstBy is First with a function that scans the values: step returns the index after the value that begins at raw[i],
// or -1, as End does.
func FirstBy(raw []byte, step func(name []byte, i int) int, visit func(name, value []byte) bool) (rest []byte, whole bool, err error) {
	stopped := -1
	end := Object(raw, space(raw, 0), func(name []byte, i int) int {
		end := step(name, i)
		if end >= 0 && !visit(name, raw[i:end]) {
			stopped = end
			return -1
		}
		return end
	})
	switch {
	case stopped >= 0:
		return raw[stopped:], false, nil
	case end < 0:
		return nil, false, ErrNotJSON
	}
	return raw[end:], true, nil
}

// Object calls step with the name of each member of the object that begins at raw[i], and with the index of its value. step returns the
// index after the value, as End does; -1 ends it. Object returns the index after the object, or -1 if none begins there or it was ended.
func Object(raw []byte, i int, step func(name []byte, i int) int) (end int) {
	if i >= len(raw) || raw[i] != '{' {
		return -1
	}
	i = space(raw, i+1)
	for i < len(raw) && raw[i] != '}' {
		if raw[i] != '"' {
			return -1
		}
		end := stringEnd(raw, i)
		if end < 0 {
			return -1
		}
		name := raw[i+1 : end-1]
		i = space(raw, end)
		if i >= len(raw) || raw[i] != ':' {
			return -1
		}
		if i = step(name, space(raw, i+1)); i < 0 {
			return -1
		}
		i = space(raw, i)
		if i < len(raw) && raw[i] == ',' {
			i = space(raw, i+1)
		} else if i >= len(raw) || raw[i] != '}' {
			return -1
		}
	}
	if i >= len(raw) {
		return -1
	}
	return i + 1
}

// Elements calls visit with each element of the JSON array raw until it returns an error. The error is
// that one or ErrNotJSON.
func Elements(raw []byte, visit func(value []byte) error) error {
	i := space(raw, 0)
	if i >= len(raw) || raw[i] != '[' {
		return ErrNotJSON
	}
	i = space(raw, i+1)
	for i < len(raw) && raw[i] != ']' {
		end := End(raw, i)
		if end < 0 {
			return ErrNotJSON
		}
		if err := visit(raw[i:end]); err != nil {
			return err
		}
		i = space(raw, end)
		if i < len(raw) && raw[i] == ',' {
			i = space(raw, i+1)
		} else if i >= len(raw) || raw[i] != ']' {
			return ErrNotJSON
		}
	}
	if i >= len(raw) {
		return ErrNotJSON
	}
	return nil
}

func space(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\n' || raw[i] == '\r') {
		i++
	}
	return i
}

// stringEnd returns the index after the string that begins at i, or -1.
func stringEnd(raw []byte, i int) int {
	from := i + 1
	// Most are short: where a quote is in eight bytes is found faster than bytes.IndexByte is called.
	for range 2 {
		if len(raw)-from < 8 {
			break
		}
		n := firstIn(marks(binary.LittleEndian.Uint64(raw[from:]), '"'))
		if n < 8 {
			if raw[from+n-1] != '\\' {
				return from + n + 1
			}
			break
		}
		from += 8
	}
	n := bytes.IndexByte(raw[from:], '"')
	if n < 0 {
		return -1
	}
	end := from + n
	backslashes := 0
	for raw[end-1-backslashes] == '\\' { // ends at the opening quote at the latest
		backslashes++
	}
	if backslashes%2 == 0 {
		return end + 1
	}
	return escapedEnd(raw, end+1)
}

// escapedEnd is stringEnd for the rest of a string with an escaped quote: most of these are JSON or log lines, with a
// quote every few bytes.
func escapedEnd(raw []byte, i int) int {
	for i < len(raw) {
		if len(raw)-i >= 8 {
			word := binary.LittleEndian.Uint64(raw[i:])
			n := firstIn(marks(word, '"') | marks(word, '\\'))
			if i += n; n == 8 {
				continue
			}
		}
		switch raw[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
		i++
	}
	return -1
}

// marks sets the top bit of the bytes of a word that are c. Above the lowest of them, others may have it, too.
func marks(word uint64, c byte) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	word ^= uint64(c) * ones // c is 0 now, and the lowest byte from which a 1 can't be taken
	return (word - ones) &^ word & tops
}

// firstIn returns which of the eight bytes of a word, the lowest first, is the first one marked, or 8.
func firstIn(marks uint64) int { return bits.TrailingZeros64(marks) / 8 }

// End returns the index after the value that begins at raw[i], or -1.
func End(raw []byte, i int) int {
	if i >= len(raw) {
		return -1
	}
	switch raw[i] {
	case '"':
		return stringEnd(raw, i)
	case '{', '[':
		depth := 0
		for i < len(raw) {
			switch raw[i] {
			case '"':
				if i = stringEnd(raw, i); i < 0 {
					return -1
				}
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return -1
	}
	from := i
	for i < len(raw) && isScalar(raw[i]) {
		i++
	}
	if i == from {
		return -1
	}
	return i
}

// isScalar reports whether c can be in a number, true, false or null.
func isScalar(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == '-' || c == '.' || c == '+' || c == 'E'
}
