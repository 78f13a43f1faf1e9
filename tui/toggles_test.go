package tui

import (
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
)

// TestEveryKeyShowsThatItWorked checks that an action changes the screen, however small: a person who sees nothing presses again.
func TestEveryKeyShowsThatItWorked(t *testing.T) {
	unseen := map[keymap.ID]bool{
		keymap.Suspend: true, keymap.Quit: true,
		keymap.Theme:        true, // shows in colours only
		keymap.FocusUnsched: true, // has the focus
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
					p.wait(10e9) // the last answer has gone
					before := p.screen()
					p.sends(func() tea.Cmd { return p.model.Do(b.ID) })
					if p.screen() == before && p.rang == 0 {
						t.Errorf("it shows nothing (in a what-if: %t):\n%s", inWhatIf, before)
					}
				})
			}
		})
	}
}
