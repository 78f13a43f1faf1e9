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
			return tea.Batch(p.model.Note(page.Notice{Text: "first"}), p.model.Note(page.Notice{Text: "second"}), p.model.Note(page.Notice{Text: long + "to the end"}))
		})
		if got := p.answer(); got != "first (2 more: ;)" {
			t.Errorf("the line says %q", got)
		}
		p.do(keymap.Copy) // refused: the answer comes before the second
		if got := p.answer(); !strings.HasPrefix(got, "can't: no pod is selected") || !strings.HasSuffix(got, "(2 more: ;)") {
			t.Errorf("the line says %q", got)
		}
		p.wait(page.NoticeTime)
		p.sees(" second (1 more: ;)")
		p.wait(page.NoticeTime)
		p.sees("so much to say", "(;: all of it)").seesNot("to the end")
		p.do(keymap.Messages).do(keymap.ListDown).sees("messages, the newest first", "to the end", "can't: no pod is selected", "first")
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
		options := Options{Recordings: []Recording{{Name: "slow", Title: "Slow", Open: func(context.Context) (*session.Session, error) {
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
		p.sees("slow is open (;: all of it)", " / web").do(keymap.Messages).press("enter")
		p.seesNot(" / web").sees("10:36:00.100")

		again := rerun{of: p.model.Session, release: "v1.24", session: paused(t, gangs), comparison: &session.Comparison{From: &session.Report{}, To: &session.Report{}}}
		p.do(keymap.InjectEvent).sends(func() tea.Cmd { return p.model.ranAgain(again, true) })
		p.sees("inject: what would move now").seesNot("against v1.24")
	})
}

// Only the last messages are kept.
func TestMessagesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		p.sends(func() tea.Cmd {
			for n := range 1000 {
				p.model.Note(page.Notice{Text: fmt.Sprint("message ", n)})
			}
			return nil
		})
		if n := len(p.model.Messages()); n != 200 {
			t.Errorf("%d messages are kept", n)
		}
	})
}

// What was asked in a what-if stays to be read: every pod that it moved, where it is, and a pod that is chosen is selected.
func TestAnOutcomeStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.MoveAll).sees("(;: all of it)")
		p.do(keymap.RowDown, keymap.RowUp).seesNot("(;: all of it)")
		p.do(keymap.Messages).press("enter")
		p.sees("what moved", "default/train-0", "shop/cart-7d9f8c6b5-x2k1p", "rejected by TaintToleration")
		p.enter("cart").seesNot("what moved")
		if got := p.model.Selected.Key.Name; got != "cart-7d9f8c6b5-x2k1p" {
			t.Errorf("%s is selected", got)
		}
	})
}
