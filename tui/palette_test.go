package tui

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/theme"
)

// TestTheExactNameIsFoundFirst: who types an action's name into the palette has it below the cursor, whatever other
// actions say of themselves. That is so for the actions of the board, and of charts and lessons where there is one.
func TestTheExactNameIsFoundFirst(t *testing.T) {
	t.Parallel()
	ready := prepare(t, "three-places")
	for _, test := range []struct {
		contexts []keymap.Context
		sit      func(t *testing.T) *person
	}{
		{[]keymap.Context{keymap.Board}, func(t *testing.T) *person { return sit(t, 120, 40, paused(t, sample), Options{}).goTo(moment) }},
		{[]keymap.Context{keymap.Board, keymap.Chart}, func(t *testing.T) *person {
			return sit(t, 120, 40, paused(t, sample), Options{}).goTo(moment).do(keymap.Lanes)
		}},
		{[]keymap.Context{keymap.Lesson}, func(t *testing.T) *person { return ready.learn(t, &kept{}) }},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := test.sit(t)
			for _, b := range keymap.Default() {
				if !slices.Contains(test.contexts, b.Context) || b.ID == keymap.Palette {
					continue
				}
				name := p.model.Named(b).Name
				p.do(keymap.Palette).paste(name)
				_, at, _ := strings.Cut(p.screen(), "│ "+theme.GlyphSelected+" ") // its key is at the left of it
				if row, _, _ := strings.Cut(at, "│"); !strings.Contains("  "+row, "  "+name+"  ") {
					t.Errorf("%q finds %q first", name, strings.TrimSpace(row))
				}
				p.press("esc")
			}
		})
	}
}
