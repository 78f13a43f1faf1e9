package tui

import (
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
)

// TestInjectingWithAPreview: the list previews the effect of each event, and an injected event can
// be undone and redone.
func TestInjectingWithAPreview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.Undo).sees("can't: nothing was injected: this is the recording").do(keymap.Redo).sees("can't: nothing was undone")
		p.do(keymap.InjectEvent).sees("start a what-if: event", "The recording does not change").press("esc")
		p.seesNot("WHAT-IF").try(keymap.InjectEvent)
		p.sees("inject: what would move now", "move request for all", "3 of 3: 3 to active", "flush of backoffQ", "1 of 2: 1 to active",
			"leftover flush", "none of 3", "NodeAdd", "It would move 3 of 3: 3 to active.")
		p.press("esc")
		if got := len(p.model.Session.Sync().Previews); got != 0 {
			t.Errorf("%d previews are left after closing the list", got)
		}
		p.seesNot("WHAT-IF").try(keymap.InjectEvent).enter("nodeadd")
		p.sees("WHAT-IF since 10:36:06", "NodeAdd: 2 pods moved: 2 to active", "activeQ 4")
		p.do(keymap.Undo).sees("undone: NodeAdd", "WHAT-IF", "activeQ 2").do(keymap.Redo).sees("redone: NodeAdd", "activeQ 4")
		p.do(keymap.Undo, keymap.Undo).sees("can't: nothing was injected in this what-if")
	})
}

// TestWhatIfsBesideEachOther: two what-ifs from one moment can be named and compared.
func TestWhatIfsBesideEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		for _, key := range []keymap.ID{keymap.Forks, keymap.Compare} {
			if p.do(key); p.answer() != "can't: there is no what-if: w starts one" {
				t.Errorf("%s answers %q", key, p.answer())
			}
		}
		p.do(keymap.CloseFork).sees("can't: this is the recording: w starts a what-if")

		p.goTo(moment).do(keymap.WhatIf).do(keymap.AddPod).enter("mine 50")
		p.do(keymap.Palette).enter("name what-if").sees("name: what-if 1")
		for range "what-if 1" {
			p.press("backspace")
		}
		p.enter("with mine").sees("what-if 1 renamed to with mine")
		p.do(keymap.Branch).sees("what-if 2 branches off with mine at 10:36:06.5")
		p.do(keymap.MoveAll).sees("3 pods moved: 3 to active")

		p.do(keymap.Forks).sees("  with mine  from 10:36:06.500", "    what-if 2  from 10:36:06.500, now 10:36:06.500 (here)").types("what-if 2")
		p.sees("2 injections: new pod default/mine, move request for all").do(keymap.ListClose, keymap.ListClose)
		p.do(keymap.Compare).sees("compare with", "the recording", "with mine").enter("with mine")
		p.sees(" compare ── at 10:36:06.500", "what-if 2", "with mine", "activeQ", "3 pods in a different place, on another node or with other attempts:",
			"train-0", "○ activeQ", "● unschedulable NodeAffinity+1")
		p.do(keymap.LastRow) // selects the pod for why?
		if got := p.model.Selected.Key.Name; got != "cart-7d9f8c6b5-x2k1p" {
			t.Errorf("the last pod that differs is %s", got)
		}
		p.do(keymap.Open).sees("─ why? ─", "shop/cart-7d9f8c6b5-x2k1p").do(keymap.Back).sees(" compare ──", "esc close")
		p.do(keymap.StepForward).sees("at 10:36:07.0") // time advances in both
		p.do(keymap.Back).sees("1 activeQ").seesNot(" compare ──")
		if p.model.Session.Sync().Comparison != nil {
			t.Error("the comparison continues after its page is closed")
		}

		p.do(keymap.WhatIf).seesNot("WHAT-IF").do(keymap.Forks).enter("with mine")
		p.sees("WHAT-IF", "with mine at 10:36:06.5", "○ mine").do(keymap.CloseFork)
		p.sees("closed with mine").seesNot("WHAT-IF")
		p.do(keymap.Compare).sees("the recording", "what-if 2") // the only other what-if
		p.do(keymap.Compare).sees("1 activeQ")
	})
}
