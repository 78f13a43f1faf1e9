package board

import (
	"slices"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/tui/page"
)

// attention is which pane the person looks at.
type attention struct {
	// focus is the pane that keys are about, tab the one that is shown where one is shown at a time.
	focus, tab paneID
	// chosen is true once the person has chosen a pane, or a pod in one. Until then the focus goes where pods are; placed is
	// true once it has.
	chosen, placed bool
}

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
		b.chosen = true
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
	if b.Pages.DockFocused() {
		at = int(paneCount)
	}
	if to := (at + n + panes) % panes; to == int(paneCount) {
		b.Pages.FocusDock()
	} else {
		b.setFocus(paneID(to))
	}
}

// setFocus goes to a pane, as the person chose, and closes what would hide it.
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

// followLongest goes to the pane of the pod that waits longest, once there is one, and again when the pane in focus has no
// pods any more: unless the person has chosen a pane.
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

// ShowPane shows the pane that lists the pods of a tier, where there is room for one alone.
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

// focused reports whether keys are about the pane.
func (b *Board) focused(p paneID) bool { return b.focus == p && !b.Pages.DockFocused() }

// InFocus is the title of the pane in focus.
func (b *Board) InFocus() string { return paneTitles[b.focus] }

// FocusOn goes to the pane of that title, if there is one.
func (b *Board) FocusOn(title string) {
	for i, t := range paneTitles {
		if t == title {
			b.setFocus(paneID(i))
		}
	}
}
