package widget

import (
	"slices"
	"strings"
	"testing"

	"github.com/schedq/schedq/tui/page"
)

// TestTextWrapsAtSpaces: a page of text cuts no word that fits on a line, and keeps its lines.
func TestTextWrapsAtSpaces(t *testing.T) {
	const text = "# Last known state. Fields the scheduler ignores were dropped.\n\nspec:\n    command: " + "one-very-long-word-that-fits-on-no-line-of-this-width-anywhere"
	for w := 12; w < 80; w++ {
		p := Text{UI: &page.UI{}}
		p.Show("manifest", text)
		p.Settle(w, 20)
		if !slices.Contains(p.lines, "") || !slices.Contains(p.lines, "spec:") {
			t.Errorf("at %d columns the text is %q", w, p.lines)
		}
		for _, word := range strings.Fields(text) {
			if len("    "+word) <= w-2 && !strings.Contains(strings.Join(p.lines, "\n"), word) {
				t.Errorf("at %d columns %q is cut: %q", w, word, p.lines)
			}
		}
		for _, line := range p.lines {
			if len(line) > w-2 {
				t.Errorf("at %d columns %q is too long", w, line)
			}
		}
	}
}
