package board

import (
	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/page"
)

// Add adds what is done on the board itself: what its panes show, and which of them keys are about.
func Add(b *Board, all page.Actions) {
	for id, pane := range map[keymap.ID]paneID{
		keymap.FocusActive: activePane, keymap.FocusBackoff: backoffPane, keymap.FocusUnsched: unschedulablePane,
		keymap.FocusFlight: flightPane, keymap.FocusLog: logPane,
	} {
		all[id] = page.Command(func() { b.setFocus(pane) })
	}
	all[keymap.NextPane] = page.Command(func() { b.nextPane(1) })
	all[keymap.PreviousPane] = page.Command(func() { b.nextPane(-1) })
	all[keymap.Zoom] = page.Command(func() {
		zoom := !b.Pages.Covered() && !b.Pages.Zoomed
		b.Pages.Clear()
		b.Pages.Zoomed = zoom
	})
	b.addFinding(all)
	b.addFolding(all)
}

// nextPane goes n panes on. What is docked beneath the board is one behind the last.
func (b *Board) nextPane(n int) {
	panes, at := int(paneCount), int(b.focus)
	if b.Pages.Docked() != nil {
		panes++
	}
	if b.Pages.AtDock() {
		at = int(paneCount)
	}
	if to := (at + n + panes) % panes; to == int(paneCount) {
		b.Pages.GoToDock()
	} else {
		b.setFocus(paneID(to))
	}
}
