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

// The smallest terminal that the screen fits.
const (
	minWidth  = 60
	minHeight = 20
)

// layout divides the screen.
type layout struct {
	tooSmall bool // draw one sentence only
	lines    []header.Line
	header   canvas.Rect
	middle   canvas.Rect
	// page and dock are the parts of middle for the top page and the docked page.
	page, dock canvas.Rect
	// over is the area of overlays.
	over   canvas.Rect
	status canvas.Rect
	bar    canvas.Rect
}

// foot is the height of the status line and the key bar.
const foot = 2

// arrange returns the layout of the screen, or of one side of it.
func (m *model) arrange() layout {
	w, h := m.Width, m.Height
	screen, room := canvas.At(0, 0, w, h), canvas.At(0, 0, w, h-foot)
	if m.split.two() {
		screen, room = m.split.screen, m.split.part(m)
	}
	if screen.W < minWidth || screen.H < minHeight {
		return layout{tooSmall: true}
	}
	lines := header.Lines(h, m.Frame.Fork != nil, m.Frame.SchedulerCounts != nil)
	if m.lesson != nil {
		lines = header.AboveLesson(m.Frame.Fork != nil)
	}
	l := layout{
		lines: lines, header: canvas.At(room.X, room.Y, room.W, len(lines)),
		middle: canvas.At(room.X, room.Y+len(lines), room.W, room.H-len(lines)),
		status: canvas.At(0, screen.H-2, screen.W, 1), bar: canvas.At(0, screen.H-1, screen.W, 1),
	}
	l.page, l.over = l.middle, l.middle
	if m.split.two() {
		l.over = canvas.At(0, 0, screen.W, screen.H-foot)
	}
	if m.Pages.Docked() != nil {
		l.page.H -= m.outcome.Height(room.W, l.middle.H)
		l.dock = canvas.At(room.X, l.page.Y+l.page.H, room.W, l.middle.H-l.page.H)
	}
	return l
}

// View implements tea.Model. Update has drawn it.
func (m *model) View() tea.View { return m.shown }

// view draws the screen and sets the terminal's modes.
func (m *model) view() tea.View {
	v := tea.NewView(m.draw().Linked(m.looks.palette, m.looks.translate, m.looks.links))
	v.AltScreen = true
	if m.mouse.on {
		v.MouseMode = tea.MouseModeCellMotion
	}
	v.ReportFocus = m.options.Notifications && m.options.notifier != nil
	if m.options.titled {
		v.WindowTitle = m.title()
	}
	if w := m.CurrentWork(); w != nil {
		state := tea.ProgressBarIndeterminate
		if w.Share() > 0 {
			state = tea.ProgressBarDefault
		}
		v.ProgressBar = tea.NewProgressBar(state, int(w.Share()*100))
	}
	if top := m.Overlays.Top(); top != nil && !m.layout.tooSmall {
		if x, shown := top.Caret(m.layout.status.W); shown {
			v.Cursor = tea.NewCursor(x, m.layout.status.Y)
		}
	}
	return v
}

// title returns the title of the terminal's window.
func (m *model) title() string {
	title := "schedq: " + canvas.Truncate(format.Safe(string(m.Frame.Name)), 60)
	if m.Frame.Fork != nil && m.play == nil {
		title += " (what-if)"
	}
	return title
}

// drawn returns the screen for export.
func (m *model) drawn() export.Drawn {
	palette := m.looks.palette
	if m.options.NoColor { // otherwise the terminal's colour profile does it
		palette = theme.NewPalette(theme.None, true, m.Projector, false)
	}
	m.settleAll()
	all := m.draw()
	size := all.Area()
	return export.Drawn{Text: all.String(palette, m.looks.translate), W: size.W, H: size.H, On: m.looks.paper()}
}

// draw draws the whole screen.
func (m *model) draw() *canvas.Canvas {
	if m.split.two() {
		return m.split.draw()
	}
	m.canvas.Reset(m.Width, m.Height)
	all := m.canvas.Area()
	switch {
	case m.layout.tooSmall:
		m.drawTooSmall(all)
	case m.lesson != nil && m.lesson.Blank: // nothing
	default:
		m.drawPage(all)
		m.drawAround(all)
	}
	return &m.canvas
}

// drawPage draws the page and the header.
func (m *model) drawPage(all canvas.Area) {
	l := m.layout
	head := header.Header{Frame: m.Frame, Keys: m.Keys, Alone: m.play != nil, Follows: m.split.leads(m), Lines: l.lines}
	m.mouse.progress = head.Draw(part(all, l.header))
	m.mouse.progress.X, m.mouse.progress.Y = m.mouse.progress.X+l.header.X, m.mouse.progress.Y+l.header.Y
	m.Pages.Shown().Draw(part(all, l.page))
	if d := m.Pages.Docked(); d != nil {
		d.Draw(part(all, l.dock))
	}
}

// part returns the part r of all.
func part(all canvas.Area, r canvas.Rect) canvas.Area { return all.Sub(r.X, r.Y, r.W, r.H) }

// drawAround draws the status line, the key bar and the overlays.
func (m *model) drawAround(all canvas.Area) {
	l := m.layout
	over, status := part(all, l.over), part(all, l.status)
	if !m.Overlays.Typing() {
		m.drawStatus(status)
	}
	m.bar = m.keyBar(widget.KeyBar{Shown: m.bar.Shown[:0], Always: m.bar.Always[:0]})
	m.mouse.keys = m.bar.Draw(part(all, l.bar), m.mouse.keys[:0])
	for _, o := range m.Overlays.All() {
		o.Draw(over, status)
	}
}

// drawTooSmall asks for a larger terminal.
func (m *model) drawTooSmall(a canvas.Area) {
	text := fmt.Sprintf("schedq needs a terminal of %d×%d. This one is %d×%d: make it larger, or press %s to quit.",
		minWidth, minHeight, m.Width, m.Height, m.Keys.Say("{quit}"))
	for y, line := range canvas.Wrap(text, a.W) {
		a.Text(0, y, theme.Plain, line)
	}
}

// forkKeys returns the bindings that matter most in a what-if: the decisions, the keys that lead to changes and to other what-ifs,
// and the way out.
func (m *model) forkKeys() []keymap.Binding {
	var keys []keymap.Binding
	add := func(id keymap.ID) {
		if b, ok := m.Keys.ByID(id); ok && m.Actions[id].Refusal() == "" {
			keys = append(keys, m.Named(b))
		}
	}
	lead := func(to keymap.ID) {
		if l, ok := m.Keys.LeaderOf(to); ok {
			add(l.ID)
		}
	}
	add(keymap.Pop)
	add(keymap.Fits)
	add(keymap.Reject)
	lead(keymap.InjectEvent)
	add(keymap.Undo)
	lead(keymap.Compare)
	add(keymap.WhatIf)
	return keys
}

// keyBar adds the available keys to an empty bar.
func (m *model) keyBar(bar widget.KeyBar) widget.KeyBar {
	if top := m.Overlays.Top(); top != nil {
		for _, b := range m.Keys.OnBar(top.Context()) {
			if i := slices.IndexFunc(b.Keys, func(key string) bool { return top.Means(b.ID, key) }); i >= 0 {
				b.Keys = b.Keys[i:]
				bar.Shown = append(bar.Shown, b)
			}
		}
		return bar
	}
	if m.split.two() {
		for _, b := range m.Keys.OnBar(keymap.Sides) {
			bar.Shown = append(bar.Shown, m.Named(b))
		}
	}
	inChart := m.Pages.InChart() || m.Pages.Top().Context() == keymap.Cycle
	if inChart {
		bar.Shown = append(bar.Shown, m.Keys.OnBar(m.Pages.Top().Context())...)
		if back, ok := m.Keys.ByID(keymap.Back); ok {
			bar.Shown = append(bar.Shown, back) // the way out is always shown
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
	for _, b := range m.Keys.OnBar(keymap.Board) {
		switch {
		case slices.ContainsFunc(bar.Shown, func(shown keymap.Binding) bool { return shown.ID == b.ID }),
			m.Actions[b.ID].Refusal() != "",
			inLesson && len(b.Keys) > 0 && m.lesson.Takes(b.Keys[0]),
			b.ID == keymap.RowDown && m.Selected.Any, // known by now
			b.ID == keymap.Back && inChart,           // already there
			b.ID == keymap.NextPane && m.split.two(): // the key has another meaning
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
