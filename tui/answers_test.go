package tui

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/tui/page"
)

// sends runs do in Update, like a command that has ended.
func (p *person) sends(do func() tea.Cmd) *person {
	p.program.Send(page.Ready(do))
	p.idle()
	return p
}

// TestNoticesQueue: notices appear one at a time, the answer to a key comes before queued notices,
// and the list of messages has them all.
func TestNoticesQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		long := strings.Repeat("so much to say ", 10)
		p.sends(func() tea.Cmd {
			return tea.Batch(p.model.QueueNotice(page.Notice{Text: "first"}), p.model.QueueNotice(page.Notice{Text: "second"}), p.model.QueueNotice(page.Notice{Text: long + "to the end"}))
		})
		if got := p.answer(); got != "first (2 more: o m)" {
			t.Errorf("the status line is %q", got)
		}
		p.do(keymap.CopyMore) // refused: the answer is shown before the second notice
		if got := p.answer(); !strings.HasPrefix(got, "can't: no pod is selected") || !strings.HasSuffix(got, "(2 more: o m)") {
			t.Errorf("the status line is %q", got)
		}
		p.wait(page.NoticeTime)
		p.sees(" second (1 more: o m)")
		p.wait(page.NoticeTime)
		p.sees("so much to say", "(o m for more)").seesNot("to the end")
		p.do(keymap.Messages).do(keymap.ListDown).sees("messages, newest first", "to the end", "can't: no pod is selected", "first")
	})
}

// TestWorkUnderWay: long work shows its progress, and esc stops it.
func TestWorkUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		stopped := make(chan struct{})
		begin := func() tea.Cmd {
			return p.model.Begin(t.Context(), "counting sheep", func(ctx context.Context, w *page.Work) func(bool) tea.Cmd {
				w.Report(0.4)
				<-ctx.Done()
				close(stopped)
				return func(bool) tea.Cmd { return p.model.Answer("asleep") }
			})
		}
		p.sends(begin).wait(3 * time.Second)
		p.sees("counting sheep", "40% 0:03", "esc stops it")
		if bar := p.model.View().ProgressBar; bar == nil || bar.Value != 40 { // the terminal's own progress bar
			t.Errorf("the terminal's progress bar is %v", bar)
		}
		p.do(keymap.Back).sees("stopped: counting sheep").seesNot("esc stops it")
		<-stopped
		p.idle()
		p.seesNot("asleep")
	})
}

// TestLateAnswersWait: a late answer does not open over other work; a notice says that it is ready.
func TestLateAnswersWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		come := make(chan struct{})
		options := Options{Recordings: []Recording{{Name: "slow", Title: "Slow", Open: func(context.Context, func(float64)) (*session.Session, error) {
			<-come
			return paused(t, gangs), nil
		}}}}
		p := sit(t, 80, 24, paused(t, sample), options)
		p.do(keymap.Recordings).enter("slow").sees("opening slow")
		p.do(keymap.Filter).paste("web")
		close(come)
		p.idle()
		p.sees("filter: web")
		p.press("enter")
		p.sees("slow is open (o m for more)", " / web").do(keymap.Messages).press("enter")
		p.seesNot(" / web").sees("10:36:00.100")

		again := rerun{of: p.model.Session, release: "v1.24", open: func() *session.Session { return paused(t, gangs) }, comparison: &report.Comparison{From: &report.Report{}, To: &report.Report{}}}
		p.try(keymap.InjectEvent).sends(func() tea.Cmd { return p.model.rerunDone(again, true) })
		p.sees("inject: what would move now").seesNot("against v1.24")
	})
}

// TestMessagesAreBounded: only the last 200 messages are kept.
func TestMessagesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		p.sends(func() tea.Cmd {
			for n := range 1000 {
				p.model.QueueNotice(page.Notice{Text: fmt.Sprint("message ", n)})
			}
			return nil
		})
		if n := len(p.model.Messages()); n != 200 {
			t.Errorf("%d messages are kept, want 200", n)
		}
	})
}

// TestAnOutcomeStays: the result of a what-if action stays on the screen, with the place of each
// pod that moved, until the user closes it or leaves the what-if.
func TestAnOutcomeStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		p.goTo(moment).try(keymap.MoveAll).sees("result 10:36:06.500", "1 activeQ", "train-0                    ○ activeQ")
		p.do(keymap.RowDown, keymap.RowUp, keymap.FocusLog).sees(" result ", "5 log")
		p.do(keymap.Timeline).sees(" result ").do(keymap.Back).sees(" result ", "1 activeQ")
		p.do(keymap.Outcome, keymap.RowDown, keymap.RowDown).seesTogether("▸ shop/cart-7d9f8c6b5-x2k1p", "activeQ")
		if got := p.model.Selected.Key.Name; got != "cart-7d9f8c6b5-x2k1p" {
			t.Errorf("%s is selected", got)
		}
		p.do(keymap.Open).sees("why?", " result ").do(keymap.Back).seesNot(" why? ").do(keymap.RowUp)
		if got := p.model.Selected.Key.Name; got == "cart-7d9f8c6b5-x2k1p" {
			t.Error("after the page above is closed, keys do not reach the panel")
		}
		p.do(keymap.Back).seesNot(" result ").do(keymap.Messages).enter("move request").sees(" result ")
		p.do(keymap.NextPane).do(keymap.WhatIf).seesNot(" result ")
		p.do(keymap.Messages).enter("move request").seesNot(" result ").sees("not shown")
	})
}

func TestAnOutcomeIsUndone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.WhatIf, keymap.MoveAll).sees(" result ").do(keymap.Undo).seesNot(" result ")
	})
}

// TestAnOutcomeIsAskedFor: a small result is shown on the status line, and in a panel on request;
// the next result replaces it, and the panel can be clicked.
func TestAnOutcomeIsAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 100, 30, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.Outcome).sees("there is no what-if result yet")
		p.do(keymap.WhatIf, keymap.Pop).seesNot(" result ").do(keymap.Outcome).sees(" result ", "urgent-1").do(keymap.Outcome).seesNot(" result ")
		p.do(keymap.Outcome, keymap.Fits).seesTogether("urgent-1", "bound")
		p.do(keymap.MoveAll).sees("move request", "train-0")
		p.clicks("shop/cart-7d9f8c6b5-x2k1p").clicks("shop/cart-7d9f8c6b5-x2k1p").sees(" why? ", " result ")
	})
}

// TestAnOutcomeNamesNodes: the panel lists the nodes of the result, and enter opens their page.
func TestAnOutcomeNamesNodes(t *testing.T) {
	inTree(t)
	for _, size := range sizes {
		synctest.Test(t, func(t *testing.T) {
			p := sit(t, size[0], size[1], session.New(withTenants(t), timeline.Options{Paused: true}), Options{})
			p.goTo("10:36:02.5").try(keymap.AddNode).enter("node-2 big").do(keymap.Outcome).sees(" result ", "node big", "node node-2")
			golden(t, fmt.Sprintf("outcome/%dx%d", size[0], size[1]), p.screen()+"\n"+p.styles())
			p.do(keymap.Open).sees("nodes").seesTogether("▸ big").sees(" result ")
		})
	}
}
