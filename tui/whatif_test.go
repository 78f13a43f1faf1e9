package tui

import (
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
)

func TestThePersonIsTheScheduler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.WhatIf)
		p.sees("WHAT-IF since 10:36:06 — you are the scheduler — w: back to the recording")

		p.do(keymap.Pop) // selects the popped pod, which the detail explains
		p.sees("▸○ urgent-1 attempt 1", "default/urgent-1", "Popped at 10:36:06.5")
		p.do(keymap.Fits)
		p.sees("in-flight→bound")

		p.do(keymap.Pop, keymap.Reject) // rejects web-2 with two plugins
		p.sees("which plugins reject web-2?", "[ ] NodeResourcesFit")
		p.press("space")
		p.press("space")
		p.sees("[x] NodeResourcesFit", "[x] TaintToleration").press("enter")
		p.sees("▸○ web-2", "NodeResourcesFit+1", "Rejected by NodeResourcesFit, TaintToleration at")

		p.do(keymap.Play).wait(2e9) // time passes, but only the user schedules
		p.sees("+0:02 in the what-if", "○ batch-1")

		p.do(keymap.WhatIf)
		p.seesNot("WHAT-IF").sees("10:36:06.500", "● urgent-1", "▸● web-2")
	})
}

func TestAnErrorIsAVerdictOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.WhatIf, keymap.Pop, keymap.Reject)
		p.press("space")
		p.do(keymap.ListSearch)
		p.press("g") // in a search, letters are text
		p.sees("search: g").press("esc")
		p.sees("▸ [ ] ").do(keymap.ListFirst)
		p.press("space")
		p.press("enter")
		p.sees("can't: choose either an error or plugins, not both")

		p.do(keymap.Reject)
		p.enter("error").sees("in-flight→backoff error, no plugin", "earlier, because it failed with an error")
	})
}

func TestInjectingForks(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(p *person)
		sees string
	}{
		{"move request", func(p *person) { p.try(keymap.MoveAll) }, "move request for all: "},
		{"event", func(p *person) { p.try(keymap.InjectEvent).enter("nodeadd") }, "NodeAdd: "},
		{"new pod", func(p *person) { p.try(keymap.AddPod).enter("mine 50") }, "new pod default/mine: default/mine → active"},
		{"gated pod", func(p *person) { p.try(keymap.AddPod).enter("team-a/mine gated") }, "new pod team-a/mine: team-a/mine → gated"},
		{"activate", func(p *person) { p.try(keymap.Activate) }, "Activate default/train-0: default/train-0 unschedulable → active"},
		{"delete", func(p *person) { p.try(keymap.DeletePod) }, "delete default/train-0: default/train-0 unschedulable → deleted"},
		{"flush of backoffQ", func(p *person) { p.try(keymap.FlushBackoff) }, "flush of backoffQ: "},
		{"leftover flush", func(p *person) { p.try(keymap.FlushLeft) }, "leftover flush: "},
		{"open gate", func(p *person) { p.do(keymap.LastRow).try(keymap.OpenGate) }, "open the gate of default/held-1: default/held-1 gated → active"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := sit(t, 120, 40, paused(t, sample), Options{})
				p.goTo(moment).do(keymap.FocusUnsched, keymap.RowDown)
				test.do(p)
				p.sees("WHAT-IF since 10:36:06", test.sees)
			})
		})
	}
}

func TestPromptsSayWhatIsWrong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		p.goTo("noon").sees("invalid time").press("esc")
		p.goTo("12:00:00").sees("the recording is from 10:36:00 to 10:36:08").press("esc")
		p.goTo("end").sees("at the end").goTo("start").sees("0:00/0:08")
		p.try(keymap.AddPod).enter("").sees("a pod needs a name").press("esc")
		p.try(keymap.AddPod).enter("Web_1").sees("lowercase letters").press("esc")
		p.try(keymap.AddPod).enter("web-1 high").sees("invalid priority: high").press("esc")
		p.seesNot("WHAT-IF")
	})
}

// TestFilteredVerdict: the user can still decide about the pod in flight when a filter hides it.
func TestFilteredVerdict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.WhatIf).do(keymap.AddPod).enter("mine 2000")
		p.do(keymap.Filter).enter("zz").sees("/ zz")
		p.do(keymap.Pop).sees("mine active → in-flight").do(keymap.Fits).sees("mine in-flight → bound")
	})
}

// TestAWhatIfHasItsKeysInTheBar: the key bar of a what-if shows how to act in it and how to leave
// it.
func TestAWhatIfHasItsKeysInTheBar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.goTo(moment).seesNot("p pop")
		p.do(keymap.WhatIf).sees("p pop", "e change …", "W what-ifs …", "w leave what-if")
		p.resize(80, 24)
		p.do(keymap.FocusUnsched, keymap.RowDown).sees("p pop", "e change …", "— w: back to the recording") // also with a pod selected
	})
}
