package tui

import (
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
)

// A command of one's own is chosen by name and run about the selected pod; what it wrote is a page. Elsewhere than on the
// person's own terminal none is run.
func TestCommandsOfOnesOwn(t *testing.T) {
	own := []Command{
		{Name: "describe", Words: []string{"echo", "about", "{namespace}", "{name}"}},
		{Name: "node", Words: []string{"echo", "{node}"}},
		{Name: "none", Words: []string{"/there/is/no/such/program"}},
	}
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{Commands: own, machine: Machine{Run: runCommand}})
		p.goTo(moment).do(keymap.Commands).sees("can't: no pod is selected").enter("describe").sees("can't: describe: no pod is selected")
		p.do(keymap.FocusUnsched, keymap.RowDown, keymap.Commands).sees("run a command", "echo about default train-0")
		p.enter("describe").sees("─ describe ─", " about default train-0").do(keymap.Back).sees("1 activeQ")
		p.do(keymap.Commands).enter("node").sees("can't: node: default/train-0 has no node")
		p.do(keymap.Commands).enter("none").sees("no such file or directory")
	})
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{Commands: own})
		p.goTo(moment).do(keymap.Commands).sees("can't: commands can't be run from here")
	})
}

// The terminal's window is called after what is shown.
func TestWindowTitle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{titled: true})
		if got := p.model.View().WindowTitle; got != "schedq: sample" {
			t.Errorf("it is called %q", got)
		}
		p.do(keymap.WhatIf)
		if got := p.model.View().WindowTitle; got != "schedq: sample (what-if)" {
			t.Errorf("in a what-if it is called %q", got)
		}
	})
}
