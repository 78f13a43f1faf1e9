package tui

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
)

// TestTravelling: keys move through a recording by attempt, by the moves of one pod, and to the
// next moment that meets a condition.
func TestTravelling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.do(keymap.NextAttempt).sees("10:36:01.100", "● web-1 attempt 1").do(keymap.NextAttempt).sees("10:36:02.100")
		p.do(keymap.LastAttempt).sees("10:36:01.100").do(keymap.SecondOn).sees("10:36:02.100").do(keymap.SecondBack).sees("10:36:01.100")

		p.do(keymap.PodOn).sees("can't: no pod is selected").do(keymap.FocusFlight, keymap.RowDown, keymap.PodOn).sees("10:36:01.200")
		p.goTo(moment).do(keymap.FocusBackoff, keymap.RowDown).sees("▸● batch-1")
		p.do(keymap.PodBack).sees("10:36:05.400").do(keymap.PodBack).sees("10:36:05.200", "▸● batch-1")
		p.do(keymap.PodOn, keymap.PodOn).sees("10:36:08.000")
		if p.do(keymap.PodOn); p.answer() != `not found: no later moment matches "move of default/batch-1"` {
			t.Errorf("at the last move the answer is %q", p.answer())
		}

		p.do(keymap.BackUntil).enter("cart enters unschedulable").sees("10:36:04.200")
		p.do(keymap.Until).seesNot("until: cart").press("up")
		p.sees("until: cart enters unschedulable").press("down")
		p.enter("backoffQ >= 2").sees("10:36:05.800")
		p.do(keymap.Until).paste("backoffQ >= 2 enters limbo").press("enter")
		p.sees(`letter 22: unknown tier "limbo"`).press("esc")
	})
}

func TestMarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.do(keymap.NextMark).sees("10:36:06.100", "» 10:36:06 web-1 is deleted")
		p.goTo("10:36:05").do(keymap.SetMark).enter("batch comes").sees(`mark "batch comes" at 10:36:05`)
		p.do(keymap.NextMark).sees("10:36:06.100").do(keymap.LastMark).sees("10:36:05.000")
		p.do(keymap.GoToMark).sees("10:36:00.000   the cluster has three nodes", "▸ 10:36:05.000   batch comes (yours)").enter("deleted")
		p.sees("10:36:06.100")

		p.goTo("start").do(keymap.StopAtMarks, keymap.Play).wait(6 * time.Second)
		p.sees(`stopped at mark "batch comes"`, "‖ paused", "10:36:05.000")
		p.do(keymap.SetMark).sees("batch comes")
		for range "batch comes" {
			p.press("backspace")
		}
		p.press("enter")
		p.sees(`removed mark "batch comes"`)
	})
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, session.New(tell(t, "1 a active UnscheduledPodAdd"), timeline.Options{Paused: true}), Options{})
		for _, key := range []keymap.ID{keymap.NextMark, keymap.LastMark, keymap.GoToMark} {
			if p.do(key); p.answer() != `can't: there are no marks: m sets one` {
				t.Errorf("%s answers %q", key, p.answer())
			}
		}
	})
}
