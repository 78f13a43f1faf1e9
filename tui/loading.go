package tui

import (
	"context"
	"fmt"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/theme"
)

const (
	// loadingDelay is how long loading may take before the loading page appears. A small file must not flash one.
	loadingDelay = 300 * time.Millisecond
	// loadingTick is the time between two updates of the loading page.
	loadingTick = 250 * time.Millisecond
)

// Progress is how much of a file is read.
type Progress struct {
	Name       string
	Share      float64 // from 0 to 1; 0 if unknown
	Read, Size int64   // in bytes; 0 if unknown
}

// Load reads a recording until ctx ends. report is safe for concurrent use. The returned function creates the session and the
// options of its screen.
type Load func(ctx context.Context, report func(Progress)) (create func() (*session.Session, Options, error), err error)

// RunLoad loads a recording and then shows it as Run does. Once loading takes longer than a moment, a page with the look of o
// shows its progress. The error is load's, Run's, or context.Canceled if the user cancelled. load has returned by then.
func RunLoad(ctx context.Context, name string, o Options, load Load) error {
	if !HasTerminal() {
		return ErrNoTerminal
	}
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	l := startLoading(running, name, load)
	defer l.stop()
	if l.endsWithin(loadingDelay) {
		switch {
		case l.crash != nil:
			return reportCrash(l.crash, time.Now())
		case l.err != nil:
			return l.err
		}
		s, options, err := l.create()
		if err != nil {
			return err
		}
		return Run(ctx, s, options)
	}
	o = o.onTerminal(ctx)
	return runProgram(ctx, newLoadingPage(running, l, o), o)
}

// loader loads a recording in its own goroutine.
type loader struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when Load has returned; the next three fields are final then
	create func() (*session.Session, Options, error)
	err    error
	crash  *page.Crash

	mu       sync.Mutex
	progress Progress
	began    time.Time // when reading the file of progress began
}

func startLoading(ctx context.Context, name string, load Load) *loader {
	ctx, cancel := context.WithCancel(ctx)
	l := &loader{cancel: cancel, done: make(chan struct{}), progress: Progress{Name: name}, began: time.Now()}
	go func() {
		defer close(l.done)
		defer func() {
			if r := recover(); r != nil {
				l.crash = page.Recovered(r)
			}
		}()
		l.create, l.err = load(ctx, l.report)
	}()
	return l
}

func (l *loader) report(p Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.Name != l.progress.Name {
		l.began = time.Now()
	}
	l.progress = p
}

// state returns the latest progress and how long its file has been read.
func (l *loader) state() (Progress, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.progress, time.Since(l.began)
}

func (l *loader) endsWithin(d time.Duration) bool {
	select {
	case <-l.done:
		return true
	case <-time.After(d):
		return false
	}
}

// stop cancels loading and waits until it has ended.
func (l *loader) stop() {
	l.cancel()
	<-l.done
}

// loadedMsg reports that loading has ended.
type loadedMsg struct {
	session *session.Session
	options Options
	err     error
}

// loadingPage is the program's model until the recording is loaded.
type loadingPage struct {
	ctx    context.Context
	loader *loader
	looks  *looks
	keys   *keymap.Map

	projector bool
	palette   *canvas.Palette
	w, h      int
	canvas    canvas.Canvas

	terminal []tea.Msg // what the terminal has reported, for the board
	failed   error
	panicked *page.Crash
}

// newLoadingPage returns the page of l. ctx bounds the session that l creates.
func newLoadingPage(ctx context.Context, l *loader, o Options) *loadingPage {
	keys := o.Keys
	if keys == nil {
		keys = keymap.Default()
	}
	p := &loadingPage{ctx: ctx, loader: l, looks: newLooks(o), keys: keymap.New(keys), projector: o.Projector}
	p.paint(true)
	return p
}

func (p *loadingPage) paint(dark bool) {
	p.palette = p.looks.skins.Palette(p.looks.theme, dark, p.projector, false)
}

// loadingTickMsg redraws the loading page.
type loadingTickMsg struct{}

func nextLoadingTick() tea.Cmd {
	return tea.Tick(loadingTick, func(time.Time) tea.Msg { return loadingTickMsg{} })
}

// Init implements tea.Model.
func (p *loadingPage) Init() tea.Cmd {
	return tea.Batch(nextLoadingTick(), tea.RequestBackgroundColor, page.Guarded(func() tea.Msg {
		<-p.loader.done
		switch l := p.loader; {
		case l.crash != nil:
			return page.CrashMsg{Crash: l.crash}
		case l.err != nil:
			return loadedMsg{err: l.err}
		}
		s, options, err := p.loader.create()
		return loadedMsg{s, options, err}
	}))
}

// Update implements tea.Model. The board replaces the page once it is loaded.
func (p *loadingPage) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	defer func() {
		if r := recover(); r != nil {
			next, cmd, p.panicked = p, tea.Quit, page.Recovered(r)
		}
	}()
	switch msg := msg.(type) {
	case loadingTickMsg:
		return p, nextLoadingTick()
	case tea.WindowSizeMsg:
		p.w, p.h = msg.Width, msg.Height
		p.terminal = append(p.terminal, msg)
	case tea.BackgroundColorMsg:
		p.paint(msg.IsDark())
		p.terminal = append(p.terminal, msg)
	case tea.ColorProfileMsg:
		p.terminal = append(p.terminal, msg)
	case tea.KeyPressMsg:
		b, _ := p.keys.Lookup(keymap.Board, msg.String())
		switch {
		case b.ID == keymap.Suspend:
			return p, tea.Suspend
		case b.ID == keymap.Quit, b.ID == keymap.Back, msg.String() == "ctrl+c": // ctrl+c with any bindings
			p.failed = context.Canceled
			return p, tea.Quit
		}
	case page.CrashMsg:
		p.panicked = msg.Crash
		return p, tea.Quit
	case loadedMsg:
		if p.failed != nil {
			return p, nil // cancelled
		}
		if p.failed = msg.err; p.failed != nil {
			return p, tea.Quit
		}
		return p.board(msg)
	}
	return p, nil
}

// board returns the model that shows the loaded session.
func (p *loadingPage) board(msg loadedMsg) (tea.Model, tea.Cmd) {
	m := newModel(p.ctx, msg.session, msg.options.onTerminal(p.ctx))
	m.applyStart()
	s := newSplitView(m)
	cmds := []tea.Cmd{s.Init()}
	for _, msg := range p.terminal {
		_, cmd := s.Update(msg)
		cmds = append(cmds, cmd)
	}
	return s, tea.Batch(cmds...)
}

// crashed implements screen.
func (p *loadingPage) crashed() *page.Crash { return p.panicked }

// leave implements screen.
func (p *loadingPage) leave() error { return p.failed }

// View implements tea.Model.
func (p *loadingPage) View() tea.View {
	at, since := p.loader.state()
	p.canvas.Reset(p.w, p.h)
	p.draw(p.canvas.Area(), at, since)
	v := tea.NewView(p.canvas.String(p.palette, p.looks.translate))
	v.AltScreen, v.WindowTitle = true, "schedq: opening "+canvas.Truncate(format.Safe(at.Name), 60)
	state := tea.ProgressBarIndeterminate
	if at.Share > 0 {
		state = tea.ProgressBarDefault
	}
	v.ProgressBar = tea.NewProgressBar(state, int(at.Share*100))
	return v
}

// draw draws the name at the top, the progress in the middle and the keys at the bottom.
func (p *loadingPage) draw(a canvas.Area, at Progress, since time.Duration) {
	if a.Empty() {
		return
	}
	x := a.Text(1, 0, theme.Plain, "Reading ")
	a.Text(x, 0, theme.Accent|canvas.Bold, canvas.Truncate(format.Safe(at.Name), max(a.W-x-1, 1)))

	middle := a.Sub(1, max(a.H/2-1, 1), a.W-2, 2)
	if at.Share > 0 {
		heavy, light := format.Bar(at.Share, min(40, a.W-10))
		x = middle.Text(middle.Text(0, 0, theme.Accent, heavy), 0, theme.Dim, light)
		middle.Text(x, 0, theme.Plain, fmt.Sprintf(" %d%%", int(at.Share*100)))
	}
	middle.Text(0, 1, theme.Plain, canvas.Truncate(loadingText(at, since), middle.W))
	a.Text(1, a.H-1, theme.Dim, canvas.Truncate(p.keys.Say("{back} or {quit}: cancel"), a.W-2))
}

// loadingText returns the progress in words.
func loadingText(at Progress, since time.Duration) string {
	text := format.Span(since) + " so far"
	if at.Size > 0 {
		text = fmt.Sprintf("%.1f of %.1f MB, ", float64(at.Read)/1e6, float64(at.Size)/1e6) + text
	}
	if left := format.Remaining(at.Share, since); left > 0 {
		text += ", about " + format.Span(left.Round(time.Second)) + " left"
	}
	return text
}
