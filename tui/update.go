package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/board"
	"github.com/schedq/schedq/tui/page"
)

// frameMsg is a new frame of a session, which may be one that is shown no longer.
type frameMsg struct {
	of    *session.Session
	frame *session.Frame
}

// runSession runs s until ctx ends. As a command of the program a panic in it ends the program in order.
func runSession(ctx context.Context, s *session.Session) tea.Cmd {
	return page.Guarded(func() tea.Msg {
		s.Run(ctx)
		return nil
	})
}

// nextFrame waits for a frame of s. There is one such command under way for a session at any time.
func nextFrame(s *session.Session) tea.Cmd {
	return func() tea.Msg {
		f, ok := <-s.Frames()
		if !ok {
			return nil
		}
		return frameMsg{s, f}
	}
}

// Update implements tea.Model.
//
// It draws, too, if anything changed: View is called after every message.
func (m *model) Update(msg tea.Msg) (same tea.Model, cmd tea.Cmd) {
	same = m // also after a panic
	defer m.guard(&cmd)
	cmd = m.update(msg)
	m.refresh()
	return m, cmd
}

// refresh draws the screen anew, if anything on it changed.
func (m *model) refresh() {
	if m.stale && !m.sides.two() {
		m.settle()
		m.shown, m.stale = m.view(), false
	}
}

// update takes msg and says by m.stale whether anything shown changed.
func (m *model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case frameMsg:
		switch msg.of {
		case m.Session:
		case m.origin.session:
			m.origin.frame = msg.frame // it goes on behind what is shown
			return nextFrame(msg.of)
		default:
			return nil
		}
		m.stale = true
		return tea.Batch(m.takeFrame(msg.frame), nextFrame(m.Session))
	case page.Ready:
		m.stale = true
		return msg()
	case tea.WindowSizeMsg:
		m.Width, m.Height, m.stale = msg.Width, msg.Height, true
	case tea.BackgroundColorMsg:
		m.looks.dark, m.stale = msg.IsDark(), true
		m.paint()
	case tea.ColorProfileMsg:
		m.looks.sixteen, m.stale = msg.Profile == colorprofile.ANSI, true
		m.paint()
	case tea.KeyPressMsg:
		m.stale = true
		return m.key(msg)
	case tea.PasteMsg:
		m.stale = true
		if top := m.Over.Top(); top != nil {
			return top.Typed(msg)
		}
	case tea.MouseMsg:
		return m.moused(msg)
	case page.CrashMsg:
		m.crash = msg.Crash
		return tea.Quit
	}
	return nil
}

// takeFrame takes in a new frame.
func (m *model) takeFrame(f *session.Frame) tea.Cmd {
	m.Frame = f
	for _, o := range m.Over.All() {
		o.Refresh()
	}
	if f.Comparison != nil && !m.Pages.Covered() {
		m.Session.Compare(m.Line()) // nobody sees it any more
	}
	cmd := m.showSaid(f.Reply)
	for _, shown := range [...]page.Page{m.Pages.Shown(), m.Pages.Docked()} {
		if follower, ok := shown.(page.Follower); ok {
			cmd = tea.Batch(cmd, follower.Follow())
		}
	}
	if m.lesson != nil {
		m.lesson.Learned()
	}
	return cmd
}

// showSaid shows what the session answered, once.
func (m *model) showSaid(said session.Reply) tea.Cmd {
	if said.Number == m.said {
		return nil
	}
	m.said = said.Number
	if p := board.LastPopped(m.Frame); m.Popping && p != nil && !said.Refused {
		m.Choose(p) // to decide about it
	}
	m.Popping = false
	until := m.Until
	if m.Until = ""; said.Pod.Name != "" && until != "" {
		m.board.Show(said.Pod)
		return tea.Batch(m.Answer(until+": "+said.Pod.String()), m.Ring())
	}
	if said.Text == "" {
		return nil
	}
	notice := page.Notice{Text: said.Text, Refused: said.Refused, NotFound: said.NotFound}
	if m.outcome.Take(said, m.lesson == nil) {
		notice.Open = func() tea.Cmd { return m.outcome.Open(said) }
	}
	return m.Tell(notice)
}

// key does what a key means where the person is: in what is open above the page, on the page, on the board.
func (m *model) key(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	if m.layout.tooSmall {
		if b, ok := m.Keys.Lookup(keymap.Board, key); ok && b.ID == keymap.Quit {
			return tea.Quit
		}
		return nil
	}
	next := m.HadKey()
	return tea.Batch(next, m.deed(msg))
}

// deed does what a key means.
func (m *model) deed(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	if top := m.Over.Top(); top != nil {
		if b, ok := m.Keys.Lookup(top.Context(), key); ok && top.Means(b.ID) {
			return m.Do(b.ID)
		}
		return top.Typed(msg)
	}
	m.Pressed = key
	top := m.Pages.Top()
	if t, ok := top.(page.Taker); ok {
		if cmd, taken := t.Take(key); taken {
			return cmd
		}
	}
	for _, context := range [...]keymap.Context{keymap.Sides, top.Context(), keymap.Board} {
		if context == keymap.Sides && !m.sides.two() {
			continue
		}
		if b, ok := m.Keys.Lookup(context, key); ok {
			return m.Do(b.ID)
		}
	}
	return nil
}

// settleAll puts everything in its place on the whole screen.
func (m *model) settleAll() {
	if m.sides.two() {
		m.sides.settle()
		return
	}
	m.settle()
}

// settle puts everything in its place after a change: the layout, the cursors, what is in sight.
func (m *model) settle() {
	m.layout = m.arrange()
	for _, o := range m.Over.All() {
		o.Settle(m.layout.over.H)
	}
	if m.Pages.Covered() {
		m.Pages.Lowest().Settle(0, 0)
	}
	m.Pages.Shown().Settle(m.layout.page.W, m.layout.page.H)
	if d := m.Pages.Docked(); d != nil {
		d.Settle(m.layout.dock.W, m.layout.dock.H)
	}
}
