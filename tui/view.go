package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/canvas"
)

// View implements tea.Model. It is called after every message, so it draws only if something changed.
func (m *model) View() tea.View {
	if m.stale {
		m.drawn, m.stale = m.draw(), false
	}
	v := tea.NewView(m.drawn)
	v.AltScreen = true
	if m.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	if m.prompt != nil && m.layout.arrangement != tooSmall {
		v.Cursor = tea.NewCursor(m.prompt.cursor(m.layout.status))
	}
	return v
}

// draw draws the whole screen.
func (m *model) draw() string {
	m.canvas.Reset(m.width, m.height)
	all := m.canvas.Area()
	l := m.layout
	if l.arrangement == tooSmall {
		m.drawTooSmall(all)
		return m.canvas.String(m.palette)
	}
	part := func(r rect) canvas.Area { return all.Sub(r.x, r.y, r.w, r.h) }

	header{m.frame, l.header}.Draw(all.Sub(0, 0, all.W, len(l.header)))
	m.drawTabs(part(l.tabTitles))
	for i, r := range l.panes {
		m.pane(paneID(i)).Draw(part(r))
		if r.x > 0 && r.h > 0 {
			divide(all.Sub(r.x-1, r.y, 1, r.h))
		}
	}
	flight{m.frame, &m.panes[flightPane], m.selected, m.focus == flightPane}.Draw(part(l.flight))
	logView{m.frame, &m.log, m.selected, m.focus == logPane}.Draw(part(l.log))
	m.detail().Draw(part(l.detail))
	if l.detail.x > 0 && l.detail.h > 0 {
		divide(all.Sub(l.detail.x-1, l.detail.y, 1, l.detail.h))
	}
	if m.prompt != nil {
		m.prompt.Draw(part(l.status))
	} else {
		status{m.frame, m.notice}.Draw(part(l.status))
	}
	m.keyBar().Draw(part(l.bar))
	if m.list != nil {
		m.list.Draw(all.Sub(0, len(l.header), all.W, l.status.y-len(l.header)))
	}
	return m.canvas.String(m.palette)
}

func (m *model) pane(id paneID) pane {
	return pane{id: id, frame: m.frame, rows: &m.panes[id], selected: m.selected, focused: m.focus == id}
}

func (m *model) detail() detail {
	return detail{frame: m.frame, selected: m.selected, zoomed: m.zoom == zoomDetail, offset: m.offset}
}

// divide draws the line between two panes.
func divide(a canvas.Area) {
	a.Fill(dim, "│")
	a.Row(0).Fill(dim, "┬")
}

// drawTabs draws the titles of the three panes where only one of them is shown.
func (m *model) drawTabs(a canvas.Area) {
	x := 1
	for id := activePane; id <= unschedulablePane; id++ {
		if a.Empty() {
			return
		}
		style := dim
		if id == m.tab {
			style = canvas.Bold | canvas.Underline
		}
		x = a.Text(x, 0, style, fmt.Sprintf("%d %s%s", id+1, paneTitles[id], m.pane(id).count()))
		if p := m.selected.pod(m.frame); p != nil && id != m.tab {
			if _, here := m.panes[id].index(m.frame.Board, p); here {
				x = a.Text(x, 0, canvas.Bold, " "+glyphSelected)
			}
		}
		x += 2
	}
}

// drawTooSmall says how much room there is and how much is needed.
func (m *model) drawTooSmall(a canvas.Area) {
	text := fmt.Sprintf("schedq needs a terminal of %d×%d. This one is %d×%d: make it larger, or press q to quit.",
		minWidth, minHeight, m.width, m.height)
	for y, line := range canvas.Wrap(text, a.W) {
		a.Text(0, y, plain, line)
	}
}

// keyBar returns the keys that can be used now.
func (m *model) keyBar() keyBar {
	switch {
	case m.prompt != nil:
		return keyBar{shown: m.keys.OnBar(keymap.Prompt)}
	case m.list != nil:
		return keyBar{shown: m.list.onBar(m.keys)}
	}
	var bar keyBar
	for _, b := range m.onBar {
		a := m.actions[b.ID]
		if a.refusal() != "" || b.ID == keymap.RowDown && m.selected.any {
			continue // who has selected a pod knows how to
		}
		if a.name != nil {
			b.Name = a.name()
		}
		if b.ID == keymap.Help || b.ID == keymap.Quit {
			bar.always = append(bar.always, b)
		} else {
			bar.shown = append(bar.shown, b)
		}
	}
	return bar
}
