package tui

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/tui/page"
)

// seesTogether fails the test unless one row of the screen has all texts, in that order.
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

// inTree returns the in-tree plugins, which report the events they listen for. Call it outside of a
// bubble: a scheduler starts goroutines that outlive it.
func inTree(t *testing.T) queue.Plugins {
	t.Helper()
	plugins, err := cycle.InTree()
	if err != nil {
		t.Fatal(err)
	}
	return plugins
}

// stuck has the longest waiting pod in each of the places, one after the other.
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

// TestWhoWaitsLongest: without a key press, the board of 80 by 24 shows which pod waits longest,
// for how long, why, and when it is tried at the latest.
func TestWhoWaitsLongest(t *testing.T) {
	plugins := inTree(t)
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, session.New(tell(t, stuck), timeline.Options{Paused: true, Plugins: plugins}), Options{})
		p.goTo("10:37:21").seesTogether("waits longest", "shop/cart", "1:20", "next try by 10:41:30 (in 4:09)")
		p.sees("Rejected by NodeResourcesFit and TaintToleration")
		p.goTo("10:37:30.5").seesTogether("waits longest", "shop/cart", "1:29", "next try at the next flush")
		p.goTo("10:37:31.2").seesTogether("shop/cart", "tried next")
		p.goTo("10:37:31.7").seesTogether("shop/cart", "attempt running")
		p.goTo("10:37:32.5").seesTogether("waits longest", "web-1", "1:30", "tried next").sees("It has not been tried yet")
		p.goTo("10:37:34").seesTogether("waits longest", "idle", "not tried until its gate opens").sees("SchedulingGates keeps it out of activeQ")

		p.goTo("10:37:21").do(keymap.Filter).enter("web").seesTogether("waits longest", "web-1") // of the matching pods
		p.do(keymap.Back).do(keymap.SeekStart).seesTogether("waits longest", "idle")
	})
}

// TestPanesAreAsWideAsTheyNeed: a pane with longer names is wider.
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
			t.Errorf("the first pane ends at %d with a long name and at %d with a short one", long, short)
		}
	})
}

// TestFrame: a heavy frame marks the pane with the focus.
func TestFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.FocusBackoff).seesTogether("─ 1 activeQ 2 ", "┏━ 2 backoffQ 2 ━", "┓─ 3 unschedulable")
		p.do(keymap.FocusLog).seesTogether("┏━ 5 log ━", "┓─ why?").seesTogether("─ 2 backoffQ 2 ─")
	})
}

// TestGoToAPod: entering a pod's name, or a part of it, selects the pod in its pane, and opens why?
// for a bound pod.
func TestGoToAPod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.GoToPod).enter("batch-1").seesTogether("┏━ 2 backoffQ").sees("▸● batch-1")
		p.do(keymap.GoToPod).enter("x2k1").seesTogether("┏━ 3 unschedulable").sees("▸● cart-")
		p.do(keymap.GoToPod).press("u")
		p.press("tab")
		p.sees("go to pod: urgent-1").press("enter")
		p.seesTogether("┏━ 1 activeQ").sees("▸● urgent-1")
		p.do(keymap.GoToPod).enter("").sees("▸● train-0") // the longest waiting pod
		p.do(keymap.Filter).enter("web").do(keymap.GoToPod).enter("held-1").sees("▸●⊘held-1").seesNot(" / web")
		p.do(keymap.GoToPod).enter("nobody").sees("no pod with this name is in the queue at 10:36:06 or has left it lately").press("esc")
		p.do(keymap.GoToPod).press("up")
		p.sees("go to pod: held-1").press("up")
		p.sees("go to pod: urgent-1").press("down")
	})
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, stuck), Options{})
		p.goTo("10:37:32.5").do(keymap.GoToPod).enter("shop/cart").sees("why?", "shop/cart", "Bound at 10:37:32")
	})
}

// TestColumnsAreChosen: the user chooses the columns of a pane, their order, and the column to sort
// by.
func TestColumnsAreChosen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.FocusUnsched, keymap.ChooseShown).sees("columns of unschedulable: pod reason waiting attempts next")
		p.paste(" colour").sees(`unknown column "colour": use one of pod, reason`).press("esc")
		p.do(keymap.ChooseShown)
		for range len("pod reason waiting attempts next") {
			p.press("backspace")
		}
		p.enter("waiting namespace pod").seesTogether("┃", "waits", "namespace", "pod").seesTogether("2.5s", "shop", "cart-")

		p.clicks("namespace").seesTogether("waits", "↓ pod").clicks("↓ pod").sees("↑ pod")
		p.do(keymap.FocusLog, keymap.ChooseShown).sees("can't: only activeQ, backoffQ and unschedulable have columns")
	})
}

// TestViews: a custom view has its own filter, columns, order and pane, and can be the start view.
func TestViews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own := []NamedView{{Name: "web only", View: View{
			Filter: "web", Pane: "activeQ", Columns: map[string][]string{"activeQ": {"pod", "here"}},
			Sorts: map[string]board.Sort{"activeQ": {By: board.ByName, Reverse: true}},
		}}, {Name: "all"}}
		p := sit(t, 120, 40, paused(t, sample), Options{Views: own})
		p.goTo(moment).do(keymap.FirstView).seesTogether("┏━ 1 activeQ 2", "┓").seesTogether("pod↑", "here").sees("view web only", " / web")
		p.do(keymap.SecondView).seesNot(" / web").seesTogether("┃   pod", "waits att").seesNot("pod↑")
		p.do(keymap.ChooseView).sees("views", "filter web; starts in activeQ").enter("web").sees(" / web")
		p.do(keymap.ThirdView).sees("can't: the configuration has 2 views")

		left := View{Filter: "cart", Pane: "log", Layout: "plots", Columns: map[string][]string{"activeQ": {"waiting", "pod"}}}
		kept := &shortMemory{views: map[string]View{"here": left}}
		for start, sees := range map[string]string{StartBoard: "┏━ 3 unschedulable", StartLast: " / cart", "web only": " / web"} {
			begun := sit(t, 120, 40, paused(t, sample), Options{Views: own, Start: start, Memory: kept, Source: "here"})
			begun.goTo(moment)
			begun.model.board.FocusOn("unschedulable")
			begun.program.Send(page.Ready(func() tea.Cmd { begun.model.applyStart(); return nil }))
			begun.idle()
			begun.sees(sees)
		}
	})
}

// TestTheLogIsFiltered: the log shows only the moves of pods that match the filter.
func TestTheLogIsFiltered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		log := func() string { // the text below the log's title
			_, below, _ := strings.Cut(p.screen(), " 5 log")
			return below
		}
		p.goTo(moment).do(keymap.Filter).enter("batch").sees(" 5 log, filtered")
		if got := log(); !strings.Contains(got, "batch-1") || strings.Contains(got, "web-2") || strings.Contains(got, "train-0") {
			t.Errorf("the log is\n%s", got)
		}
		p.do(keymap.FocusLog, keymap.FirstRow).sees("▸10:36:05.0 ● batch-1").do(keymap.RowDown).sees("▸10:36:05.1 ● batch-1")
		p.do(keymap.SeekEnd).do(keymap.LastRow).seesTogether("▸10:36:08.0", "batch-1", "backoff→active")
		p.do(keymap.Filter).enter("-none").sees("The log shows the moves after which a pod matches the filter").do(keymap.Open).sees("can't: ")
	})
}

// TestUntilSelects: a run selects the pod that met its condition, and the answer names it.
func TestUntilSelects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.do(keymap.Until).enter("enters backoff").sees("enters backoff: default/batch-1", "▸● batch-1")
		p.do(keymap.NextAttempt).sees("▸● batch-1") // stepping through attempts keeps the selection
		p.do(keymap.Until).paste(" ev").press("tab")
		p.sees("event")
	})
}

// TestBell: if enabled, the bell rings when a run meets its condition, and when long work ends.
func TestBell(t *testing.T) {
	for _, wanted := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p := sit(t, 120, 40, paused(t, sample), Options{Bell: wanted})
			rang := func(want int) {
				t.Helper()
				if !wanted {
					want = 0
				}
				if p.rang != want {
					t.Errorf("the bell rang %d times, want %d", p.rang, want)
				}
			}
			p.do(keymap.RowDown, keymap.Filter).enter("web")
			rang(0)
			p.do(keymap.Filter).enter("").do(keymap.Until).enter("enters backoff").sees("enters backoff: default/batch-1")
			rang(1)
			for takes, rings := range map[time.Duration]int{time.Second: 0, 2 * longWork: 1} {
				before := p.rang
				p.sends(func() tea.Cmd {
					return p.model.Begin(t.Context(), "counting sheep", func(context.Context, *page.Work) func(bool) tea.Cmd {
						time.Sleep(takes)
						return func(bool) tea.Cmd { return nil }
					})
				}).wait(takes)
				if wanted && p.rang-before != rings || !wanted && p.rang > 0 {
					t.Errorf("after %s of work the bell rang %d times", takes, p.rang-before)
				}
			}
		})
	}
}

const longWork = 5 * time.Second

// TestPromptsComplete: tab completes the fields and values of a filter, and the candidates are
// shown first.
func TestPromptsComplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.Filter).press("p")
		p.sees("plugin:", "prio>").press("tab")
		p.sees("filter: plugin:").press("t")
		p.sees("plugin:TaintToleration").press("tab")
		p.press("enter")
		p.sees("/ plugin:TaintToleration")
		p.do(keymap.Back, keymap.Filter).press("up")
		p.sees("filter: plugin:TaintToleration").press("down")
		p.sees("filter:").press("esc")
	})
}
