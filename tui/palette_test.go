package tui

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/theme"
)

// TestTheExactNameIsFoundFirst: who types an action's name into the palette has it below the cursor, whatever other
// actions say of themselves.
func TestTheExactNameIsFoundFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.goTo(moment)
		for _, b := range keymap.Default() {
			if b.Context != keymap.Board || b.ID == keymap.Palette || b.ID == keymap.Play {
				continue // play is called pause while it plays
			}
			p.do(keymap.Palette)
			for _, letter := range b.Name {
				p.press(strings.Replace(string(letter), " ", "space", 1))
			}
			_, at, _ := strings.Cut(p.screen(), theme.GlyphSelected+" "+b.Key())
			if row, _, _ := strings.Cut(at, "│"); !strings.HasPrefix(strings.TrimSpace(row), b.Name) {
				t.Errorf("%q finds %q first", b.Name, strings.TrimSpace(row))
			}
			p.press("esc")
		}
	})
}
