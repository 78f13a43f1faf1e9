package tui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
)

// TestClosingGoesBackAllTheWay: closing a page returns to the previous one, back to the board.
func TestClosingGoesBackAllTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.FocusUnsched, keymap.RowDown)
		p.do(keymap.Lanes, keymap.Timeline, keymap.Needs).sees("why?", "esc: back")
		p.do(keymap.Back).sees("timeline of default/train-0")
		p.do(keymap.Back).sees("─ lanes ")
		p.do(keymap.Back).sees("3 unschedulable")

		p.do(keymap.Open, keymap.Timeline, keymap.Back).sees("esc: back") // why? again
		p.do(keymap.Back).do(keymap.Lanes, keymap.Timeline, keymap.Lanes).sees("─ lanes ")
		p.do(keymap.Back).sees("timeline of").do(keymap.Back).seesNot("─ lanes ") // each page is open once
		p.do(keymap.FocusLog, keymap.Zoom, keymap.Lanes, keymap.Back).seesNot("3 unschedulable")
	})
}

// TestThePaletteOfALesson: in a lesson the palette has the actions of lessons.
func TestThePaletteOfALesson(t *testing.T) {
	l := prepare(t, "three-places")
	synctest.Test(t, func(t *testing.T) {
		p := l.learn(t, &kept{})
		p.do(keymap.Palette).enter("steps").sees("steps of Pending is three places")
		p.press("esc")
		p.do(keymap.Palette).enter("hint").sees("can't: hints are for a goal that is not reached yet")
	})
}

// TestAClickBelowTheLastRowSelectsNothing: with rows of two lines, of which the last may be cut in
// half, a click selects only a visible pod.
func TestAClickBelowTheLastRowSelectsNothing(t *testing.T) {
	var many strings.Builder
	for n := range 60 {
		fmt.Fprintf(&many, "1 crowd-%02d active UnscheduledPodAdd\n", n)
	}
	synctest.Test(t, func(t *testing.T) {
		for h := 36; h < 44; h++ { // at some heights the last row is cut in half
			p := sit(t, 120, h, paused(t, many.String()), Options{Projector: true})
			p.goTo("end")
			for y := range h - 4 {
				p.model.Selected.Any = false
				seen := p.screen()
				p.clickAt(5, y)
				if pod := p.model.Pod(); pod != nil && !strings.Contains(seen, pod.Key.Name) {
					t.Errorf("a click in row %d of %d selects %s, which is not visible:\n%s", y, h, pod.Key.Name, seen)
				}
			}
		}
	})
}
