package tui

import (
	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session/filter"
)

func (m *model) addLooking(all map[keymap.ID]action) {
	for id, pane := range map[keymap.ID]paneID{
		keymap.FocusActive: activePane, keymap.FocusBackoff: backoffPane, keymap.FocusUnsched: unschedulablePane,
		keymap.FocusFlight: flightPane, keymap.FocusLog: logPane,
	} {
		all[id] = command(func() { m.setFocus(pane) })
	}
	all[keymap.NextPane] = command(func() { m.setFocus((m.focus + 1) % paneCount) })
	all[keymap.PreviousPane] = command(func() { m.setFocus((m.focus + paneCount - 1) % paneCount) })
	const far = 1 << 30
	all[keymap.RowDown] = command(func() { m.move(1) })
	all[keymap.RowUp] = command(func() { m.move(-1) })
	all[keymap.PageDown] = command(func() { m.move(m.page()) })
	all[keymap.PageUp] = command(func() { m.move(-m.page()) })
	all[keymap.FirstRow] = command(func() { m.move(-far) })
	all[keymap.LastRow] = command(func() { m.move(far) })

	open := command(m.open).unless(func() string {
		switch {
		case m.zoom.chart():
			return m.cannotOpenInChart()
		case m.zoom == zoomDetail:
			return ""
		case m.focus == logPane && m.log.cursor >= m.frame.Log.Len():
			return "no pod has moved yet"
		case m.focus != logPane && !m.selected.any:
			return nothingSelected
		}
		return ""
	})
	open.name = func() string {
		switch {
		case m.zoom == zoomLanes:
			return "timeline"
		case m.zoom == zoomDetail:
			return "close"
		case m.zoom == zoomTimeline, m.focus == logPane:
			return "go there"
		default:
			return "why?"
		}
	}
	all[keymap.Open] = open
	all[keymap.Needs] = command(func() {
		if m.zoom != zoomDetail {
			m.zoom, m.under, m.offset = zoomDetail, m.chartShown(), 0
		}
		m.session.Diagnose(m.selected.key)
	}).unless(m.notThere)
	all[keymap.Zoom] = command(func() {
		m.under = zoomNone
		if m.zoom == zoomNone {
			m.zoom = zoomPane
		} else {
			m.zoom = zoomNone
		}
	})
	all[keymap.Back] = command(m.back).unless(func() string {
		if m.zoom == zoomNone && m.frame.Filter == "" && m.frame.Searching == "" {
			return "nothing is open and no filter is set"
		}
		return ""
	})
}

// setFocus goes to a pane. A zoomed detail closes, so that the pane can be seen.
func (m *model) setFocus(p paneID) {
	m.focus, m.under = p, zoomNone
	if p <= unschedulablePane {
		m.tab = p
	}
	if m.zoom == zoomDetail || m.zoom == zoomCompare || m.zoom.chart() {
		m.zoom = zoomNone
	}
}

// open says all about the selected pod; in the log it goes to the moment of the selected move.
func (m *model) open() {
	switch {
	case m.zoom.chart():
		m.openInChart()
	case m.zoom == zoomDetail:
		m.zoom = zoomNone
	case m.focus == logPane:
		t := m.frame.Log.At(m.log.cursor)
		m.selected = selection{t.Pod.Key, true}
		m.session.Pause()
		m.session.Seek(t.Time)
		m.log.scrolled = false
	default:
		m.zoom, m.offset = zoomDetail, 0
		m.session.DiagnoseIfQuick(m.selected.key)
	}
}

// back ends a search, closes what is open, or drops the filter.
func (m *model) back() {
	if m.frame.Searching != "" {
		m.session.Pause()
		return
	}
	if m.zoom != zoomNone {
		m.zoom, m.under = m.under, zoomNone
		return
	}
	m.session.SetFilter(filter.Filter{})
}

// move moves the cursor of the pane in focus, or scrolls the zoomed detail.
func (m *model) move(n int) {
	switch {
	case m.zoom.chart():
		m.moveInChart(n)
	case m.zoom == zoomDetail, m.zoom == zoomCompare:
		m.offset = max(0, m.offset+n)
	case m.focus == logPane:
		m.moveInLog(n)
	default:
		r := &m.panes[m.focus]
		m.selectRow(r, m.startOf(r, n)+n)
	}
}

// startOf is the row to count from. Without a selection in the pane, the first key selects the row at the
// cursor, so that no pod is passed over.
func (m *model) startOf(r *rows, n int) int {
	p := r.at(m.frame.Board, r.cursor)
	if p == nil || m.selected.is(p) || n != 1 {
		return r.cursor
	}
	return r.cursor - 1
}

// selectRow selects the i-th pod of r, or the nearest.
func (m *model) selectRow(r *rows, i int) {
	r.cursor = min(max(i, 0), max(r.len(m.frame.Board)-1, 0))
	r.loose = false
	if p := r.at(m.frame.Board, r.cursor); p != nil {
		m.selected = selection{p.Key, true}
	}
}

// maxLogSteps bounds how far one key goes in the log, where moves are counted one by one.
const maxLogSteps = 200

func (m *model) moveInLog(n int) {
	log := m.frame.Log
	switch {
	case log.Len() == 0:
		return
	case n > maxLogSteps:
		m.log = logRows{cursor: log.Len() - 1}
	case n < -maxLogSteps:
		m.log = logRows{scrolled: true, cursor: max(behind(log, -1), 0)}
	default:
		m.log.move(log, n)
	}
	m.selected = selection{log.At(m.log.cursor).Pod.Key, true}
}

// page is how many rows the pane in focus shows.
func (m *model) page() int {
	switch {
	case m.zoom.chart():
		return max(1, laneRows(m.layout.chart.h)-1)
	case m.zoom == zoomDetail:
		return max(1, m.layout.detail.h-2)
	case m.zoom == zoomCompare:
		return max(1, m.layout.compare.h-comparisonHead-1)
	case m.focus == logPane:
		return max(1, m.layout.log.h-2)
	case m.focus == flightPane:
		return flightRows(m.layout.flight.w)
	default:
		return max(1, paneRows(m.layout.panes[m.focus].h, m.layout.spacing)-1)
	}
}
