package jsonscan

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// plainEnd is nestedEnd, byte by byte.
func plainEnd(raw []byte) int {
	depth, within := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case within && c == '\\':
			i++
		case c == '"':
			within = !within
		case within:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// TestNestedEnd: eight bytes at a time, a value ends where it ends byte by byte, wherever it begins and whatever it holds.
func TestNestedEnd(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, letters := range []string{`{}[]"\a`, `{}[]"\\\a`, `{}"":,abcdefgh`, "{}[]\"\\[\x5a\x5c\x5e\x00\x7f\x80\xdb\xdd\xfb\xfd\xa2\xdc", `{}abcdefghijklmnopqrst"`} {
		ends := 0
		for range 200_000 {
			raw := []byte(strings.Repeat("x", random.IntN(9)))
			from := len(raw)
			raw = append(raw, "{["[random.IntN(2)])
			for range random.IntN(40) {
				raw = append(raw, letters[random.IntN(len(letters))])
			}
			want := plainEnd(raw[from:])
			if want > 0 {
				want += from
				ends++
			}
			if got := End(raw, from); got != want {
				t.Fatalf("%q ends at %d, want %d", raw[from:], got, want)
			}
		}
		if ends < 10_000 {
			t.Errorf("of %q %d texts end", letters, ends)
		}
	}
}

// FuzzNestedEnd compares what is found eight bytes at a time with what is byte by byte.
func FuzzNestedEnd(f *testing.F) {
	f.Add(`"a\\":"\"]",\"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		for from := range 8 {
			raw := []byte(strings.Repeat(" ", from) + "{" + text)
			want := plainEnd(raw[from:])
			if want > 0 {
				want += from
			}
			if got := End(raw, from); got != want {
				t.Fatalf("%q ends at %d, want %d", raw[from:], got, want)
			}
		}
	})
}
