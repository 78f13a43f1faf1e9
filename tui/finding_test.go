package tui

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/widget"
)

// types types text without accepting it.
func (p *person) types(text string) *person {
	p.t.Helper()
	if l, ok := p.model.Overlays.Top().(*widget.List); ok && !l.Typing && text != "" {
		p.do(keymap.ListSearch)
	}
	for _, r := range text {
		key := string(r)
		if key == " " {
			key = "space"
		}
		p.press(key)
	}
	return p
}

// TestFilterByFields: a filter selects pods by any of their fields.
func TestFilterByFields(t *testing.T) {
	for text, sees := range map[string]string{
		"ns:shop":                 "unschedulable 2 · gated 1, 1 match",
		"plugin:Affinity":         "▸● train-0",
		"tier:gated":              "unschedulable 2 · gated 1, 1 match",
		"attempts>0 !tier:infl":   "activeQ 2, 0 match",
		"prio>=100 prio<1000":     "activeQ 2, 1 match",
		"-l team=ml":              "unschedulable 2 · gated 1, 1 match",
		"/^shop.cart-/":           "unschedulable 2 · gated 1, 1 match",
		"~urg1":                   "activeQ 2, 1 match",
		"!web !urgent waiting>3s": "unschedulable 2 · gated 1, 2 match",
	} {
		synctest.Test(t, func(t *testing.T) {
			p := sit(t, 200, 60, paused(t, sample), Options{})
			p.goTo(moment).do(keymap.FocusUnsched, keymap.RowDown, keymap.Filter).enter(text).sees(sees, " / "+text)
			p.do(keymap.Back).seesNot(", 1 match").seesNot(", 2 match").seesNot(", 0 match")
		})
	}
}

// TestFilterMistakesAreToldWhileTyping: while an invalid filter is typed, the prompt shows where it
// is wrong, and the board does not change.
func TestFilterMistakesAreToldWhileTyping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.Filter).types("web /(").sees("letter 6: invalid regular expression: missing closing )", "backoffQ 2, 0 match", "● web-2").press("enter")
		p.sees("letter 6: invalid regular expression", "● web-2").press("backspace")
		p.enter("3").sees(" / web /3", "activeQ 2, 0 match", "● web-3")
		p.do(keymap.Filter).sees("filter:  ").press("up")
		p.types(" attempts>").sees("letter 17: value missing after attempts>").enter("0")
		p.sees(" / web /3 attempts>0", "● web-3 attempt 1")
	})
}

// TestMistakesAreNotCut: a small screen shows the whole error about a filter.
func TestMistakesAreNotCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		p.do(keymap.Filter)
		for _, key := range "plugn:x" {
			p.press(string(key))
		}
		said := strings.Join(strings.Fields(p.screen()), " ")
		for _, want := range []string{"letter 1: unknown field plugn: use one of ns, name,", "waiting"} {
			if !strings.Contains(said, want) {
				t.Errorf("%q is not readable:\n%s", want, p.screen())
			}
		}
	})
}

// TestFilterByWaitingFollowsTime: a pod appears once it has waited longer than the filter requires,
// and disappears when time goes back.
func TestFilterByWaitingFollowsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.Filter).enter("waiting>1s tier:active").sees("activeQ 2, 0 match")
		p.goTo("+0.75s").sees("activeQ 2, 1 match", "urgent-1").do(keymap.SecondBack).sees("activeQ 1, 0 match")
	})
}

func TestSortByAnyColumn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		rows := func() string { return strings.Join([]string{p.row(6)[:30], p.row(7)[:30]}, "\n") }
		p.goTo(moment).do(keymap.FocusActive)
		if got := rows(); strings.Index(got, "urgent-1") > strings.Index(got, "web-2") {
			t.Errorf("the rows in queue order are\n%s", got)
		}
		p.do(keymap.Sort).sees("sort activeQ by", "the queue's order ↓").enter("name").seesTogether("pod↓", "waits")
		p.do(keymap.Sort).enter("name").seesTogether("pod↑", "waits")
		if got := rows(); strings.Index(got, "urgent-1") < strings.Index(got, "web-2") {
			t.Errorf("the rows by name, reversed, are\n%s", got)
		}
		p.do(keymap.WhatIf).sees("pod↑").do(keymap.WhatIf).sees("pod↑") // the what-if keeps the order
		p.do(keymap.Sort).enter("queue's").seesNot("pod↑").do(keymap.Sort).enter("owner").sees("activeQ 2 by owner ↓").do(keymap.Sort).enter("queue's").seesNot("by owner")
		p.do(keymap.FocusLog, keymap.Sort).sees("can't: the log is always sorted by time")
	})
}

// TestGroups: the groups count the pods by what they wait for, and enter filters by a group.
func TestGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.CountGroups)
		p.sees("Waiting for", "2 pods         NodeResourcesFit", "1 backoffQ, 1 unschedulable", "1 pod          TaintToleration",
			"Namespace", "7 pods         default", "1 pod          shop")
		p.enter("noderes").sees(" / plugin=NodeResourcesFit", "backoffQ 2, 1 match")
		p.do(keymap.CountGroups).seesNot("TaintToleration").sees("1 pod          NodeAffinity").enter("default")
		p.sees(" / plugin=NodeResourcesFit ns=default")
		p.do(keymap.Back, keymap.CountGroups).enter("no owner").sees("can't: no filter can select these pods")
	})
}

func TestPaletteDoesByNameAndSaysWhyNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.Palette).sees("actions: type to search", "space", "play")
		p.types("activate").sees("can't: no pod is selected: j and k select one").press("enter")
		if got := p.answer(); got != "can't: no pod is selected: j and k select one" {
			t.Errorf("the refused action answers %q", got)
		}
		p.press("ctrl+p") // its other key; recent actions come first
		p.sees("Lately", "activate").press("esc")
		p.do(keymap.FocusUnsched, keymap.RowDown, keymap.Palette).enter("activate").sees("start a what-if: activate default/train-0").press("enter")
		p.sees("Activate default/train-0: default/train-0 unschedulable → active")
		p.do(keymap.Palette).types("leave what-if").sees("In a what-if: go").press("enter")
		p.seesNot("WHAT-IF")
	})
}

func TestPaletteHasEveryActionOfTheBoard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.do(keymap.Palette)
		items := slices.DeleteFunc(slices.Clone(p.model.Overlays.Top().(*widget.List).Items), func(it widget.Item) bool { return it.Heading })
		for _, b := range p.model.Keys.All() {
			if b.Context != keymap.Board || b.ID == keymap.Palette {
				continue
			}
			if len(items) == 0 || items[0].Key != b.Key() || !strings.Contains(items[0].Text+" "+items[0].Keywords, b.Name) {
				t.Fatalf("%s is not in the palette; in its place: %v", b.ID, items)
			}
			items = items[1:]
		}
		if len(items) > 0 {
			t.Errorf("these are not actions of the board: %v", items)
		}
	})
}
