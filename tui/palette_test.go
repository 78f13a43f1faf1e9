package tui

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/theme"
)

// TestTheExactNameIsFoundFirst: typing the exact name of an action selects it in the palette of the
// board, of charts and of lessons, whatever other descriptions contain.
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
				_, at, _ := strings.Cut(p.screen(), "│ "+theme.GlyphSelected+" ") // the key is to the left
				if row, _, _ := strings.Cut(at, "│"); !strings.Contains("  "+row, "  "+name+"  ") {
					t.Errorf("%q finds %q first", name, strings.TrimSpace(row))
				}
				p.press("esc")
			}
		})
	}
}
