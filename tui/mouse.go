package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/header"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/widget"
)

// mouse has the state of the mouse, and the clickable places around the page as drawn last.
type mouse struct {
	// on is false while the terminal has the mouse. scrubbing is true while the mouse drags the progress line.
	on, scrubbing bool
	// progress is the progress line, keys are the keys of the bar.
	progress canvas.Rect
	keys     []widget.KeySpot
}

// moused handles a mouse message.
func (m *model) moused(msg tea.MouseMsg) tea.Cmd {
	at := msg.Mouse()
	switch msg.(type) {
	case tea.MouseClickMsg:
		m.stale = true
		return m.click(at)
	case tea.MouseMotionMsg:
		if m.stale = m.mouse.scrubbing; m.stale {
			m.scrub(at.X)
		}
	case tea.MouseReleaseMsg:
		m.mouse.scrubbing = false
	case tea.MouseWheelMsg:
		m.stale = true
		m.wheel(at)
	}
	return nil
}

// click clicks on the key bar, the progress line, an overlay or a page.
func (m *model) click(at tea.Mouse) tea.Cmd {
	if at.Button != tea.MouseLeft || m.layout.tooSmall {
		return nil
	}
	if m.lesson != nil && m.lesson.Blank {
		m.lesson.Blank = false // like any key
		return nil
	}
	middle, over, bar := m.layout.middle, m.layout.over, m.layout.bar
	for _, k := range m.mouse.keys {
		if k.Contains(at.X-bar.X, at.Y-bar.Y) {
			m.pressed = keypress{}
			return m.Do(k.ID)
		}
	}
	if top := m.Overlays.Top(); top != nil {
		if id, hit := top.Click(at.X-over.X, at.Y-over.Y, over.W, over.H); hit {
			return m.Do(id)
		}
		return nil
	}
	switch {
	case m.mouse.progress.Contains(at.X, at.Y):
		m.mouse.scrubbing = true
		m.scrub(at.X)
	case m.layout.dock.Contains(at.X, at.Y):
		return m.Pages.Docked().Click(at.X-m.layout.dock.X, at.Y-m.layout.dock.Y)
	case middle.Contains(at.X, at.Y):
		return m.Pages.Shown().Click(at.X-middle.X, at.Y-middle.Y)
	}
	return nil
}

// scrub seeks to column x of the progress line.
func (m *model) scrub(x int) {
	r := m.mouse.progress
	share := float64(min(max(x-r.X, 0), r.W-1)) / float64(max(header.ReadCells(m.Frame.Reading, r.W)-1, 1))
	m.Session.Seek(m.Frame.Start.Add(time.Duration(share * float64(m.Frame.End.Sub(m.Frame.Start)))))
}

// wheel scrolls what is under the mouse.
func (m *model) wheel(at tea.Mouse) {
	t := page.Turn{
		X: at.X - m.layout.middle.X, Y: at.Y - m.layout.middle.Y, Rows: page.TurnRows,
		Sideways: at.Mod&tea.ModShift != 0, Scaling: at.Mod&tea.ModCtrl != 0,
	}
	switch at.Button {
	case tea.MouseWheelUp:
		t.Rows = -page.TurnRows
	case tea.MouseWheelDown:
	case tea.MouseWheelLeft:
		t.Rows, t.Sideways = -page.TurnRows, true
	case tea.MouseWheelRight:
		t.Sideways = true
	default:
		return
	}
	if m.Overlays.Top() != nil {
		for _, o := range m.Overlays.All() {
			o.Wheel(t.Rows)
		}
		return
	}
	if m.layout.dock.Contains(at.X, at.Y) {
		m.Pages.Docked().Wheel(t)
		return
	}
	m.Pages.Shown().Wheel(t)
}
