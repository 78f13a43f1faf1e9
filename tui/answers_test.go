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

// sends has the program do something in Update, as a command that has ended.
func (p *person) sends(do func() tea.Cmd) *person {
	p.program.Send(page.Ready(do))
	p.idle()
	return p
}

// Notices are told one after the other, the answer to a key before what nobody asked for, and all can be read again.
func TestNoticesQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		long := strings.Repeat("so much to say ", 10)
		p.sends(func() tea.Cmd {
			return tea.Batch(p.model.QueueNotice(page.Notice{Text: "first"}), p.model.QueueNotice(page.Notice{Text: "second"}), p.model.QueueNotice(page.Notice{Text: long + "to the end"}))
		})
		if got := p.answer(); got != "first (2 more: o m)" {
			t.Errorf("the line says %q", got)
		}
		p.do(keymap.CopyMore) // refused: the answer comes before the second
		if got := p.answer(); !strings.HasPrefix(got, "can't: no pod is selected") || !strings.HasSuffix(got, "(2 more: o m)") {
			t.Errorf("the line says %q", got)
		}
		p.wait(page.NoticeTime)
		p.sees(" second (1 more: o m)")
		p.wait(page.NoticeTime)
		p.sees("so much to say", "(o m for more)").seesNot("to the end")
		p.do(keymap.Messages).do(keymap.ListDown).sees("messages, newest first", "to the end", "can't: no pod is selected", "first")
	})
}

// What takes long says how far it is, and stops when it is told to.
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
		if bar := p.model.View().ProgressBar; bar == nil || bar.Value != 40 { // the terminal's own
			t.Errorf("the terminal shows %v", bar)
		}
		p.do(keymap.Back).sees("stopped: counting sheep").seesNot("esc stops it")
		<-stopped
		p.idle()
		p.seesNot("asleep")
	})
}

// An answer that comes late does not open over what the person does meanwhile: it says that it is there.
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

// Only the last messages are kept.
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
			t.Errorf("%d messages are kept", n)
		}
	})
}

// The result of an action in a what-if stays below whatever is shown, until the user closes it, leaves the what-if or
// undoes the action: every pod that it moved, where it is, and the pod at the cursor is selected on the board.
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
			t.Error("when what is above it is closed, keys are not about the panel again")
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

// A small answer is the line's; asked for, it has its panel, and the next takes its place. Clicks and the wheel reach it.
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

// The nodes that an answer names are in its panel, too, and lead to the page of the nodes.
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
