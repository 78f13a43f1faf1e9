package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/board"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/widget"
)

// frameMsg is a new frame of a session, which need not be the current one.
type frameMsg struct {
	of    *session.Session
	frame *session.Frame
}

// runSession runs s until ctx ends. A panic in it ends the program in order.
func runSession(ctx context.Context, s *session.Session) tea.Cmd {
	return page.Guarded(func() tea.Msg {
		s.Run(ctx)
		return nil
	})
}

// nextFrame waits for a frame of s. Only one such command runs per session.
func nextFrame(s *session.Session) tea.Cmd {
	return func() tea.Msg {
		f, ok := <-s.Frames()
		if !ok {
			return nil
		}
		return frameMsg{s, f}
	}
}

// Update implements tea.Model. It redraws the screen if necessary, since View is called after every message.
func (m *model) Update(msg tea.Msg) (same tea.Model, cmd tea.Cmd) {
	same = m // also after a panic
	defer m.guard(&cmd)
	cmd = m.update(msg)
	m.refresh()
	return m, cmd
}

// refresh redraws the screen if it is stale.
func (m *model) refresh() {
	if m.stale && !m.split.two() {
		m.settle()
		m.shown, m.stale = m.view(), false
	}
}

// update handles msg, and sets m.stale if the screen changes.
func (m *model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case frameMsg:
		switch msg.of {
		case m.Session:
		case m.origin.session:
			m.origin.frame = msg.frame // the origin runs on in the background
			return nextFrame(msg.of)
		default:
			return nil
		}
		m.stale = true
		return tea.Batch(m.onFrame(msg.frame), nextFrame(m.Session))
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
	case tea.FocusMsg:
		m.notifications.blurred = false
	case tea.BlurMsg:
		m.notifications.blurred = true
	case tea.KeyPressMsg:
		m.stale = true
		return m.key(msg)
	case tea.PasteMsg:
		m.stale = true
		if top := m.Overlays.Top(); top != nil {
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

// onFrame shows a new frame.
func (m *model) onFrame(f *session.Frame) tea.Cmd {
	m.Frame = f
	for _, o := range m.Overlays.All() {
		o.Refresh()
	}
	if f.Comparison != nil && !m.Pages.Covered() {
		m.Session.Compare(m.TimelineID()) // the comparison is closed
	}
	m.outcome.OnFrame()
	cmd := tea.Batch(m.showAnswer(f.Reply), m.showNotices(f.Notices), m.notifyPod())
	for _, shown := range [...]page.Page{m.Pages.Shown(), m.Pages.Docked()} {
		if follower, ok := shown.(page.Follower); ok {
			cmd = tea.Batch(cmd, follower.Follow())
		}
	}
	if m.lesson != nil {
		m.lesson.OnFrame()
	}
	return cmd
}

// showAnswer shows a new answer of the session.
func (m *model) showAnswer(said session.Reply) tea.Cmd {
	if said.Number == m.said {
		return nil
	}
	m.said = said.Number
	if p := board.LastPopped(m.Frame); m.Popping && p != nil && !said.Refused {
		m.Choose(p) // the next decision is about it
	}
	m.Popping = false
	until := m.Until
	if m.Until = ""; said.Pod.Name != "" && until != "" {
		m.board.Show(said.Pod)
		met := until + ": " + said.Pod.String()
		return tea.Batch(m.Answer(met), m.Ring(), m.notify(said.Pod, met))
	}
	if said.Text == "" {
		return nil
	}
	notice := page.Notice{Text: said.Text, Refused: said.Refused, NotFound: said.NotFound}
	notice.Open = m.outcome.Take(said, m.lesson == nil)
	return m.ShowNotice(notice)
}

// showNotices shows the notices about the source that were not shown before. The help keeps them.
func (m *model) showNotices(all []string) tea.Cmd {
	var fresh []string
	for _, n := range all {
		if !slices.Contains(m.told, n) {
			fresh = append(fresh, n)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	m.told = append(m.told, fresh...)
	notice := page.Notice{Text: fresh[0]}
	if len(fresh) > 1 {
		notice.Text = fmt.Sprintf("%s And %s.", fresh[0], format.Plural(len(fresh)-1, "more notice"))
		notice.Open = func() tea.Cmd { return (&widget.Text{UI: m.UI}).Show("notices", strings.Join(fresh, "\n\n")) }
	}
	return m.QueueNotice(notice)
}

// key handles a key, unless the terminal is too small.
func (m *model) key(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	if m.layout.tooSmall {
		if b, ok := m.Keys.Lookup(keymap.Board, key); ok && b.ID == keymap.Quit {
			return tea.Quit
		}
		return nil
	}
	next := m.OnKey()
	return tea.Batch(next, m.handleKey(msg))
}

// handleKey passes a key to the top overlay, the top page or the board.
func (m *model) handleKey(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	if top := m.Overlays.Top(); top != nil {
		if b, ok := m.Keys.Lookup(top.Context(), key); ok && top.Means(b.ID, key) {
			return m.Press(b.ID, key)
		}
		return top.Typed(msg)
	}
	top := m.Pages.Top()
	if t, ok := top.(page.Taker); ok {
		if cmd, taken := t.Take(key); taken {
			m.pressed = keypress{}
			return cmd
		}
	}
	for _, context := range [...]keymap.Context{keymap.Sides, top.Context(), keymap.Board} {
		if context == keymap.Sides && !m.split.two() {
			continue
		}
		if b, ok := m.Keys.Lookup(context, key); ok {
			m.pressed = keypress{key, b}
			return m.Press(b.ID, key)
		}
	}
	m.pressed = keypress{key: key}
	return nil
}

// openWords opens the popup of a leader.
func (m *model) openWords(l keymap.Leader) tea.Cmd {
	widget.OpenWords(m.UI, l, func(w keymap.Word) {
		m.pressed = keypress{l.Key + " " + w.Key, w.Binding}
	})
	return nil
}

// settleAll lays out the whole screen.
func (m *model) settleAll() {
	if m.split.two() {
		m.split.settle()
		return
	}
	m.settle()
}

// settle lays out the pages and overlays of one session.
func (m *model) settle() {
	m.layout = m.arrange()
	for _, o := range m.Overlays.All() {
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
