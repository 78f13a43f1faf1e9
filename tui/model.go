package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/canvas"
)

// model is the program's state: the frame that is shown, and where the person is in it.
type model struct {
	options Options
	keys    *keymap.Map
	actions map[keymap.ID]action
	onBar   []keymap.Binding // the most important first

	// ctx bounds the session; stop ends it, when another takes its place.
	ctx     context.Context
	stop    context.CancelFunc
	session *session.Session
	source  string // what it is called in Memory
	frame   *session.Frame

	width, height int
	focus, tab    paneID
	zoom          zoom
	offset        int // of the zoomed detail
	panes         [4]rows
	log           logRows
	selected      selection
	popping       bool // until the answer to a pop tells which pod it was
	mouse         bool

	timeline timelineView
	lanes    lanesView
	plots    plotsView
	under    zoom // what closing the chart that is open leads back to

	theme     Theme
	dark      bool // the terminal's background
	projector bool
	spots     spots
	scrubbing bool   // the mouse holds the progress line
	pressed   string // the last key, for those who watch

	// At most one of these is open. It gets the keys.
	list   *list
	prompt *prompt
	recent []keymap.ID // what was lately done from the palette
	until  string      // the condition that was asked for last
	// pending is what is left to do outside of Update once the prompt is accepted, or nil.
	pending tea.Cmd

	notice  notice
	notices int    // how many there were
	said    uint64 // the newest answer that was shown
	crash   *crash

	lesson *learning // nil unless one is taught
	play   *playing  // nil unless the cluster is the person's own

	layout  layout
	palette *canvas.Palette
	canvas  canvas.Canvas
	shown   tea.View
	stale   bool
}

// newModel returns the model of a program that shows s.
func newModel(ctx context.Context, s *session.Session, o Options) *model {
	if o.Keys == nil {
		o.Keys = keymap.Default()
	}
	m := &model{
		options: o,
		keys:    keymap.New(o.Keys),
		source:  o.Source,
		ctx:     ctx,
		mouse:   !o.NoMouse,
		theme:   o.Theme,
		dark:    true,
		stale:   true,
	}
	if m.theme == "" {
		m.theme = ThemeAuto
	}
	m.projector = o.Projector
	m.paint()
	m.actions = m.allActions()
	m.onBar = m.keys.OnBar(keymap.Board)
	m.show(s)
	return m
}

// show makes s the session that is shown. It must be started with start.
func (m *model) show(s *session.Session) {
	m.session, m.frame = s, s.Frame()
	m.panes = [4]rows{
		activePane:        {tiers: []queue.Tier{queue.Active}},
		backoffPane:       {tiers: []queue.Tier{queue.Backoff}},
		unschedulablePane: {tiers: []queue.Tier{queue.Unschedulable, queue.Gated}},
		flightPane:        {tiers: []queue.Tier{queue.InFlight}},
	}
	m.timeline, m.lanes, m.plots = timelineView{}, lanesView{}, plotsView{}
	m.log, m.selected, m.zoom, m.said = logRows{}, selection{}, zoomNone, m.frame.Said.Number
	m.setFocus(m.firstWithPods())
}

// firstWithPods is the first pane in which a pod can be selected, or activeQ if there is none.
func (m *model) firstWithPods() paneID {
	for _, p := range []paneID{activePane, backoffPane, unschedulablePane} {
		for _, tier := range m.panes[p].tiers {
			if m.frame.Board.Total(tier) > 0 {
				return p
			}
		}
	}
	return activePane
}

// start runs the session and waits for its first frame.
func (m *model) start() tea.Cmd {
	ctx, stop := context.WithCancel(m.ctx)
	m.stop = stop
	return tea.Batch(runSession(ctx, m.session), nextFrame(m.session))
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd {
	return tea.Batch(m.start(), tea.RequestBackgroundColor, m.beginLesson())
}

// Update implements tea.Model.
//
// It draws, too, if anything changed: View is called after every message.
func (m *model) Update(msg tea.Msg) (same tea.Model, cmd tea.Cmd) {
	same = m // also after a panic
	defer m.guard(&cmd)
	cmd = m.update(msg)
	if m.stale {
		m.settle()
		m.shown, m.stale = m.view(), false
	}
	return m, cmd
}

// update takes msg and says by m.stale whether anything shown changed.
func (m *model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case frameMsg:
		if msg.of != m.session {
			return nil
		}
		m.frame, m.stale = msg.frame, true
		m.refreshList()
		return tea.Batch(m.hear(msg.frame.Said), nextFrame(m.session), m.learned())
	case tea.WindowSizeMsg:
		m.width, m.height, m.stale = msg.Width, msg.Height, true
	case tea.BackgroundColorMsg:
		m.dark, m.stale = msg.IsDark(), true
		m.paint()
	case tea.KeyPressMsg:
		m.stale = true
		return m.key(msg)
	case tea.PasteMsg:
		m.stale = true
		return m.paste(msg)
	case tea.MouseClickMsg:
		m.stale = true
		return m.click(msg.Mouse())
	case tea.MouseMotionMsg:
		if m.stale = m.scrubbing; m.stale {
			m.drag(msg.Mouse())
		}
	case tea.MouseReleaseMsg:
		m.scrubbing = false
	case tea.MouseWheelMsg:
		m.stale = true
		m.wheel(msg.Mouse())
	case groupsCounted:
		m.stale = true
		if m.list == nil && m.prompt == nil {
			m.chooseGroup(msg.groups)
		}
	case manifestRead:
		m.stale = true
		return m.applied(msg)
	case lessonReady:
		m.stale = true
		return m.lessonOpened(msg)
	case thereMsg:
		m.beginGoal(msg)
	case second:
		m.stale = true
		return m.tick(msg)
	case keptMsg:
		if msg.err != nil {
			m.stale = true
			return m.tell(notice{msg.err.Error(), true})
		}
	case rerunMsg:
		m.stale = true
		return m.ranAgain(msg)
	case openedMsg:
		m.stale = true
		return m.opened(msg)
	case forgetMsg:
		if msg.number == m.notices {
			m.notice, m.stale = notice{}, true
		}
	case crashMsg:
		m.crash = msg.crash
		return tea.Quit
	}
	return nil
}

// key does what a key means where the person is.
func (m *model) key(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	if m.layout.arrangement == tooSmall {
		if b, ok := m.keys.Lookup(keymap.Board, key); ok && b.ID == keymap.Quit {
			return tea.Quit
		}
		return nil
	}
	m.notice = notice{}
	switch {
	case m.prompt != nil:
		return m.prompt.key(m, msg)
	case m.list != nil:
		return m.list.key(m, msg)
	}
	m.pressed = key
	if m.lesson != nil {
		if cmd, taken := m.lessonKey(key); taken {
			return cmd
		}
	}
	if m.zoom.chart() {
		if b, ok := m.keys.Lookup(keymap.Chart, key); ok {
			return m.do(b.ID)
		}
	}
	if b, ok := m.keys.Lookup(keymap.Board, key); ok {
		return m.do(b.ID)
	}
	return nil
}

// paste gives pasted text to what is typed into.
func (m *model) paste(msg tea.PasteMsg) tea.Cmd {
	switch {
	case m.prompt != nil:
		return m.prompt.update(m, msg)
	case m.list != nil:
		m.list.search(m.list.query + msg.Content)
	}
	return nil
}

// do does the action, or says why it cannot be done.
func (m *model) do(id keymap.ID) tea.Cmd {
	a := m.actions[id]
	if why := a.refusal(); why != "" {
		return m.tell(notice{text: why, refused: true})
	}
	return a.do()
}

// tell shows a notice for some seconds.
func (m *model) tell(n notice) tea.Cmd {
	m.notice = n
	m.notices++
	return forget(m.notices)
}

// hear shows what the session answered, once.
func (m *model) hear(said session.Said) tea.Cmd {
	if said.Number == m.said {
		return nil
	}
	m.said = said.Number
	if p := lastPopped(m.frame); m.popping && p != nil && !said.Refused {
		m.selected = selection{p.Key, true} // the pod to decide about
	}
	m.popping = false
	if said.Text == "" {
		return nil
	}
	return m.tell(notice{said.Text, said.Refused})
}

// opened shows the recording that was opened.
func (m *model) opened(msg openedMsg) tea.Cmd {
	if msg.err != nil {
		return m.tell(notice{"open " + msg.name + ": " + msg.err.Error(), true})
	}
	keep := m.keepView()
	m.stop()
	m.show(msg.session)
	m.source = msg.source
	m.remembered(msg.view)
	return tea.Batch(keep, m.start())
}

// settle puts everything in its place after a change: the layout, the cursors, what is in sight.
func (m *model) settle() {
	m.layout = arrange(m.width, m.height, m.frame.Fork != nil, m.focus, m.tab, m.zoom, m.projector)
	if m.lesson != nil {
		m.layout, m.lesson.room = arrangeLesson(m.width, m.height, m.frame.Fork != nil, m.focus, m.tab, m.zoom, m.projector)
	}
	pod := m.selected.pod(m.frame)
	for i := range m.layout.panes {
		m.panes[i].settle(m.frame.Board, pod, paneRows(m.layout.panes[i].h, m.layout.spacing))
	}
	m.panes[flightPane].settle(m.frame.Board, pod, flightRows(m.layout.flight.w))
	m.log.settle(m.frame.Log, max(1, m.layout.log.h-1))
	if m.list != nil {
		m.list.settle(m.listRoom().h)
	}
	m.settleChart()
	switch {
	case m.zoom != zoomCompare && m.frame.Comparison != nil:
		m.session.Compare(m.line()) // nobody sees it any more
	case m.zoom == zoomCompare:
		m.offset = min(m.offset, m.comparison().last(m.layout.compare.h))
	}
	if m.zoom == zoomDetail {
		m.offset = min(m.offset, m.detail().last(m.layout.detail.w-2, m.layout.detail.h-1))
	}
}
