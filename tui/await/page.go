package await

import (
	"fmt"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/theme"
)

// tick is how often the screen shows how far it is.
const tick = 250 * time.Millisecond

// Look is how the screen is drawn.
type Look struct {
	Keys *keymap.Map
	// Palette returns the colours on a dark background or on a light one.
	Palette   func(dark bool) *canvas.Palette
	Translate canvas.Translate // nil: signs are drawn as they are
}

// Page tells how far the reading is. It implements tea.Model.
type Page struct {
	look    Look
	palette *canvas.Palette
	name    string
	began   time.Time
	w, h    int
	stopped bool // by the person
	canvas  canvas.Canvas

	mu         sync.Mutex // what the reading tells, from its goroutines
	share      float64
	read, size int64
}

// New returns the page of a reading that begins now, of what is called name.
func New(look Look, name string) *Page {
	return &Page{look: look, palette: look.Palette(true), name: format.Safe(name), began: time.Now()}
}

// Report takes which share is read, from 0 to 1, and how many bytes of how many that is. It is safe for concurrent use.
func (p *Page) Report(share float64, read, size int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.share, p.read, p.size = share, read, size
}

// far is what Report was told last.
func (p *Page) far() (share float64, read, size int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.share, p.read, p.size
}

// tickMsg is that it is time to draw again.
type tickMsg struct{}

func nextTick() tea.Cmd { return tea.Tick(tick, func(time.Time) tea.Msg { return tickMsg{} }) }

// Init implements tea.Model.
func (p *Page) Init() tea.Cmd { return tea.Batch(nextTick(), tea.RequestBackgroundColor) }

// Update implements tea.Model.
func (p *Page) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tickMsg:
		return p, nextTick()
	case tea.WindowSizeMsg:
		p.w, p.h = msg.Width, msg.Height
	case tea.BackgroundColorMsg:
		p.palette = p.look.Palette(msg.IsDark())
	case tea.KeyPressMsg:
		b, _ := p.look.Keys.Lookup(keymap.Board, msg.String())
		switch {
		case b.ID == keymap.Suspend:
			return p, tea.Suspend
		case b.ID == keymap.Quit, b.ID == keymap.Back, msg.String() == "ctrl+c": // which ends it whatever the keys are
			p.stopped = true
			return p, tea.Quit
		}
	}
	return p, nil
}

// View implements tea.Model.
func (p *Page) View() tea.View {
	share, _, _ := p.far()
	p.canvas.Reset(p.w, p.h)
	p.draw(p.canvas.Area())
	v := tea.NewView(p.canvas.String(p.palette, p.look.Translate))
	v.AltScreen, v.WindowTitle = true, "schedq: opening "+canvas.Truncate(p.name, 60)
	state := tea.ProgressBarIndeterminate
	if share > 0 {
		state = tea.ProgressBarDefault
	}
	v.ProgressBar = tea.NewProgressBar(state, int(share*100))
	return v
}

// draw draws the name, the bar in the middle of the screen, and below all the keys.
func (p *Page) draw(a canvas.Area) {
	if a.Empty() {
		return
	}
	x := a.Text(1, 0, theme.Accent|canvas.Bold, canvas.Truncate(p.name, max(a.W-20, 1)))
	a.Text(x, 0, theme.Plain, " — is being read")

	share, read, size := p.far()
	middle := a.Sub(1, max(a.H/2-1, 1), a.W-2, 2)
	if share > 0 {
		heavy, light := format.Bar(share, min(40, a.W-10))
		x = middle.Text(middle.Text(0, 0, theme.Accent, heavy), 0, theme.Dim, light)
		middle.Text(x, 0, theme.Plain, fmt.Sprintf(" %d%%", int(share*100)))
	}
	middle.Text(0, 1, theme.Plain, canvas.Truncate(says(share, read, size, time.Since(p.began)), middle.W))
	a.Text(1, a.H-1, theme.Dim, canvas.Truncate(p.look.Keys.Say("{back} or {quit} stops it"), a.W-2))
}

// says says how far it is after so long.
func says(share float64, read, size int64, since time.Duration) string {
	text := format.Span(since) + " so far"
	if size > 0 {
		text = fmt.Sprintf("%.1f of %.1f MB, ", float64(read)/1e6, float64(size)/1e6) + text
	}
	if left := format.Remaining(share, since); left > 0 {
		text += ", about " + format.Span(left.Round(time.Second)) + " left"
	}
	return text
}
