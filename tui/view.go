package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/canvas"
)

// View implements tea.Model. What it returns was drawn by Update.
func (m *model) View() tea.View { return m.shown }

// view draws the screen and says what else the terminal is to do.
func (m *model) view() tea.View {
	v := tea.NewView(m.draw())
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
	if m.lesson != nil {
		if m.lesson.blank {
			return m.canvas.String(m.palette)
		}
		m.drawLesson(part(m.lesson.room))
	}

	m.spots.progress = header{m.frame, l.header}.Draw(all.Sub(0, 0, all.W, len(l.header)))
	largeCounts{m.frame}.Draw(part(l.counts))
	m.drawTabs(part(l.tabTitles))
	for i, r := range l.panes {
		m.pane(paneID(i)).Draw(part(r))
		if r.x > 0 && r.h > 0 {
			divide(all.Sub(r.x-1, r.y, 1, r.h))
		}
	}
	flight{m.frame, &m.panes[flightPane], m.selected, m.focus == flightPane}.Draw(part(l.flight))
	m.logView().Draw(part(l.log))
	m.detail().Draw(part(l.detail))
	m.comparison().Draw(part(l.compare))
	m.drawChart(part(l.chart))
	if l.detail.x > 0 && l.detail.h > 0 {
		divide(all.Sub(l.detail.x-1, l.detail.y, 1, l.detail.h))
	}
	if m.prompt != nil {
		m.prompt.Draw(part(l.status))
	} else {
		status{m.frame, m.notice}.Draw(part(l.status))
		if m.projector {
			m.drawPressed(part(l.status))
		}
	}
	m.spots.keys = m.keyBar().Draw(part(l.bar), m.spots.keys[:0])
	for i := range m.spots.keys {
		m.spots.keys[i].y = l.bar.y
	}
	if m.list != nil {
		m.list.Draw(part(m.listRoom()))
	}
	return m.canvas.String(m.palette)
}

// listRoom is where a list opens.
func (m *model) listRoom() rect {
	y := len(m.layout.header)
	return rect{0, y, m.width, m.layout.status.y - y}
}

func (m *model) logView() logView {
	return logView{m.frame, &m.log, m.selected, m.focus == logPane}
}

func (m *model) pane(id paneID) pane {
	return pane{id: id, spacing: m.layout.spacing, frame: m.frame, rows: &m.panes[id], selected: m.selected, focused: m.focus == id}
}

func (m *model) comparison() comparison { return comparison{m.frame, m.offset} }

func (m *model) detail() detail {
	return detail{frame: m.frame, selected: m.selected, zoomed: m.zoom == zoomDetail, offset: m.offset, withLane: true}
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
		m.spots.tabs[id] = rect{}
		if a.Empty() {
			continue
		}
		left := x
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
		m.spots.tabs[id] = rect{left, m.layout.tabTitles.y, x - left, 1}
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
	if m.zoom.chart() {
		bar.shown = append(bar.shown, m.keys.OnBar(keymap.Chart)...)
		if back, ok := m.keys.ByID(keymap.Back); ok {
			bar.shown = append(bar.shown, back) // the way out is never far
		}
	}
	if m.lesson != nil && !m.zoom.chart() && m.zoom != zoomDetail {
		bar.shown = append(bar.shown, m.lessonBar()...)
	}
	for _, b := range m.onBar {
		a := m.actions[b.ID]
		switch {
		case a.refusal() != "",
			b.ID == keymap.RowDown && m.selected.any, // who has selected a pod knows how to
			b.ID == keymap.Back && m.zoom.chart():    // it is there already
			continue
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
