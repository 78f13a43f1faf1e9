package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
)

// spots are the places of the screen, as it was drawn last, on which a click does something of its own.
type spots struct {
	// progress is the line that shows how far the recording is.
	progress rect
	// keys are those of the bar, tabs the titles of the panes where one is shown at a time.
	keys []keySpot
	tabs [unschedulablePane + 1]rect
}

// keySpot is where a key's name stands.
type keySpot struct {
	rect
	id keymap.ID
}

// addMouse adds what says whose the mouse is.
func (m *model) addMouse(all map[keymap.ID]action) {
	all[keymap.Mouse] = action{do: func() tea.Cmd {
		m.mouse = !m.mouse
		if m.mouse {
			return m.tell(notice{text: "the mouse selects, scrolls and presses what is below it; M leaves it to the terminal"})
		}
		return m.tell(notice{text: "the mouse is the terminal's: select text with it; M takes it back"})
	}}
}

// podAt returns the row list and the row at a place on the screen.
func (m *model) podAt(x, y int) (paneID, int, bool) {
	for i, r := range m.layout.panes {
		if r.contains(x, y) {
			row := y - r.y - (r.h - paneRows(r.h, 1))
			return paneID(i), m.panes[i].top + row/m.layout.spacing, row >= 0
		}
	}
	return 0, 0, false
}

// click does what is below the mouse: it presses a key of the bar, goes to a time on the progress line or to
// a pane, or selects a row. A click on the row that is selected opens it.
func (m *model) click(mouse tea.Mouse) tea.Cmd {
	if mouse.Button != tea.MouseLeft || m.layout.arrangement == tooSmall {
		return nil
	}
	x, y := mouse.X, mouse.Y
	for _, k := range m.spots.keys {
		if k.contains(x, y) {
			return m.press(k.id)
		}
	}
	switch {
	case m.prompt != nil:
		return nil
	case m.list != nil:
		return m.clickList(x, y)
	case m.spots.progress.contains(x, y):
		m.scrubbing = true
		m.scrub(x)
		return nil
	case m.layout.chart.contains(x, y):
		return m.clickChart(x, y)
	}
	for id, r := range m.spots.tabs {
		if r.contains(x, y) {
			m.setFocus(paneID(id))
			return nil
		}
	}
	switch id, row, onRow := m.podAt(x, y); {
	case onRow:
		return m.clickPod(id, row)
	case m.layout.flight.contains(x, y):
		m.setFocus(flightPane)
	case m.layout.log.contains(x, y):
		return m.clickLog(y)
	case m.layout.detail.contains(x, y) && m.zoom == zoomNone && m.selected.any:
		return m.do(keymap.Open)
	}
	return nil
}

// press does what the key of that binding does where the person is.
func (m *model) press(id keymap.ID) tea.Cmd {
	b, ok := m.keys.ByID(id)
	if !ok {
		return nil
	}
	switch b.Context {
	case keymap.Prompt:
		return m.prompt.do(m, id)
	case keymap.List:
		return m.list.do(m, id)
	}
	return m.do(id)
}

// clickPod selects the pod of a row, or opens it if it is selected.
func (m *model) clickPod(id paneID, row int) tea.Cmd {
	was := m.selected
	m.setFocus(id)
	if row >= m.panes[id].len(m.frame.Board) {
		return nil
	}
	m.selectRow(&m.panes[id], row)
	if was == m.selected {
		return m.do(keymap.Open)
	}
	return nil
}

// clickLog selects the move in line y, or goes to its moment if it is selected.
func (m *model) clickLog(y int) tea.Cmd {
	focused, was := m.focus == logPane, m.log.cursor
	m.setFocus(logPane)
	lines := m.logView().visible(m.layout.log.h - 1)
	i := y - m.layout.log.y - 1
	if i < 0 || i >= len(lines) {
		return nil
	}
	m.log.cursor, m.log.bottom, m.log.scrolled = lines[i], lines[len(lines)-1], true
	m.selected = selection{m.frame.Log.At(lines[i]).Pod.Key, true}
	if focused && was == lines[i] {
		return m.do(keymap.Open)
	}
	return nil
}

// clickList chooses or marks the entry in line y of the open list.
func (m *model) clickList(x, y int) tea.Cmd {
	inside := m.list.inside(m.listRoom())
	if !inside.contains(x, y) {
		return nil
	}
	n := m.list.top + y - inside.y
	if n >= len(m.list.shown) || m.list.items[m.list.shown[n]].heading {
		return nil
	}
	m.list.cursor = n
	if m.list.marked != nil {
		return m.list.do(m, keymap.ListMark)
	}
	return m.list.do(m, keymap.ListChoose)
}

// clickChart selects the lane or the move in line y, or opens it if it is selected.
func (m *model) clickChart(x, y int) tea.Cmd {
	switch m.zoom {
	case zoomLanes:
		row := y - m.layout.chart.y - 2
		if row < 0 || row >= laneRows(m.layout.chart.h) {
			return nil
		}
		was := m.selected
		m.selectLane(m.lanes.top + row)
		if was == m.selected {
			return m.do(keymap.Open)
		}
	case zoomTimeline:
		if i, ok := m.timeline.moveNear(x - timelineNames); ok && y < m.layout.chart.y+m.layout.chart.h/2 {
			m.timeline.move(i - m.timeline.cursor)
		}
	}
	return nil
}

// drag goes on with what the click began.
func (m *model) drag(mouse tea.Mouse) {
	if m.scrubbing {
		m.scrub(mouse.X)
	}
}

// scrub goes to the time at column x of the progress line.
func (m *model) scrub(x int) {
	r := m.spots.progress
	share := float64(min(max(x-r.x, 0), r.w-1)) / float64(max(r.w-1, 1))
	m.session.Seek(m.frame.Start.Add(time.Duration(share * float64(m.frame.End.Sub(m.frame.Start)))))
}

// wheelRows is how far one click of the wheel scrolls.
const wheelRows = 3

// wheel scrolls what is below the mouse, and a chart in time if it is turned sideways or with shift, or in
// scale with ctrl. On the board the selection stays.
func (m *model) wheel(mouse tea.Mouse) {
	n, sideways := wheelRows, mouse.Mod&tea.ModShift != 0
	switch mouse.Button {
	case tea.MouseWheelUp:
		n = -n
	case tea.MouseWheelDown:
	case tea.MouseWheelLeft:
		n, sideways = -n, true
	case tea.MouseWheelRight:
		sideways = true
	default:
		return
	}
	switch {
	case m.list != nil:
		m.list.move(n)
	case m.prompt != nil:
	case m.zoom.chart() && mouse.Mod&tea.ModCtrl != 0:
		m.window().scale(n / wheelRows)
	case m.zoom.chart() && sideways:
		m.window().scroll(n)
	case sideways:
	case m.zoom == zoomTimeline:
		m.moveInChart(n / wheelRows)
	case m.zoom.chart():
		m.moveInChart(n)
	case m.zoom == zoomDetail:
		m.move(n)
	case m.layout.log.contains(mouse.X, mouse.Y):
		m.log.move(m.frame.Log, n)
	default:
		if id, _, ok := m.podAt(mouse.X, mouse.Y); ok {
			m.panes[id].top, m.panes[id].loose = m.panes[id].top+n, true
		}
	}
}
