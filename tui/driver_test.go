package tui

import (
	"bytes"
	"context"
	"fmt"
	"image/color"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/vt"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/sources/manifest"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/theme"
)

// person is a user of the real program in a terminal emulator, on virtual time. Keys are pressed by
// the names of their bindings, and each press returns when the program is idle again.
type person struct {
	t        *testing.T
	program  *tea.Program
	terminal *vt.Emulator
	model    *model
	drawing  sync.Mutex // some screens redraw by themselves: a lesson's timer
	rang     int        // how often the terminal's bell rang
	pressed  []string   // the keys since the tape's last frame
	// written is the program's output to the terminal.
	written strings.Builder
	over    chan error
}

// sit starts the program in a terminal of w by h cells. It must be called in a synctest bubble.
func sit(t *testing.T, w, h int, s *session.Session, o Options) *person {
	t.Helper()
	if o.ReadManifest == nil {
		o.ReadManifest = func(path string) (*manifest.Manifest, error) { return manifest.Read(context.Background(), path) }
	}
	return sitAt(t, w, h, func(ctx context.Context) *model { return newModel(ctx, s, o) })
}

// sitAt is like sit, with a model made by build.
func sitAt(t *testing.T, w, h int, build func(context.Context) *model) *person {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	p := &person{t: t}
	p.model = build(ctx)
	p.begin(ctx, cancel, w, h, newSplitView(p.model), p.model.options)
	return p
}

// begin starts the program with its first model.
func (p *person) begin(ctx context.Context, cancel context.CancelFunc, w, h int, first tea.Model, o Options) {
	p.t.Helper()
	p.terminal, p.over = vt.NewEmulator(w, h), make(chan error, 1)
	p.terminal.SetCallbacks(vt.Callbacks{Bell: func() { p.rang++ }})
	profile := colorprofile.TrueColor
	if o.NoColor {
		profile = colorprofile.Ascii
	}
	p.program = newProgram(ctx, first, o,
		tea.WithInput(nil), tea.WithoutSignalHandler(), tea.WithOutput(p),
		tea.WithWindowSize(w, h), tea.WithColorProfile(profile), tea.WithEnvironment([]string{"TERM=xterm-256color"}))

	go func() { // discard the terminal's replies
		_, _ = io.Copy(io.Discard, p.terminal)
	}()
	go func() {
		_, err := p.program.Run()
		p.over <- err
	}()
	p.t.Cleanup(func() {
		p.program.Quit()
		cancel()
		time.Sleep(2 * page.NoticeTime) // running timers end
		synctest.Wait()
		_ = p.terminal.InputPipe().(io.Closer).Close()
	})
	p.idle()
}

// Write acts as the line discipline of a terminal that is not in raw mode, since the program reads
// no input: it adds the carriage returns that the program expects at each newline.
func (p *person) Write(b []byte) (int, error) {
	p.drawing.Lock()
	defer p.drawing.Unlock()
	p.written.Write(b)
	if _, err := p.terminal.Write(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// drawn is the time until a change is on the screen: several frames.
const drawn = time.Second / 30

// idle waits until the program has nothing left to do and the screen is up to date.
func (p *person) idle() {
	synctest.Wait()
	time.Sleep(drawn)
	synctest.Wait()
}

// wait lets time pass. It first sends a message, which orders the test's reads of the model before
// the program's later writes: the race detector does not regard a sleep as synchronization.
func (p *person) wait(d time.Duration) {
	p.program.Send(nil)
	time.Sleep(d)
	p.idle()
}

// do presses the first key of each action, and runs an action without a key by name in the palette.
func (p *person) do(ids ...keymap.ID) *person {
	p.t.Helper()
	for _, id := range ids {
		b, ok := p.model.Keys.ByID(id)
		if !ok {
			p.t.Fatalf("there is no binding %s", id)
		}
		if len(b.Keys) == 0 {
			p.do(keymap.Palette).enter(b.Name)
			continue
		}
		for key := range strings.SplitSeq(b.Keys[0], " ") {
			p.press(key)
		}
	}
	return p
}

// try runs an action that starts a what-if, and confirms it.
func (p *person) try(id keymap.ID) *person {
	p.t.Helper()
	p.do(id).sees("start a what-if?").do(keymap.ListChoose)
	return p.seesNot("start a what-if?")
}

// keyCodes are the keys that type no text.
var keyCodes = map[string]tea.Key{
	"space": {Code: tea.KeySpace, Text: " "}, "tab": {Code: tea.KeyTab}, "enter": {Code: tea.KeyEnter},
	"esc": {Code: tea.KeyEscape}, "backspace": {Code: tea.KeyBackspace}, "up": {Code: tea.KeyUp},
	"down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight}, "pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown}, "f5": {Code: tea.KeyF5},
	"shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift}, "ctrl+p": {Code: 'p', Mod: tea.ModCtrl},
	"ctrl+f":      {Code: 'f', Mod: tea.ModCtrl},
	"shift+right": {Code: tea.KeyRight, Mod: tea.ModShift}, "shift+left": {Code: tea.KeyLeft, Mod: tea.ModShift},
	"ctrl+right": {Code: tea.KeyRight, Mod: tea.ModCtrl}, "ctrl+left": {Code: tea.KeyLeft, Mod: tea.ModCtrl},
}

func (p *person) press(key string) {
	p.t.Helper()
	k, named := keyCodes[key]
	if !named {
		if utf8.RuneCountInString(key) != 1 {
			p.t.Fatalf("keyCodes lacks the key %q", key)
		}
		r, _ := utf8.DecodeRuneInString(key)
		k = tea.Key{Code: r, Text: key}
	}
	if got := k.String(); got != key {
		p.t.Fatalf("the key %q reaches the program as %q", key, got)
	}
	p.pressed = append(p.pressed, key)
	p.program.Send(tea.KeyPressMsg(k))
	p.idle()
}

// enter types text and accepts it.
func (p *person) enter(text string) *person {
	p.t.Helper()
	p.types(text).press("enter")
	return p
}

// paste pastes text.
func (p *person) paste(text string) *person {
	p.program.Send(tea.PasteMsg{Content: text})
	p.idle()
	return p
}

// goTo moves to a time.
func (p *person) goTo(when string) *person {
	p.t.Helper()
	return p.do(keymap.Seek).enter(when)
}

// resize changes the terminal's size.
func (p *person) resize(w, h int) {
	p.terminal.Resize(w, h)
	p.program.Send(tea.WindowSizeMsg{Width: w, Height: h})
	p.idle()
}

// screen returns the terminal's text row by row, without trailing blanks.
func (p *person) screen() string {
	var b strings.Builder
	for y := range p.terminal.Height() {
		b.WriteString(p.row(y))
		b.WriteByte('\n')
	}
	return b.String()
}

func (p *person) row(y int) string {
	p.drawing.Lock()
	defer p.drawing.Unlock()
	var b strings.Builder
	for x := range p.terminal.Width() {
		if c := p.terminal.CellAt(x, y); c != nil && c.Width > 0 {
			b.WriteString(c.Content)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// styles returns a letter for each cell's style: the letter of its colour, in upper case if bold, #
// if reversed and _ if underlined. A dot is plain text.
func (p *person) styles() string {
	letters := map[string]byte{}
	named := p.model.looks.theme
	if p.model.Projector {
		named = theme.HighContrast
	}
	palette := theme.NewPalette(named, true, false, false)
	for style, letter := range map[canvas.Style]byte{
		theme.Dim: 'd', theme.Accent: 'c', theme.Active: 'a', theme.Backoff: 'b', theme.Unschedulable: 'u', theme.Gated: 'g', theme.InFlight: 'f', theme.WhatIf: 'w', theme.Alarm: 'x',
	} {
		letters[palette[style]] = letter
	}
	var b strings.Builder
	for y := range p.terminal.Height() {
		row := make([]byte, p.terminal.Width())
		for x := range row {
			row[x] = letterOf(p.terminal, x, y, letters)
		}
		b.WriteString(strings.TrimRight(string(row), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

func letterOf(terminal *vt.Emulator, x, y int, letters map[string]byte) byte {
	const bold, reverse = 1 << 0, 1 << 5 // ultraviolet's attributes
	c := terminal.CellAt(x, y)
	switch {
	case c == nil:
		return ' '
	case c.Style.Attrs&reverse != 0:
		return '#'
	case c.Style.Underline != 0:
		return '_'
	case c.Style.Fg == nil && c.Content == " ":
		return ' '
	}
	letter := byte('.')
	if c.Style.Fg != nil {
		letter = letters[foreground(c.Style.Fg)]
	}
	if c.Style.Attrs&bold != 0 {
		if letter == '.' {
			return 'B'
		}
		return letter - 'a' + 'A'
	}
	return letter
}

func foreground(c color.Color) string {
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("\x1b[38;2;%d;%d;%dm", r>>8, g>>8, b>>8)
}

// sees fails the test unless every text is on the screen.
func (p *person) sees(texts ...string) *person {
	p.t.Helper()
	screen := p.screen()
	for _, text := range texts {
		if !strings.Contains(screen, text) {
			p.t.Errorf("%q is not on the screen:\n%s", text, screen)
		}
	}
	return p
}

// seesNot fails the test if text is on the screen.
func (p *person) seesNot(text string) *person {
	p.t.Helper()
	if screen := p.screen(); strings.Contains(screen, text) {
		p.t.Errorf("%q is on the screen:\n%s", text, screen)
	}
	return p
}

// answer returns the status line.
func (p *person) answer() string { return strings.TrimSpace(p.row(p.terminal.Height() - 2)) }
