package tui

import (
	"cmp"
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/tui/attempt"
	"github.com/schedq/schedq/tui/board"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/chart"
	"github.com/schedq/schedq/tui/export"
	"github.com/schedq/schedq/tui/lesson"
	"github.com/schedq/schedq/tui/nodes"
	"github.com/schedq/schedq/tui/outcome"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/story"
	"github.com/schedq/schedq/tui/travel"
	"github.com/schedq/schedq/tui/whatif"
	"github.com/schedq/schedq/tui/widget"
)

// model is the screen of one session.
type model struct {
	*page.UI
	options Options
	// ctx bounds all sessions, and life the current one. source is its name in Memory.
	ctx    context.Context
	life   life
	source string
	zone   words.Zone // for times of day
	said   uint64     // the last answer of the session that was shown
	told   []string   // the notices of the session that were shown
	origin origin
	split  *splitView // that contains it; nil if it can't be split
	// viewName is the last user-defined view shown in this session, or "".
	viewName string
	pressed  keypress
	// leaving is the number of key presses when the user last pressed quit with unsaved work.
	leaving int

	board   *board.Board
	nodes   *nodes.Nodes
	attempt *attempt.Attempt
	outcome *outcome.Panel
	export  *export.Export
	charts  []chart.Chart
	bar     widget.KeyBar       // as drawn last
	lesson  *lesson.Lesson      // nil outside of lessons
	play    *whatif.PlayCluster // nil outside of free play

	notifications notifications

	looks  *looks
	layout layout
	mouse  mouse
	canvas canvas.Canvas
	shown  tea.View
	stale  bool // the screen must be redrawn
	crash  *page.Crash
}

// keypress is the last key on a page and its binding. The projector view shows it, except for answers in a lesson.
type keypress struct {
	key     string
	binding keymap.Binding // zero if the key has none
}

// life bounds a session: stop ends ctx, and with it the session, whether it runs by then or not.
type life struct {
	ctx  context.Context
	stop context.CancelFunc
}

// lifeOf returns the life of s within ctx.
func lifeOf(ctx context.Context, s *session.Session) life {
	ctx, stop := context.WithCancel(ctx)
	context.AfterFunc(ctx, s.Close)
	return life{ctx, stop}
}

// newModel returns a model that shows s, which ends with ctx.
func newModel(ctx context.Context, s *session.Session, o Options) *model {
	d := &page.UI{Session: s, Frame: s.Frame(), Actions: page.Actions{}, Projector: o.Projector, Bell: o.Bell, Folder: o.ReadFolder}
	m := &model{UI: d, options: o, ctx: ctx, life: lifeOf(ctx, s), source: o.Source, zone: o.Zone, looks: newLooks(o), mouse: mouse{on: !o.NoMouse}, stale: true}
	m.origin = origin{session: s, frame: d.Frame, source: o.Source}
	d.Arguments = func() []string {
		if m.options.Arguments == nil || m.source == "" {
			return nil
		}
		return m.options.Arguments(m.source)
	}
	m.setKeys(o.Keys)
	m.charts = chart.All(d)
	why := story.NewWhy(d)
	m.board = board.New(d, why)
	m.nodes = nodes.New(d)
	m.attempt = attempt.New(d)
	m.outcome = outcome.New(d, m.board, m.nodes)
	m.showFromStart(m.board)
	m.paint()

	all := d.Actions
	widget.AddLists(d, all)
	widget.AddPrompts(d, all)
	widget.AddWords(d, all)
	story.AddWhy(why, all)
	board.Add(m.board, all)
	nodes.Add(m.nodes, all)
	attempt.Add(m.attempt, all)
	outcome.Add(m.outcome, all)
	chart.Add(d, m.charts, all)
	travel.Add(d, all)
	whatif.Add(d, m.board, o.ReadManifest, all)
	m.export = &export.Export{Screen: m.drawn, Write: o.WriteFile}
	export.Add(d, m.export, all)
	addCommands(ctx, d, o.Commands, o.machine, all)
	story.AddSiblings(d, all)
	story.AddCopying(d, all)
	m.addNavigation(all)
	m.addProgram(all)
	m.addViews(all)
	return m
}

// showFromStart shows the current session from its start, with lowest as the lowest page.
func (m *model) showFromStart(lowest page.Page) {
	m.Pages.Begin(lowest)
	m.Selected, m.said, m.told, m.viewName = page.Selection{}, m.Frame.Reply.Number, nil, ""
	for _, c := range m.charts {
		c.Reset()
	}
	m.board.Reset()
	m.nodes.Reset()
	m.attempt.Reset()
	m.outcome.Reset()
}

// show replaces the session. The old one ends unless it is the one that the program started with.
func (m *model) show(s *session.Session) tea.Cmd {
	if m.Session == m.origin.session {
		m.origin.rest(m.life)
	} else {
		m.life.stop()
	}
	m.Session, m.Frame = s, s.Frame()
	if s == m.origin.session {
		m.life, m.Frame = m.origin.life, m.origin.frame
		m.showFromStart(m.Pages.Lowest())
		s.SetZone(m.zone)
		return nil
	}
	m.life = lifeOf(m.ctx, s)
	m.showFromStart(m.Pages.Lowest())
	return m.start()
}

// start runs the session and waits for its first frame.
func (m *model) start() tea.Cmd {
	m.Session.SetZone(m.zone)
	return tea.Batch(runSession(m.life.ctx, m.Session), nextFrame(m.Session))
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.start(), m.watchConfig(), tea.RequestBackgroundColor}
	if m.lesson != nil {
		cmds = append(cmds, m.lesson.Begin())
	}
	if text := m.options.Notice; text != "" {
		cmds = append(cmds, m.QueueNotice(page.Notice{Text: text}))
	}
	if read := m.options.ReadOn; read != nil {
		cmds = append(cmds, page.Guarded(func() tea.Msg {
			read(m.ctx)
			return nil
		}))
	}
	return tea.Batch(cmds...)
}

// addNavigation adds the actions of whatever page is on top.
func (m *model) addNavigation(all page.Actions) {
	const far = 1 << 30
	all[keymap.RowDown] = page.Command(func() { m.Pages.Top().Move(1) })
	all[keymap.RowUp] = page.Command(func() { m.Pages.Top().Move(-1) })
	all[keymap.PageDown] = page.Command(func() { m.Pages.Top().Move(m.Pages.Top().Rows()) })
	all[keymap.PageUp] = page.Command(func() { m.Pages.Top().Move(-m.Pages.Top().Rows()) })
	all[keymap.FirstRow] = page.Command(func() { m.Pages.Top().Move(-far) })
	all[keymap.LastRow] = page.Command(func() { m.Pages.Top().Move(far) })
	all[keymap.Open] = page.Action{
		Do:     func(string) tea.Cmd { return m.Pages.Top().Enter() },
		Cannot: func() string { return m.Pages.Top().CannotEnter() },
		Name:   func() string { return cmp.Or(m.Pages.Top().EnterName(), m.board.EnterName()) },
	}
	all[keymap.Back] = page.Do(m.goBack).DisabledWhen(func() string {
		if m.CurrentWork() == nil && !m.Pages.Covered() && !m.Pages.Zoomed && m.Pages.Docked() == nil && m.Frame.Filter == "" && m.Frame.Searching == "" {
			return "nothing is open and no filter is set"
		}
		return ""
	})
}

// goBack stops work or a search, closes the top page, or removes the filter.
func (m *model) goBack() tea.Cmd {
	switch {
	case m.CurrentWork() != nil:
		return m.Stop()
	case m.Frame.Searching != "":
		m.Session.Pause()
	case m.Pages.CloseTop():
	default:
		m.Session.SetFilter(filter.Filter{})
	}
	return nil
}
