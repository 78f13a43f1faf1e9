package sources

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestShownPod: a redacted name is shown as it is, safe and bounded, and can be read again; one that is not safe can't.
func TestShownPod(t *testing.T) {
	for _, name := range []string{"mill/web-0", "mill/pod-A", "[REDACTED]", "mill/<a b>", "mill/\x1b[31mx", "mill/" + strings.Repeat("Ä", 400), "a/b/C", "m\u202ex/Y"} {
		shown := SafePod(name)
		if len(shown.Name) > maxShown || !utf8.ValidString(shown.String()) || strings.ContainsAny(shown.String(), "\x1b\u202e") {
			t.Errorf("%q is shown as %q", name, shown)
		}
		if again, err := ParseShownPod(shown.String()); err != nil || again != shown {
			t.Errorf("%q is read as %v, %v", shown, again, err)
		}
	}
	for _, name := range []string{"mill/\x1b[31mx", "mill/", ""} {
		if pod, err := ParseShownPod(name); err == nil {
			t.Errorf("%q is taken as %v", name, pod)
		}
	}
}
