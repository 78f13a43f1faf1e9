package tui

import (
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/theme"
)

// splitView is the program's model once a session is loaded: one screen, or two sessions that share the terminal. Each has its own
// model with all actions. Keys go to the front session, and the other follows its time.
type splitView struct {
	all   []*model // one or two
	front int
	// screen is the whole terminal. parts are the areas above the footer, divider is between them.
	screen  canvas.Rect
	parts   [2]canvas.Rect
	divider canvas.Rect

	times     [2]timeSide
	alignment Alignment
	// sent is the moment that the other session was last sent to. arrived is false until it gets there.
	sent    time.Time
	arrived bool

	canvas canvas.Canvas
	shown  tea.View
}

// newSplitView returns the program's model with one session.
func newSplitView(m *model) *splitView {
	s := &splitView{all: []*model{m}}
	m.split = s
	return s
}

// two reports whether two sessions are shown. s may be nil.
func (s *splitView) two() bool { return s != nil && len(s.all) == 2 }

// other returns the model beside m.
func (s *splitView) other(m *model) *model { return s.all[1-s.index(m)] }

func (s *splitView) index(m *model) int { return slices.Index(s.all, m) }

// part returns the part of the terminal that m has.
func (s *splitView) part(m *model) canvas.Rect { return s.parts[s.index(m)] }

// leads reports whether another session determines the time of m.
func (s *splitView) leads(m *model) bool {
	return s.two() && s.index(m) != s.front && s.alignment != Apart
}

// Init implements tea.Model.
func (s *splitView) Init() tea.Cmd {
	m := s.all[0]
	if second := m.options.Beside; second != nil {
		return tea.Batch(m.Init(), s.open(opening{name: second.Name, session: second.Session, source: second.Source}))
	}
	return m.Init()
}

// crashed implements screen.
func (s *splitView) crashed() *page.Crash {
	for _, m := range s.all {
		if m.crash != nil {
			return m.crash
		}
	}
	return nil
}

// leave implements screen: it remembers how each source was viewed.
func (s *splitView) leave() error {
	var all error
	for _, m := range s.all {
		all = errors.Join(all, m.leave())
	}
	return all
}

// View implements tea.Model. Update has drawn it.
func (s *splitView) View() tea.View {
	if s.two() {
		return s.shown
	}
	return s.all[0].View()
}

// Update implements tea.Model. It redraws the screen if necessary.
func (s *splitView) Update(msg tea.Msg) (same tea.Model, cmd tea.Cmd) {
	same = s // also after a panic
	defer s.all[0].guard(&cmd)
	if size, ok := msg.(tea.WindowSizeMsg); ok {
		s.screen = canvas.At(0, 0, size.Width, size.Height)
	}
	if !s.two() {
		_, cmd = s.all[0].Update(msg)
	} else {
		cmd = s.update(msg)
	}
	switch {
	case !s.two():
		s.all[0].refresh()
	case s.all[0].stale || s.all[1].stale:
		s.settle()
		s.shown = s.all[s.front].view()
		s.all[0].stale, s.all[1].stale = false, false
	}
	return s, cmd
}

// update passes msg to the session that it is for.
func (s *splitView) update(msg tea.Msg) (cmd tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.place()
	case frameMsg: // the models know their own
		cmd = tea.Batch(s.all[0].update(msg), s.all[1].update(msg))
		s.follow(msg)
	case tea.MouseMsg:
		cmd = s.moused(msg)
	default:
		cmd = s.all[s.front].update(msg)
		if _, whose := msg.(page.Ready); whose && s.two() {
			s.all[0].stale, s.all[1].stale = true, true
		}
	}
	return cmd
}

// place divides the terminal.
func (s *splitView) place() {
	if !s.two() {
		m := s.all[0]
		m.Width, m.Height, m.stale = s.screen.W, s.screen.H, true
		return
	}
	s.parts, s.divider = splitRects(s.screen.W, s.screen.H-foot)
	for i, m := range s.all {
		m.Width, m.Height, m.stale = s.parts[i].W, s.parts[i].H+foot, true
	}
}

// settle lays out both sessions.
func (s *splitView) settle() {
	for _, m := range s.all {
		m.settle()
	}
}

// draw draws both sessions, and the footer and overlays of the front one.
func (s *splitView) draw() *canvas.Canvas {
	s.canvas.Reset(s.screen.W, s.screen.H)
	all, front := s.canvas.Area(), s.all[s.front]
	if front.layout.tooSmall {
		front.drawTooSmall(all)
		return &s.canvas
	}
	part(all, s.divider).Fill(theme.Dim, "│")
	for i, m := range s.all {
		m.drawPage(all)
		title := part(all, s.parts[i]).Row(0)
		if m == front {
			title.Text(0, 0, theme.Accent|canvas.Bold, theme.GlyphSelected)
		} else {
			title.Restyle(theme.Dim)
		}
	}
	front.drawAround(all)
	return &s.canvas
}

// moused focuses the session that is clicked, and passes the message on.
func (s *splitView) moused(msg tea.MouseMsg) tea.Cmd {
	at := msg.Mouse()
	over := s.front
	if i := slices.IndexFunc(s.parts[:], func(r canvas.Rect) bool { return r.Contains(at.X, at.Y) }); i >= 0 {
		over = i
	}
	if s.all[s.front].Overlays.Top() != nil {
		over = s.front // overlays cover both
	}
	if _, click := msg.(tea.MouseClickMsg); click && over != s.front {
		s.goTo(over)
	}
	return s.all[over].moused(msg)
}

// goTo moves the keys to a session. If time is running, it runs on there.
func (s *splitView) goTo(side int) {
	before, m := s.all[s.front], s.all[side]
	s.front, s.sent, s.arrived = side, time.Time{}, true
	before.stale, m.stale = true, true
	if s.alignment == Apart || m.Frame.Live != nil || before.Frame.Live != nil {
		return
	}
	m.Session.SetSpeed(before.Frame.Speed)
	if before.Frame.Playing {
		before.Session.Pause()
		m.Session.Play()
	}
}

// follow updates both from a frame, and moves the other session to the matching moment.
func (s *splitView) follow(msg frameMsg) {
	for i, m := range s.all {
		s.times[i].Follow(m.Frame)
		if m.Session == msg.of && i != s.front {
			s.arrived = true
		}
	}
	s.lead()
}

// lead moves the other session to the matching moment, one seek at a time.
func (s *splitView) lead() {
	m := s.all[1-s.front]
	at, moves := s.alignment.Moment(s.times[s.front], s.times[1-s.front])
	switch {
	case !moves, !s.arrived, at.Equal(s.sent), m.Frame.Live != nil && m.Frame.Live.Following && !at.Before(m.Frame.End):
	default:
		s.sent, s.arrived = at, false
		if m.Frame.Playing {
			m.Session.Pause()
		}
		m.Session.Seek(at)
	}
}

// Beside is a second session to show from the start.
type Beside struct {
	Name    string
	Session *session.Session
	// Source is its name in Memory.
	Source string
}

// open shows a second session.
func (s *splitView) open(o opening) tea.Cmd {
	first := s.all[0]
	if o.err != nil {
		return first.Refuse("open " + o.name + ": " + o.err.Error())
	}
	options := first.options
	options.Source, options.NextConfig, options.Beside, options.Start, options.Notice = o.source, nil, nil, "", ""
	m := newModel(first.ctx, o.session, options)
	m.looks, m.mouse.on, m.zone, m.Projector, m.split = first.looks, first.mouse.on, first.zone, first.Projector, s
	s.all = append(s.all, m)
	for i, side := range s.all {
		s.times[i].Follow(side.Frame)
	}
	s.front, s.sent, s.arrived, s.alignment = 0, time.Time{}, true, usualAlignment(s.times[0], s.times[1])
	s.place()
	started := m.start()
	m.restoreView(o.view)
	s.lead()
	return tea.Batch(started, first.Answer("aligned "+s.alignment.Words()+first.Keys.Say("; {other-side}: other side, {alignment}: align, {beside}: alone")))
}

// close closes the second session.
func (s *splitView) close() tea.Cmd {
	second := s.all[1]
	keep := second.saveView()
	second.life.stop()
	if o := second.origin; o.session != nil && o.session != second.Session {
		o.life.stop()
	}
	s.all, s.front = s.all[:1], 0
	s.place()
	return keep
}

// addSplitView adds the actions of two sessions side by side.
func (m *model) addSplitView(all page.Actions) {
	beOne := func() string {
		if !m.split.two() {
			return m.Keys.Say("there is no second session: {beside} opens one")
		}
		return ""
	}
	all[keymap.Beside] = page.Action{Do: func(string) tea.Cmd {
		s := m.split
		if s.two() {
			second := s.all[1]
			return m.confirm(second.unsavedWork(), s.close)
		}
		return m.choose(choice{title: "compare with", open: func(r Recording) tea.Cmd { return m.opening(r, s.open) }})
	}}.NamedBy(func() string {
		if m.split.two() {
			return "close second"
		}
		return "beside"
	}).DisabledWhen(func() string {
		switch {
		case m.split == nil, m.lesson != nil, m.play != nil:
			return "a second session can't be opened here"
		case m.split.two():
			return ""
		}
		return m.nothingToChoose()
	})
	all[keymap.OtherSide] = page.Command(func() { m.split.goTo(1 - m.split.front) }).DisabledWhen(beOne)
	all[keymap.Alignment] = page.Action{Do: func(string) tea.Cmd {
		s := m.split
		s.alignment, s.sent = s.alignment.Next(), time.Time{}
		s.lead()
		return m.Answer("aligned " + s.alignment.Words())
	}}.NamedBy(func() string {
		if m.split.two() {
			return m.split.alignment.Words()
		}
		return "align"
	}).DisabledWhen(beOne)
}

// sideBySideWidth is the width from which two sessions are side by side. On narrower terminals one is above the other.
const sideBySideWidth = 120

// splitRects divides w by h cells between two sessions: side by side with a divider, or one above the other, where the title divides
// them.
func splitRects(w, h int) (parts [2]canvas.Rect, divider canvas.Rect) {
	if w >= sideBySideWidth {
		first := (w - 1) / 2
		return [2]canvas.Rect{canvas.At(0, 0, first, h), canvas.At(first+1, 0, w-first-1, h)}, canvas.At(first, 0, 1, h)
	}
	first := (h + 1) / 2
	return [2]canvas.Rect{canvas.At(0, 0, w, first), canvas.At(0, first, w, h-first)}, canvas.Rect{}
}
