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

// sides is the program's model where two sessions can stand beside each other: one screen, or two that share the terminal.
// Each is a model of its own, with all that one can do. Keys are about the side in front, and the other follows its time.
type sides struct {
	all   []*model // one or two
	front int
	// screen is the whole terminal, rooms are what each of two has of it above the foot, divider is between them.
	screen  canvas.Rect
	rooms   [2]canvas.Rect
	divider canvas.Rect

	times     [2]timeSide
	alignment Alignment
	// sent is the moment that the other side was sent to last, and arrived is false until it is seen there.
	sent    time.Time
	arrived bool

	canvas canvas.Canvas
	shown  tea.View
}

// newSides returns the program's model that shows m, and what can be opened beside it.
func newSides(m *model) *sides {
	s := &sides{all: []*model{m}}
	m.sides = s
	return s
}

// two reports whether two are beside each other. Without any sides they are not.
func (s *sides) two() bool { return s != nil && len(s.all) == 2 }

// other is the side that m is not.
func (s *sides) other(m *model) *model { return s.all[1-s.index(m)] }

func (s *sides) index(m *model) int { return slices.Index(s.all, m) }

// room is what m has of the terminal.
func (s *sides) room(m *model) canvas.Rect { return s.rooms[s.index(m)] }

// leads reports whether another side says which moment m shows.
func (s *sides) leads(m *model) bool {
	return s.two() && s.index(m) != s.front && s.alignment != Apart
}

// Init implements tea.Model.
func (s *sides) Init() tea.Cmd {
	m := s.all[0]
	if second := m.options.Beside; second != nil {
		return tea.Batch(m.Init(), s.open(opening{name: second.Name, session: second.Session, source: second.Source}))
	}
	return m.Init()
}

// crashed implements screen.
func (s *sides) crashed() *page.Crash {
	for _, m := range s.all {
		if m.crash != nil {
			return m.crash
		}
	}
	return nil
}

// leave implements screen: it remembers how each source was viewed.
func (s *sides) leave() error {
	var all error
	for _, m := range s.all {
		all = errors.Join(all, m.leave())
	}
	return all
}

// View implements tea.Model. What it returns was drawn by Update.
func (s *sides) View() tea.View {
	if s.two() {
		return s.shown
	}
	return s.all[0].View()
}

// Update implements tea.Model. It draws, too, if anything changed.
func (s *sides) Update(msg tea.Msg) (same tea.Model, cmd tea.Cmd) {
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

// update has the side take msg that it is about.
func (s *sides) update(msg tea.Msg) (cmd tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.place()
	case frameMsg: // each side knows its own
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

// place gives each side its room.
func (s *sides) place() {
	if !s.two() {
		m := s.all[0]
		m.Width, m.Height, m.stale = s.screen.W, s.screen.H, true
		return
	}
	s.rooms, s.divider = splitRects(s.screen.W, s.screen.H-foot)
	for i, m := range s.all {
		m.Width, m.Height, m.stale = s.rooms[i].W, s.rooms[i].H+foot, true
	}
}

// settle puts everything in its place.
func (s *sides) settle() {
	for _, m := range s.all {
		m.settle()
	}
}

// draw draws both sides, and around them what belongs to the one in front.
func (s *sides) draw() *canvas.Canvas {
	s.canvas.Reset(s.screen.W, s.screen.H)
	all, front := s.canvas.Area(), s.all[s.front]
	if front.layout.tooSmall {
		front.drawTooSmall(all)
		return &s.canvas
	}
	part(all, s.divider).Fill(theme.Dim, "│")
	for i, m := range s.all {
		m.drawPage(all)
		title := part(all, s.rooms[i]).Row(0)
		if m == front {
			title.Text(0, 0, theme.Accent|canvas.Bold, theme.GlyphSelected)
		} else {
			title.Restyle(theme.Dim)
		}
	}
	front.drawAround(all)
	return &s.canvas
}

// moused goes to the side that is clicked on, and does there what was done with the mouse.
func (s *sides) moused(msg tea.MouseMsg) tea.Cmd {
	at := msg.Mouse()
	over := s.front
	if i := slices.IndexFunc(s.rooms[:], func(r canvas.Rect) bool { return r.Contains(at.X, at.Y) }); i >= 0 {
		over = i
	}
	if s.all[s.front].Overlays.Top() != nil {
		over = s.front // it is above both
	}
	if _, click := msg.(tea.MouseClickMsg); click && over != s.front {
		s.goTo(over)
	}
	return s.all[over].moused(msg)
}

// goTo has keys be about that side. Time that passed goes on there.
func (s *sides) goTo(side int) {
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

// follow takes in a frame of one side, and has the side that is not in front show the moment that belongs to the other's.
func (s *sides) follow(msg frameMsg) {
	for i, m := range s.all {
		s.times[i].Follow(m.Frame)
		if m.Session == msg.of && i != s.front {
			s.arrived = true
		}
	}
	s.lead()
}

// lead sends the side that is not in front to the moment that belongs to the other's, one after the other.
func (s *sides) lead() {
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

// Beside is what stands beside a session from the start.
type Beside struct {
	Name    string
	Session *session.Session
	// Source is what it is called in Memory.
	Source string
}

// open shows what was opened beside the first.
func (s *sides) open(o opening) tea.Cmd {
	first := s.all[0]
	if o.err != nil {
		return first.Refuse("open " + o.name + ": " + o.err.Error())
	}
	options := first.options
	options.Source, options.NextConfig, options.Beside, options.Start = o.source, nil, nil, ""
	m := newModel(first.ctx, o.session, options)
	m.looks, m.mouse.on, m.zone, m.Projector, m.sides = first.looks, first.mouse.on, first.zone, first.Projector, s
	s.all = append(s.all, m)
	for i, side := range s.all {
		s.times[i].Follow(side.Frame)
	}
	s.front, s.sent, s.arrived, s.alignment = 0, time.Time{}, true, usualAlignment(s.times[0], s.times[1])
	s.place()
	started := m.start()
	m.remembered(o.view)
	s.lead()
	return tea.Batch(started, first.Answer("aligned "+s.alignment.Words()+first.Keys.Say("; {other-side}: other side, {alignment}: align, {beside}: alone")))
}

// close ends the second side.
func (s *sides) close() tea.Cmd {
	second := s.all[1]
	keep := second.keepView()
	second.stop()
	if o := second.origin; o.session != nil && o.session != second.Session {
		o.stop()
	}
	s.all, s.front = s.all[:1], 0
	s.place()
	return keep
}

// addSides adds what is done with two beside each other.
func (m *model) addSides(all page.Actions) {
	beOne := func() string {
		if !m.sides.two() {
			return m.Keys.Say("nothing is beside this one: {beside} opens something there")
		}
		return ""
	}
	all[keymap.Beside] = page.Action{Do: func(string) tea.Cmd {
		s := m.sides
		if s.two() {
			second := s.all[1]
			return m.unless(second.unsavedWork(), s.close)
		}
		return m.choose(choice{title: "beside this one", open: func(r Recording) tea.Cmd { return m.opening(r, s.open) }})
	}}.NamedBy(func() string {
		if m.sides.two() {
			return "first alone"
		}
		return "beside"
	}).DisabledWhen(func() string {
		switch {
		case m.sides == nil, m.lesson != nil, m.play != nil:
			return "here is no place for another beside it"
		case m.sides.two():
			return ""
		}
		return m.nothingToChoose()
	})
	all[keymap.OtherSide] = page.Command(func() { m.sides.goTo(1 - m.sides.front) }).DisabledWhen(beOne)
	all[keymap.Alignment] = page.Action{Do: func(string) tea.Cmd {
		s := m.sides
		s.alignment, s.sent = s.alignment.Next(), time.Time{}
		s.lead()
		return m.Answer("the two are shown " + s.alignment.Words())
	}}.NamedBy(func() string {
		if m.sides.two() {
			return m.sides.alignment.Words()
		}
		return "align"
	}).DisabledWhen(beOne)
}
