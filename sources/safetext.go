package sources

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SafeText is text from outside that was made safe for a terminal, a window title and a clipboard:
// valid UTF-8 without control, format or bidirectional characters, of a bounded length. Make one with
// Sanitize; a plain string is not a SafeText.
type SafeText string

// MaxText is the length in bytes that Sanitize cuts text to. A FailedScheduling message is at most
// 1,024 bytes; a condition's message can be longer.
const MaxText = 4096

// Sanitize makes s safe to show: invalid UTF-8 becomes U+FFFD, C0 and DEL become control pictures
// (U+2400...), and C1, format characters (bidirectional overrides, zero-width), private characters and
// line or paragraph separators become a visible <U+XXXX>. Text longer than MaxText ends in an ellipsis.
// Sanitize is idempotent: Sanitize(string(Sanitize(s))) == Sanitize(s).
func Sanitize(s string) SafeText {
	if len(s) <= MaxText && (isPlain(s) || isSafe(s)) {
		return SafeText(s)
	}
	var b strings.Builder
	for _, r := range s {
		if b.Len() > MaxText {
			break
		}
		switch {
		case r < 0x20:
			b.WriteRune(0x2400 + r)
		case r == 0x7f:
			b.WriteRune(0x2421)
		case isHidden(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r) // an invalid byte is utf8.RuneError here, U+FFFD
		}
	}
	out := b.String()
	if len(out) > MaxText {
		cut := MaxText - len("…")
		for !utf8.RuneStart(out[cut]) {
			cut--
		}
		out = out[:cut] + "…"
	}
	return SafeText(out)
}

// isSafe reports whether Sanitize does not change s, except for its length.
func isSafe(s string) bool {
	for _, r := range s {
		if r < 0x20 || r == 0x7f || isHidden(r) {
			return false
		}
	}
	return utf8.ValidString(s)
}

// isHidden reports whether r is shown as its number: a C1 control, a format character, a private one, or a line or
// paragraph separator.
func isHidden(r rune) bool {
	return r >= 0x80 && (r < 0xa0 || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co))
}

// isPlain reports whether s is printable ASCII, which almost all text is.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}
