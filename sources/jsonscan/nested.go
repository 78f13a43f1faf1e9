package jsonscan

import (
	"encoding/binary"
	"math/bits"
)

// nesting is how far the end of an object or a list was looked for.
type nesting struct {
	depth   int    // of what is not closed yet
	within  uint64 // ones if what comes next is within a string, else 0
	escaped uint64 // a mark at the first byte if a backslash is before what comes next
}

// nestedEnd is End for the object or the list that begins at raw[i]. It looks at eight bytes at a time: which of them are within
// strings follows from how many quotes are before each, so no string and no bracket costs a branch that can't be foreseen.
func nestedEnd(raw []byte, i int) int {
	var n nesting
	for ; i < len(raw); i += 8 {
		var word uint64
		if len(raw)-i >= 8 {
			word = binary.LittleEndian.Uint64(raw[i:])
		} else {
			var last [8]byte // what is not the text's is neither a quote nor a bracket
			copy(last[:], raw[i:])
			word = binary.LittleEndian.Uint64(last[:])
		}
		slashes := allMarks(word, '\\')
		escapes := slashes<<8 | n.escaped
		quotes := allMarks(word, '"') &^ escapes
		// Each byte of the product is the number of quotes up to there.
		parities := (quotes >> 7 * ones) & ones
		within := (parities ^ n.within) << 7
		if slashes != 0 && slashes&(escapes|^within) != 0 {
			var end int
			if n, end = n.bytewise(word); end > 0 {
				return i + end
			}
			continue
		}
		n.escaped = slashes >> 56
		n.within ^= -(parities >> 56) & ones
		const small = 0x20 * ones // makes [ of { and ] of }
		opened, closed := allMarks(word|small, '{')&^within, allMarks(word|small, '}')&^within
		if falls := bits.OnesCount64(closed); falls < n.depth {
			n.depth += bits.OnesCount64(opened) - falls
			continue
		}
		var end int
		if n.depth, end = brackets(n.depth, opened, closed); end > 0 {
			return i + end
		}
	}
	return -1
}

// brackets takes in brackets that are marked in a word, and returns how deep they lead, or the index after the one that ends the
// value.
func brackets(depth int, opened, closed uint64) (deeper, end int) {
	for both := opened | closed; both != 0; both &= both - 1 {
		if closed&both&-both == 0 {
			depth++
		} else if depth--; depth == 0 {
			return 0, firstIn(both) + 1
		}
	}
	return depth, 0
}

// bytewise takes in a word in which backslashes follow each other, or are outside of strings, where they are nothing. It returns how
// far it is then, and the index after the byte that ends the value, or 0.
func (n nesting) bytewise(word uint64) (next nesting, end int) {
	for at := 1; at <= 8; at, word = at+1, word>>8 {
		c := byte(word)
		switch {
		case n.escaped != 0:
			n.escaped = 0
		case c == '"':
			n.within ^= ones
		case n.within != 0:
			if c == '\\' {
				n.escaped = 0x80
			}
		case c == '{' || c == '[':
			n.depth++
		case c == '}' || c == ']':
			if n.depth--; n.depth == 0 {
				return n, at
			}
		}
	}
	return n, 0
}

// allMarks sets the top bit of the bytes of a word that are c, and no other bit.
func allMarks(word uint64, c byte) uint64 {
	word ^= uint64(c) * ones
	return ^(word&^tops + ^uint64(tops) | word) & tops
}
