package tui

import (
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
)

// TestEveryKeyShowsThatItWorked: every action changes the screen, or the user would press its key
// again.
func TestEveryKeyShowsThatItWorked(t *testing.T) {
	unseen := map[keymap.ID]bool{
		keymap.Suspend: true, keymap.Quit: true,
		keymap.Theme:        true, // changes only colours
		keymap.FocusUnsched: true, // has the focus already
	}
	for _, b := range keymap.Default() {
		if b.Context != keymap.Board || unseen[b.ID] {
			continue
		}
		t.Run(string(b.ID), func(t *testing.T) {
			t.Parallel()
			for _, inWhatIf := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					p := sit(t, 60, 20, paused(t, sample), Options{})
					p.goTo(moment).do(keymap.FocusUnsched, keymap.RowDown, keymap.RowDown)
					if inWhatIf {
						p.do(keymap.WhatIf)
					}
					p.wait(10e9) // until the last answer disappears
					before := p.screen()
					p.sends(func() tea.Cmd { return p.model.Do(b.ID) })
					if p.screen() == before && p.rang == 0 {
						t.Errorf("the screen does not change (in a what-if: %t):\n%s", inWhatIf, before)
					}
				})
			}
		})
	}
}
