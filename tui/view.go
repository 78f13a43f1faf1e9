package tui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/export"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/header"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/theme"
	"github.com/schedq/schedq/tui/widget"
)

// The smallest terminal that the screen fits into.
const (
	minWidth  = 60
	minHeight = 20
)

// layout says where the page is, and what stands around it.
type layout struct {
	tooSmall bool // for anything but one sentence
	header   []header.Line
	middle   canvas.Rect
	// page and dock are the parts of the middle that the page on top has, and the one that is docked beneath it.
	page, dock canvas.Rect
	status     canvas.Rect
	bar        canvas.Rect
}

// arrange divides the screen.
func (m *model) arrange() layout {
	w, h := m.Width, m.Height
	if w < minWidth || h < minHeight {
		return layout{tooSmall: true}
	}
	lines := header.Lines(h, m.Frame.Fork != nil, m.Frame.SchedulerCounts != nil)
	if m.lesson != nil {
		lines = header.AboveLesson(m.Frame.Fork != nil)
	}
	y := len(lines)
	l := layout{header: lines, middle: canvas.At(0, y, w, h-2-y), status: canvas.At(0, h-2, w, 1), bar: canvas.At(0, h-1, w, 1)}
	l.page = l.middle
	if m.Pages.Docked() != nil {
		l.page.H -= m.outcome.Height(w, l.middle.H)
		l.dock = canvas.At(0, l.page.Y+l.page.H, w, l.middle.H-l.page.H)
	}
	return l
}

// View implements tea.Model. What it returns was drawn by Update.
func (m *model) View() tea.View { return m.shown }

// view draws the screen and says what else the terminal is to do.
func (m *model) view() tea.View {
	v := tea.NewView(m.draw())
	v.AltScreen = true
	if m.mouse.on {
		v.MouseMode = tea.MouseModeCellMotion
	}
	if m.options.titled {
		v.WindowTitle = m.title()
	}
	if w := m.Working(); w != nil {
		state := tea.ProgressBarIndeterminate
		if w.Share() > 0 {
			state = tea.ProgressBarDefault
		}
		v.ProgressBar = tea.NewProgressBar(state, int(w.Share()*100))
	}
	if top := m.Over.Top(); top != nil && !m.layout.tooSmall {
		if x, shown := top.Caret(m.layout.status.W); shown {
			v.Cursor = tea.NewCursor(x, m.layout.status.Y)
		}
	}
	return v
}

// title is the terminal window's: what is shown, as far as a window's title tells it.
func (m *model) title() string {
	title := "schedq: " + canvas.Truncate(format.Safe(string(m.Frame.Name)), 60)
	if m.Frame.Fork != nil && m.play == nil {
		title += " (what-if)"
	}
	return title
}

// drawn is the screen as it is now.
func (m *model) drawn() export.Drawn {
	m.settle()
	drawn := export.Drawn{Text: m.draw(), W: m.Width, H: m.Height, On: m.looks.paper()}
	if m.options.NoColor { // which the terminal leaves out, and not the canvas
		drawn.Text = m.canvas.String(theme.NewPalette(theme.None, true, m.Projector, false), m.looks.translate)
	}
	return drawn
}

// draw draws the whole screen.
func (m *model) draw() string {
	m.canvas.Reset(m.Width, m.Height)
	all := m.canvas.Area()
	switch {
	case m.layout.tooSmall:
		m.drawTooSmall(all)
	case m.lesson != nil && m.lesson.Blank: // nothing
	default:
		m.drawIn(all)
	}
	return m.canvas.String(m.looks.palette, m.looks.translate)
}

// drawIn draws the page and what stands around it.
func (m *model) drawIn(all canvas.Area) {
	l := m.layout
	part := func(r canvas.Rect) canvas.Area { return all.Sub(r.X, r.Y, r.W, r.H) }
	middle, status := part(l.middle), part(l.status)

	m.mouse.progress = header.Header{Frame: m.Frame, Keys: m.Keys, Alone: m.play != nil, Lines: l.header}.Draw(all.Sub(0, 0, all.W, l.middle.Y))
	m.Pages.Shown().Draw(part(l.page))
	if d := m.Pages.Docked(); d != nil {
		d.Draw(part(l.dock))
	}
	if !m.Over.Typing() {
		m.drawStatus(status)
	}
	m.mouse.keys = m.keyBar().Draw(part(l.bar), m.mouse.keys[:0])
	for _, o := range m.Over.All() {
		o.Draw(middle, status)
	}
}

// drawTooSmall says how much room there is and how much is needed.
func (m *model) drawTooSmall(a canvas.Area) {
	text := fmt.Sprintf("schedq needs a terminal of %d×%d. This one is %d×%d: make it larger, or press %s to quit.",
		minWidth, minHeight, m.Width, m.Height, m.Keys.Say("{quit}"))
	for y, line := range canvas.Wrap(text, a.W) {
		a.Text(0, y, theme.Plain, line)
	}
}

// forkKeys are the keys of what one can do in a what-if, and nowhere else without making one.
func (m *model) forkKeys() []keymap.Binding {
	var keys []keymap.Binding
	for _, id := range []keymap.ID{keymap.Pop, keymap.Fits, keymap.Reject, keymap.InjectEvent, keymap.AddPod, keymap.Undo, keymap.Compare, keymap.WhatIf} {
		if b, ok := m.Keys.ByID(id); ok && m.Actions[id].Refusal() == "" {
			keys = append(keys, m.Named(b))
		}
	}
	return keys
}

// keyBar returns the keys that can be used now.
func (m *model) keyBar() widget.KeyBar {
	var bar widget.KeyBar
	if top := m.Over.Top(); top != nil {
		for _, b := range m.Keys.OnBar(top.Context()) {
			if top.Means(b.ID) {
				bar.Shown = append(bar.Shown, b)
			}
		}
		return bar
	}
	inChart := m.Pages.InChart()
	if inChart {
		bar.Shown = append(bar.Shown, m.Keys.OnBar(keymap.Chart)...)
		if back, ok := m.Keys.ByID(keymap.Back); ok {
			bar.Shown = append(bar.Shown, back) // the way out is never far
		}
	}
	inLesson := m.lesson != nil && !inChart && m.Pages.Top() != page.Page(m.board.Why)
	if inLesson {
		bar.Shown = append(bar.Shown, m.lesson.Bar()...)
	}
	if m.Frame.Fork != nil && !inChart && m.lesson == nil {
		if back, ok := m.Keys.ByID(keymap.Back); ok && m.Pages.Covered() {
			bar.Shown = append(bar.Shown, back)
		}
		bar.Shown = append(bar.Shown, m.forkKeys()...)
	}
	for _, b := range m.onBar {
		switch {
		case slices.ContainsFunc(bar.Shown, func(shown keymap.Binding) bool { return shown.ID == b.ID }),
			m.Actions[b.ID].Refusal() != "",
			inLesson && len(b.Keys) > 0 && m.lesson.Takes(b.Keys[0]),
			b.ID == keymap.RowDown && m.Selected.Any, // who has selected a pod knows how to
			b.ID == keymap.Back && inChart:           // it is there already
			continue
		}
		if b = m.Named(b); b.ID == keymap.Help || b.ID == keymap.Quit {
			bar.Always = append(bar.Always, b)
		} else {
			bar.Shown = append(bar.Shown, b)
		}
	}
	return bar
}
