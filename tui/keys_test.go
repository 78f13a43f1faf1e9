package tui

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
)

func TestEveryBindingOfTheBoardDoesSomething(t *testing.T) {
	m := newModel(t.Context(), paused(t, sample), Options{})
	for _, b := range m.Keys.All() {
		if _, ok := m.Actions[b.ID]; ok != (b.Context != keymap.Lesson && b.Context != keymap.Question) {
			t.Errorf("%s (%s): has an action: %t", b.ID, b.Context, ok)
		}
	}
	for id := range m.Actions {
		if _, ok := m.Keys.ByID(id); !ok {
			t.Errorf("%s has no binding", id)
		}
	}
}

// TestReasons: a key that has no effect shows the reason.
func TestReasons(t *testing.T) {
	const atStart, atMoment, atEnd = "start", moment, "end"
	for _, test := range []struct {
		at     string
		before []keymap.ID
		key    keymap.ID
		says   string
	}{
		{atEnd, nil, keymap.Play, "this is the end"},
		{atEnd, nil, keymap.StepForward, "this is the end"},
		{atEnd, nil, keymap.LeapForward, "this is the end"},
		{atStart, nil, keymap.StepBack, "this is the start"},
		{atStart, nil, keymap.LeapBack, "this is the start"},
		{atStart, times(9, keymap.Faster), keymap.Faster, "this is the highest speed"},
		{atStart, times(3, keymap.Slower), keymap.Slower, "this is the lowest speed"},
		{atStart, nil, keymap.Open, "no pod is selected"},
		{atStart, []keymap.ID{keymap.FocusLog}, keymap.Open, "no pod has moved yet"},
		{atStart, nil, keymap.CopyMore, "no pod is selected"},
		{atStart, nil, keymap.Back, "nothing is open and no filter is set"},
		{atStart, nil, keymap.MoveAll, "no pod is unschedulable or gated"},
		{atStart, nil, keymap.FlushLeft, "no pod is unschedulable or gated"},
		{atStart, nil, keymap.FlushBackoff, "backoffQ is empty"},
		{atMoment, nil, keymap.Activate, "no pod is selected"},
		{atMoment, nil, keymap.DeletePod, "no pod is selected"},
		{atMoment, nil, keymap.OpenGate, "no pod is selected"},
		{atMoment, []keymap.ID{keymap.FocusActive, keymap.RowDown}, keymap.Activate, "default/urgent-1 is already in activeQ"},
		{atMoment, []keymap.ID{keymap.FocusActive, keymap.RowDown}, keymap.OpenGate, "default/urgent-1 is not gated"},
		{atMoment, []keymap.ID{keymap.FocusFlight, keymap.RowDown}, keymap.Activate, "default/web-3 is in flight"},
		{atMoment, []keymap.ID{keymap.FocusFlight, keymap.RowDown, keymap.SeekStart}, keymap.DeletePod, "default/web-3 is not known"},
		{atMoment, []keymap.ID{keymap.FocusFlight, keymap.RowDown, keymap.SeekEnd}, keymap.DeletePod, "default/web-3 is bound"},
		{atMoment, nil, keymap.Pop, "only in a what-if"},
		{atMoment, nil, keymap.Fits, "only in a what-if"},
		{atMoment, nil, keymap.Reject, "only in a what-if"},
		{atStart, []keymap.ID{keymap.WhatIf}, keymap.Pop, "activeQ is empty and PopFromBackoffQ is off"},
		{atStart, []keymap.ID{keymap.WhatIf}, keymap.Fits, "no pod is in flight"},
		{atStart, []keymap.ID{keymap.WhatIf}, keymap.Reject, "no pod is in flight"},
		{atStart, nil, keymap.Recordings, "there are no other recordings"},
	} {
		t.Run(string(test.key)+" "+test.says, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := sit(t, 60, 20, paused(t, sample), Options{})
				p.goTo(test.at).do(test.before...).do(test.key)
				if !strings.HasPrefix(p.answer(), "can't: "+test.says) {
					t.Errorf("the answer is %q", p.answer())
				}
				p.do(keymap.FocusActive)
				p.seesNot("can't: ")
			})
		})
	}
}

func times(n int, id keymap.ID) []keymap.ID {
	ids := make([]keymap.ID, n)
	for i := range ids {
		ids[i] = id
	}
	return ids
}

func TestTheBarShowsOnlyWhatCanBeDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 200, 60, paused(t, sample), Options{Recordings: []Recording{{Name: "other"}}})
		bar := func() string { return p.row(59) }
		if !strings.Contains(bar(), "space play") || strings.Contains(bar(), ", back") || strings.Contains(bar(), "p pop") {
			t.Errorf("at the start: %s", bar())
		}
		p.goTo("end")
		if strings.Contains(bar(), "space play") || !strings.Contains(bar(), ", back") || !strings.Contains(bar(), "o open …") {
			t.Errorf("at the end: %s", bar())
		}
		p.goTo(moment).do(keymap.WhatIf)
		if !strings.Contains(bar(), "p pop  f it fits  x reject") {
			t.Errorf("in a what-if: %s", bar())
		}
	})
}

func TestHelpListsEveryBindingAndRunsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 215, paused(t, sample), Options{})
		p.do(keymap.Help)
		for _, b := range p.model.Keys.All() {
			if !strings.Contains(p.screen(), b.AllKeys()) || !strings.Contains(p.screen(), b.Name) {
				t.Errorf("%s is not in the help", b.ID)
			}
		}
		p.sees("observed", "modelled", "kube-scheduler v1.37.1", "SchedulerPopFromBackoffQ=false", "flushed after 5m0s")

		p.enter("skip quiet") // typing searches, enter runs the action
		if p.seesNot("help: type to search"); p.model.Session.Sync().Squeeze {
			t.Error("squeeze is still on")
		}
		p.do(keymap.Help).enter("activate")
		if got := p.answer(); got != "can't: no pod is selected: j and k select one" {
			t.Errorf("a refused action answers %q", got)
		}
	})
}

func TestPlayer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.sees("‖ paused ×1", "0:00/0:08", "space play")
		p.do(keymap.Play)
		p.sees("▶ playing ×1", "space pause")
		p.wait(p.model.Session.Frame().End.Sub(zero))
		p.sees("■ at the end", "0:08/0:08")
		p.do(keymap.StepBack, keymap.StepBack)
		p.sees("move 22/24").seesNot("bound to node-2, attempt")
		p.do(keymap.StepForward).sees("move 23/24")
		p.do(keymap.LeapBack).sees("move 13/24")
		p.do(keymap.SeekStart).sees("0:00/0:08")
		p.do(keymap.LeapForward).sees("move 10/24")
		p.do(keymap.Faster, keymap.Faster, keymap.Slower).sees("paused ×2")
		p.goTo("+1.5s").sees("10:36:05.700")
		p.goTo("-1s").sees("10:36:04.700")
		p.do(keymap.Squeeze).sees("playback includes quiet time").do(keymap.Squeeze).sees("playback skips quiet time")
	})
}

func TestQuietTimeThatWasSkippedIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, session.New(tell(t, `
			1 early active UnscheduledPodAdd
			1 early inflight
			1 early scheduled node-1
			300 late active UnscheduledPodAdd
			310 late inflight`), timeline.Options{}), Options{})
		p.do(keymap.FocusLog).wait(4e9) // a key dismisses the notice about the source
		p.sees("skipped 4m", "of quiet (10:36:", "→ 10:40:59)")
	})
}

// TestTheFirstOfTwoKeys: the first key shows the possible second keys at once, and the second key
// runs its action.
func TestTheFirstOfTwoKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		for _, l := range p.model.Keys.Leaders() {
			p.press(l.Key)
			p.sees(" "+l.Key+" "+l.Name+" ", "esc close")
			for _, w := range p.model.Keys.Words(l.Key) {
				p.sees(w.Key + "  " + p.model.Named(w.Binding).Name)
			}
			p.press("esc")
			p.seesNot(" " + l.Key + " " + l.Name + " ─")
		}
		p.press("v")
		p.press("Z")
		if got := p.answer(); got != "can't: v Z is not a key" {
			t.Errorf("an unknown second key answers %q", got)
		}
		p.press("e")
		p.press("o")
		if got := p.answer(); got != "can't: no pod is selected: j and k select one" {
			t.Errorf("a refused action answers %q", got)
		}
		p.press("g")
		p.paste("p").sees(" g go to ").press("p")
		p.sees("go to pod:").press("esc")
		p.press("o")
		p.clicks("p  projector").seesNot(" o open ─")
		if !p.model.Projector {
			t.Error("a click on a second key does nothing")
		}
	})
}
