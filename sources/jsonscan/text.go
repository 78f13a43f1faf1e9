package jsonscan

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Text returns what is between the quotes of the JSON string raw, or nil if raw is no string. Escapes are
// left as they are.
func Text(raw []byte) []byte {
	if len(raw) < 2 || raw[0] != '"' {
		return nil
	}
	return raw[1 : len(raw)-1]
}

// LastText returns the text that follows the last key in raw, up to a quote, or nil if there is none. The key is a member's name and how
// its value begins, `"name":"`. Its letter at the index rare should be rare in raw: it is looked for from raw's end on, which is much
// faster than bytes.LastIndex.
func LastText(raw []byte, key string, rare int) []byte {
	for tail := 512; ; tail *= 8 {
		end := raw[max(0, len(raw)-tail):]
		at := -1 // where the text begins
		for i := rare; i < len(end); i++ {
			n := bytes.IndexByte(end[i:], key[rare])
			if n < 0 {
				break
			}
			i += n
			if begin := end[i-rare:]; len(begin) >= len(key) && string(begin[:len(key)]) == key {
				at = i - rare + len(key)
			}
		}
		if at >= 0 {
			text, _, ended := bytes.Cut(end[at:], []byte(`"`))
			if !ended {
				return nil
			}
			return text
		}
		if len(end) == len(raw) {
			return nil
		}
	}
}

// Unescape appends what the JSON string raw says to out, nothing if raw is no string.
func Unescape(out, raw []byte) []byte {
	in, began := Text(raw), len(out)
	out = slices.Grow(out, len(in)+8)
	to := out[:cap(out)] // a word is written whole, whatever of it is the text's
	n := began
	for i := 0; i < len(in); {
		if len(in)-i >= 8 {
			word := binary.LittleEndian.Uint64(in[i:])
			binary.LittleEndian.PutUint64(to[n:], word)
			plain := firstIn(marks(word, '\\'))
			n, i = n+plain, i+plain
			if plain == 8 {
				continue
			}
		}
		c := in[i]
		i++
		if c == '\\' && i < len(in) {
			switch c = in[i]; c {
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			case 'r':
				c = '\r'
			case 'b':
				c = '\b'
			case 'f':
				c = '\f'
			case 'u':
				r, err := strconv.ParseUint(string(in[i+1:min(len(in), i+5)]), 16, 16)
				if err != nil || len(in) < i+5 || !utf8.ValidRune(rune(r)) { // a half of a pair, or a mistake
					var s string
					_ = json.Unmarshal(raw, &s)
					return append(out[:began], s...)
				}
				n += utf8.EncodeRune(to[n:], rune(r)) // which takes no more room than the escape
				i += 5
				continue
			}
			i++
		}
		to[n] = c
		n++
	}
	return to[:n]
}
