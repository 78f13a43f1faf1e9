package tui

import (
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
)

// TestCommandsOfOnesOwn: a custom command is chosen by name and runs on the selected pod, and its
// output opens as a page; a served screen runs none.
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

// TestWindowTitle: the title of the terminal's window names the recording or cluster.
func TestWindowTitle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{titled: true})
		if got := p.model.View().WindowTitle; got != "schedq: sample" {
			t.Errorf("the title is %q", got)
		}
		p.do(keymap.WhatIf)
		if got := p.model.View().WindowTitle; got != "schedq: sample (what-if)" {
			t.Errorf("in a what-if the title is %q", got)
		}
	})
}
