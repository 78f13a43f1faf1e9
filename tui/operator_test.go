package tui

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session"
)

// seesTogether fails the test unless a row of the screen has all texts, in that order.
func (p *person) seesTogether(texts ...string) *person {
	p.t.Helper()
	for row := range strings.Lines(p.screen()) {
		rest, found := row, true
		for _, text := range texts {
			if _, rest, found = strings.Cut(rest, text); !found {
				break
			}
		}
		if found {
			return p
		}
	}
	p.t.Errorf("no row has %q:\n%s", texts, p.screen())
	return p
}

// inTree are the in-tree plugins, which tell what they wait for. They are made outside of a bubble: a scheduler starts what
// goes on behind it.
func inTree(t *testing.T) queue.Plugins {
	t.Helper()
	plugins, err := cycle.InTree()
	if err != nil {
		t.Fatal(err)
	}
	return plugins
}

// stuck has a pod that waits longest in each of the places, one after the other.
const stuck = `
0.0  idle gated UnscheduledPodAdd SchedulingGates
1.0  shop/cart active UnscheduledPodAdd
1.1  shop/cart inflight
1.2  shop/cart unschedulable ScheduleAttemptFailure NodeResourcesFit,TaintToleration
2.0  web-1 active UnscheduledPodAdd
90.0 shop/cart backoff AssignedPodDelete
91.0 shop/cart active BackoffComplete
91.5 shop/cart inflight
92.0 shop/cart scheduled
93.0 web-1 deleted
95.0 mark the end
`

// TestWhoWaitsLongest: without a key on the board of 80 by 24 a person sees which pod waits longest, for how long, why,
// what would wake it, and when it is tried next.
func TestWhoWaitsLongest(t *testing.T) {
	plugins := inTree(t)
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, session.New(tell(t, stuck), session.Options{Paused: true, Plugins: plugins}), Options{})
		p.goTo("10:37:21").seesTogether("waits longest", "shop/cart", "1:20", "rejected by NodeResourcesFit TaintToleration")
		p.seesTogether("woken by NodeAdd, ", "tried next by 10:41:30, in 4:09")
		p.goTo("10:37:30.5").seesTogether("waits longest", "shop/cart", "1:29").seesTogether("needs no event", "tried next ")
		p.goTo("10:37:31.2").seesTogether("ready", "tried next")
		p.goTo("10:37:31.7").seesTogether("shop/cart", "in flight, attempt 2").sees("an attempt is under way")
		p.goTo("10:37:32.5").seesTogether("waits longest", "web-1", "1:30", "activeQ: not tried yet")
		p.goTo("10:37:34").seesTogether("waits longest", "idle", "gated SchedulingGates").sees("not tried until its gate opens")

		p.goTo("10:37:21").do(keymap.Filter).enter("web").seesTogether("waits longest", "web-1") // of those that match
		p.do(keymap.Back).do(keymap.SeekStart).seesTogether("waits longest", "idle")
	})
}

// TestPanesAreAsWideAsTheyNeed: who shows more gets more, and nobody loses the names.
func TestPanesAreAsWideAsTheyNeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, `
0.0 checkout-7d9f8c6b5-x2k1p active UnscheduledPodAdd
1.0 b unschedulable ScheduleAttemptFailure NodeResourcesFit
2.0 checkout-7d9f8c6b5-x2k1p deleted
2.5 c active UnscheduledPodAdd
`), Options{})
		p.do(keymap.FocusUnsched).goTo("10:36:01").sees("● checkout-7d9f8c6b5-x2k1p")
		border := func() int {
			row := p.row(p.rowOf("2 backoffQ"))
			return len([]rune(row[:strings.Index(row, "2 backoffQ")]))
		}
		long := border()
		p.goTo("end")
		if short := border(); short >= long {
			t.Errorf("the first pane ends at %d with a long name in it, and at %d with a short one", long, short)
		}
	})
}

// TestFrame: a heavy frame says which pane the next key is about.
func TestFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.FocusBackoff).seesTogether("─ 1 activeQ 2 ", "┏━ 2 backoffQ 2 ━", "┓─ 3 unschedulable")
		p.do(keymap.FocusLog).seesTogether("┏━ 5 log ━", "┓─ why?").seesTogether("─ 2 backoffQ 2 ─")
	})
}
