package sources

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestSanitize is the corpus of what gets through a terminal renderer.
func TestSanitize(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "0/3 nodes are available: 3 Insufficient cpu.", "0/3 nodes are available: 3 Insufficient cpu."},
		{"letters", "Knoten für Übung, 節點", "Knoten für Übung, 節點"},
		{"sgr", "\x1b[31mred\x1b[0m", "␛[31mred␛[0m"},
		{"unterminated osc", "\x1b]0;title", "␛]0;title"},
		{"osc 8", "\x1b]8;;http://x\x07y\x1b]8;;\x07", "␛]8;;http://x␇y␛]8;;␇"},
		{"osc 52", "\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"},
		{"c1 as utf-8", "a\u009b31mb", "a<U+009B>31mb"},
		{"c1 as a byte", "a\x9b31mb", "a\uFFFD31mb"},
		{"invalid", "a\xff\xfe", "a\uFFFD\uFFFD"},
		{"lines", "a\r\nb\tc", "a␍␊b␉c"},
		{"delete and nul", "\x7f\x00", "␡␀"},
		{"right to left", "a\u202Eb", "a<U+202E>b"},
		{"zero width", "a\u200Bb\u2060\uFEFF", "a<U+200B>b<U+2060><U+FEFF>"},
		{"separators", "a\u2028b\u2029", "a<U+2028>b<U+2029>"},
		{"tags", "a\U000E0041", "a<U+E0041>"},
		{"private", "\uE000", "<U+E000>"},
		{"surrogate", "\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(Sanitize(c.in)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestSanitizeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		in = strings.Repeat(in, rapid.IntRange(1, 400).Draw(t, "times"))
		checkSafe(t, in)
	})
}

func FuzzSanitize(f *testing.F) {
	f.Add("\x1b]0;title")
	f.Add(strings.Repeat("\u200b", 1000))
	f.Add(strings.Repeat("x", MaxText-1) + "é")
	f.Fuzz(func(t *testing.T, in string) { checkSafe(t, in) })
}

func checkSafe(t interface{ Fatalf(string, ...any) }, in string) {
	out := Sanitize(in)
	if len(out) > MaxText {
		t.Fatalf("%d bytes", len(out))
	}
	if !utf8.ValidString(string(out)) {
		t.Fatalf("invalid: %q", out)
	}
	for _, r := range string(out) {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
			t.Fatalf("%U is left in %q", r, out)
		}
	}
	if again := Sanitize(string(out)); again != out {
		t.Fatalf("not stable: %q, then %q", out, again)
	}
}
