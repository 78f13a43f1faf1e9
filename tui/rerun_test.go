package tui

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/tui/page"
)

// TestRunAgainUnderAnotherRelease: a rerun shows how another release would differ, and enter plays
// it.
func TestRunAgainUnderAnotherRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.do(keymap.Rerun).sees("rerun under", "v1.37", "v1.16", "moveRequestCycle")
		// The local scheduler does not run in a bubble. This is its result.
		p.press("esc")
		second := report.Seconds(time.Second)
		p.program.Send(page.Ready(func() tea.Cmd {
			return p.model.rerunDone(rerun{of: p.model.Session, release: "v1.24", open: func() *session.Session { return paused(t, gangs) }, comparison: &report.Comparison{
				From: &report.Report{Moves: 40, Attempts: report.AttemptReport{Total: 9}}, To: &report.Report{Moves: 44, Attempts: report.AttemptReport{Total: 11}},
				Same: 30, Pods: []report.PodComparison{{Pod: "default/train-0",
					From: report.Outcome{Attempts: 1, Tier: "scheduled", Waited: second}, To: report.Outcome{Attempts: 3, Tier: "backoff", Waited: 90 * second}}},
			}}, false)
		}))
		p.idle()
		p.sees("v1.37 → v1.24", "30 of them the same", "40 → 44", "1 pod with a different outcome", "default/train-0", "bound 1s ×1 → backoff 1m30s ×3")
		p.press("enter")
		p.goTo("+2s").sees("train-0", "train-2")
	})
}

// TestRunAgainRefused: a failed rerun shows the reason.
func TestRunAgainRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.program.Send(page.Ready(func() tea.Cmd {
			return p.model.rerunDone(rerun{of: p.model.Session, release: "v1.24", err: errors.New("sched.log holds no pods' objects")}, false)
		}))
		p.idle()
		p.sees("sched.log holds no pods' objects")
	})
}
