package tui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
)

// Closing goes back to where one came from, as far as one went.
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
		p.do(keymap.Back).sees("timeline of").do(keymap.Back).seesNot("─ lanes ") // each is open once
		p.do(keymap.FocusLog, keymap.Zoom, keymap.Lanes, keymap.Back).seesNot("3 unschedulable")
	})
}

// In a lesson the palette finds what is done in lessons.
func TestThePaletteOfALesson(t *testing.T) {
	l := prepare(t, "three-places")
	synctest.Test(t, func(t *testing.T) {
		p := l.learn(t, &kept{})
		p.do(keymap.Palette).enter("steps").sees("steps of Pending is three places")
		p.press("esc")
		p.do(keymap.Palette).enter("hint").sees("can't: hints are for a goal that is not reached yet")
	})
}

// Between two rows of two lines each, the last of which is only half in sight, a click selects what is seen.
func TestAClickBelowTheLastRowSelectsNothing(t *testing.T) {
	var many strings.Builder
	for n := range 60 {
		fmt.Fprintf(&many, "1 crowd-%02d active UnscheduledPodAdd\n", n)
	}
	synctest.Test(t, func(t *testing.T) {
		for h := 36; h < 44; h++ { // in some the rows end with half of one
			p := sit(t, 120, h, paused(t, many.String()), Options{Projector: true})
			p.goTo("end")
			for y := range h - 4 {
				p.model.Selected.Any = false
				seen := p.screen()
				p.clickAt(5, y)
				if pod := p.model.Pod(); pod != nil && !strings.Contains(seen, pod.Key.Name) {
					t.Errorf("a click in row %d of %d selects %s, which is not to be seen:\n%s", y, h, pod.Key.Name, seen)
				}
			}
		}
	})
}
