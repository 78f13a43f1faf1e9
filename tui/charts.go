package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/canvas"
)

// chart reports whether z is one of the charts.
func (z zoom) chart() bool { return z >= zoomTimeline }

// addCharts adds what opens charts and moves in them.
func (m *model) addCharts(all map[keymap.ID]action) {
	toggle := func(z zoom, name string) action {
		a := command(func() { m.toggleChart(z) })
		a.name = func() string {
			if m.zoom == z {
				return "close " + name
			}
			return name
		}
		return a
	}
	all[keymap.Timeline] = toggle(zoomTimeline, "timeline").unless(func() string {
		if !m.selected.any && m.zoom != zoomTimeline {
			return nothingSelected
		}
		return ""
	})
	all[keymap.Lanes] = toggle(zoomLanes, "lanes")
	all[keymap.Plots] = toggle(zoomPlots, "plots")

	inChart := func(do func(*window)) action {
		return command(func() { do(m.window()) }).unless(func() string {
			if !m.zoom.chart() {
				return "only in a chart: v, l and P open one"
			}
			return ""
		})
	}
	all[keymap.ChartEarlier] = inChart(func(w *window) { w.scroll(-max(1, w.shown.cells/4)) })
	all[keymap.ChartLater] = inChart(func(w *window) { w.scroll(max(1, w.shown.cells/4)) })
	all[keymap.ChartCloser] = inChart(func(w *window) { w.scale(-1) })
	all[keymap.ChartFarther] = inChart(func(w *window) { w.scale(1) })
	all[keymap.ChartFit] = inChart((*window).fit)
}

// toggleChart opens a chart, or closes it if it is open. One that was opened from another chart closes to
// that one.
func (m *model) toggleChart(z zoom) {
	if m.zoom == z {
		m.back()
		return
	}
	m.under, m.zoom = m.chartShown(), z
}

// chartShown is the chart that is open, or zoomNone.
func (m *model) chartShown() zoom {
	if m.zoom.chart() {
		return m.zoom
	}
	return zoomNone
}

// window is that of the chart that is open.
func (m *model) window() *window {
	switch m.zoom {
	case zoomTimeline:
		return &m.timeline.window
	case zoomLanes:
		return &m.lanes.window
	default:
		return &m.plots.window
	}
}

// settleChart puts what the open chart shows in its place.
func (m *model) settleChart() {
	r := m.layout.chart
	switch m.zoom {
	case zoomTimeline:
		m.timeline.settle(m.frame, m.selected, r.w)
	case zoomLanes:
		m.lanes.settle(m.frame, m.selected.pod(m.frame), r.w, r.h)
	case zoomPlots:
		m.plots.settle(m.frame, r.w)
	}
}

// drawChart draws the chart that is open.
func (m *model) drawChart(a canvas.Area) {
	switch m.zoom {
	case zoomTimeline:
		timelinePane{m.frame, &m.timeline, m.selected}.Draw(a)
	case zoomLanes:
		lanesPane{m.frame, &m.lanes, m.selected}.Draw(a)
	case zoomPlots:
		plotsPane{m.frame, &m.plots}.Draw(a)
	}
}

// moveInChart moves the cursor of the open chart by n.
func (m *model) moveInChart(n int) {
	switch m.zoom {
	case zoomTimeline:
		m.timeline.move(n)
	case zoomLanes:
		m.selectLane(m.lanes.cursor + n)
	}
}

// selectLane selects the pod of the i-th lane, or of the nearest.
func (m *model) selectLane(i int) {
	lanes := m.frame.Board.Lanes(m.lanes.shown.from)
	m.lanes.cursor, m.lanes.placed = min(max(i, 0), max(lanes.Len()-1, 0)), true
	if p := lanes.At(m.lanes.cursor); p != nil {
		m.selected = selection{p.Key, true}
	}
}

// openInChart does what enter means in the open chart.
func (m *model) openInChart() {
	switch m.zoom {
	case zoomLanes:
		m.toggleChart(zoomTimeline)
	case zoomTimeline:
		if t := m.timeline.selected(); t != nil {
			m.timeline.follow = true // it is the newest then
			m.session.Pause()
			m.session.Seek(t.Time)
		}
	}
}

// cannotOpenInChart is why enter means nothing.
func (m *model) cannotOpenInChart() string {
	switch {
	case m.zoom == zoomPlots:
		return "the plots are of all pods: l shows their lanes, esc closes"
	case m.zoom == zoomLanes && !m.selected.any:
		return nothingSelected
	case m.zoom == zoomTimeline && m.timeline.selected() == nil:
		return "no move is selected"
	}
	return ""
}

// nextTheme draws in the theme after the present one.
func (m *model) nextTheme() tea.Cmd {
	m.theme = m.theme.next()
	m.paint()
	return m.tell(notice{text: "theme " + string(m.theme) + ", T: next"})
}

// paint makes the palette of the theme.
func (m *model) paint() { m.palette = newPalette(m.theme, m.dark, m.projector) }

// addComfort adds what makes the screen fit a person and a room.
func (m *model) addComfort(all map[keymap.ID]action) {
	all[keymap.Theme] = action{do: m.nextTheme, cannot: func() string {
		if m.options.NoColor {
			return "colours are off: NO_COLOR is set, or --no-color was given"
		}
		return ""
	}}
	all[keymap.Projector] = action{do: func() tea.Cmd {
		m.projector = !m.projector
		m.paint()
		if m.projector {
			return m.tell(notice{text: "projector: large counts, bold text, and the keys that are pressed; H ends it"})
		}
		return nil
	}}
}
