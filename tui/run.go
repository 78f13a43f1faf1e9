// Package tui is the screen: it draws a session's frames and turns keys into its commands.
//
// There is one tea.Model. What it draws with are plain structs with a Draw, each into its own area of a
// canvas; what it does is a table of actions, by the IDs of package keymap.
package tui

import (
	"context"
	"errors"
	"os"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"golang.org/x/term"

	"github.com/schedq/schedq/queue/session"
)

// Options say what the screen offers beside the session.
type Options struct {
	// Recordings are those that the person can switch to.
	Recordings []Recording
	// NoColor draws without colours, whatever the terminal can do. A non-empty NO_COLOR means the same.
	NoColor bool
	// NoMouse leaves the mouse to the terminal until the person takes it.
	NoMouse bool
}

// Recording is a recording that the person can switch to.
type Recording struct {
	Name, Title, Description string
	// Open returns a new session at the start of the recording. It is called outside of the screen's
	// own goroutine and may take its time.
	Open func() (*session.Session, error)
}

// ErrNoTerminal is returned by Run if there is no terminal to draw on.
var ErrNoTerminal = errors.New("standard output is not a terminal that can show a screen")

// Run has s run and shows it until the person quits, ctx ends or something fails; the caller must not run
// s. The terminal is left as it was. The error is nil if the person quit, and ctx's if that ended.
func Run(ctx context.Context, s *session.Session, o Options) error {
	if !term.IsTerminal(int(os.Stdout.Fd())) || os.Getenv("TERM") == "dumb" {
		return ErrNoTerminal
	}
	o.NoColor = o.NoColor || os.Getenv("NO_COLOR") != ""

	running, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newModel(running, s, o)
	_, err := newProgram(running, m).Run()
	switch {
	case m.crash != nil:
		return m.crash
	case ctx.Err() != nil:
		return ctx.Err() // and not that the program was killed, as bubbletea puts it
	default:
		return err
	}
}

// frameRate is how often the terminal is written to at the most: a frame comes 20 times a second.
const frameRate = 30

// newProgram returns a program that shows m. Options given here come after those that it has of itself.
func newProgram(ctx context.Context, m *model, more ...tea.ProgramOption) *tea.Program {
	all := []tea.ProgramOption{tea.WithContext(ctx), tea.WithFPS(frameRate)}
	if m.options.NoColor {
		// colorprofile reads NO_COLOR as a boolean and so overlooks NO_COLOR=yes. Bold and reverse stay.
		all = append(all, tea.WithColorProfile(colorprofile.Ascii))
	}
	return tea.NewProgram(m, append(all, more...)...)
}
