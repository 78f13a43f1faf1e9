package board

import (
	"slices"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/tui/page"
)

// focusState is the pane in focus.
type focusState struct {
	// focus is the pane that keys apply to. tab is the pane shown where only one fits.
	focus, tab paneID
	// chosen is true once the user has chosen a pane or a pod. Until then the focus follows the
	// pods; placed is true once it has done so.
	chosen, placed bool
}

// Add adds the actions of the board: focus, zoom, finding and grouping.
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
		b.chosen = true
		b.Pages.Clear()
		b.Pages.Zoomed = zoom
	})
	b.addFinding(all)
	b.addFolding(all)
}

// nextPane moves the focus by n panes. A docked page comes after the last pane.
func (b *Board) nextPane(n int) {
	panes, at := int(paneCount), int(b.focus)
	if b.Pages.Docked() != nil {
		panes++
	}
	if b.Pages.DockFocused() {
		at = int(paneCount)
	}
	if to := (at + n + panes) % panes; to == int(paneCount) {
		b.Pages.FocusDock()
	} else {
		b.setFocus(paneID(to))
	}
}

// setFocus focuses a pane on the user's request, and closes pages that would hide it.
func (b *Board) setFocus(p paneID) {
	b.chosen = true
	b.look(p)
	b.Pages.Uncover()
}

func (b *Board) look(p paneID) {
	b.focus = p
	if p <= unschedulablePane {
		b.tab = p
	}
}

// followLongest focuses the pane of the pod that has waited longest, and does so again when the
// focused pane runs empty, unless the user has chosen a pane.
func (b *Board) followLongest() {
	pods := func(p paneID) int { return b.panes[p].len(b.Frame.Board) }
	if b.chosen || b.focus > unschedulablePane || b.placed && pods(b.focus) > 0 {
		return
	}
	if p := b.Frame.Board.LongestWaiting(); p != nil {
		for id := activePane; id <= unschedulablePane; id++ {
			if slices.Contains(b.panes[id].tiers, p.Listed()) {
				b.look(id)
				b.placed = true
				return
			}
		}
	}
	for _, id := range []paneID{unschedulablePane, backoffPane, activePane} { // it is in flight
		if pods(id) > 0 {
			b.look(id)
			b.placed = true
			return
		}
	}
}

// ShowPane shows the pane for a tier where only one pane fits.
func (b *Board) ShowPane(tier queue.Tier) {
	if !small(b.Width) || b.focus > unschedulablePane {
		return
	}
	for id := activePane; id <= unschedulablePane; id++ {
		if slices.Contains(b.panes[id].tiers, tier) {
			b.chosen = true
			b.look(id)
		}
	}
}

// focused reports whether keys apply to the pane.
func (b *Board) focused(p paneID) bool { return b.focus == p && !b.Pages.DockFocused() }

// InFocus returns the title of the focused pane.
func (b *Board) InFocus() string { return paneTitles[b.focus] }

// FocusOn focuses the pane with that title, if there is one.
func (b *Board) FocusOn(title string) {
	for i, t := range paneTitles {
		if t == title {
			b.setFocus(paneID(i))
		}
	}
}
