package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"golang.org/x/term"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/sources/manifest"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/theme"
)

// Options say what the screen offers beside the session.
type Options struct {
	// Recordings are those that the person can switch to.
	Recordings []Recording
	// OwnRecordings returns those that the person has made. It is called outside of the screen's own goroutine. Nil: none
	// are looked for.
	OwnRecordings func() ([]Recording, error)
	// Clusters returns those that the person can attach to. It is called outside of the screen's own goroutine. Nil: there
	// are none to choose from.
	Clusters func() ([]Recording, error)
	// OpenFiles is the recording of files of one run. Nil: files can't be opened.
	OpenFiles func(paths []string) Recording
	// Keeps is true if what is played is kept when the person leaves.
	Keeps bool
	// NoColor draws without colours, whatever the terminal can do. A non-empty NO_COLOR means the same.
	NoColor bool
	// Theme are the colours: one of theme.All or of Skins, which are the person's own. Empty is theme.Auto.
	Theme theme.Theme
	Skins theme.Skins
	// Glyphs are the signs that are drawn with. Empty is GlyphsAuto in Run, and GlyphsUnicode elsewhere.
	Glyphs theme.Glyphs
	// Projector draws for a room from the start.
	Projector bool
	// ReadManifest reads a file of this machine. Nil is manifest.Read in Run, and that none can be read elsewhere.
	ReadManifest func(path string) (*manifest.Manifest, error)
	// WriteFile writes a new file of this machine. Nil is disk.WriteBytes in Run, and that none can be written elsewhere.
	WriteFile func(path string, data []byte) error
	// ReadFolder returns the names in a folder of this machine, those of folders with a / behind, to complete what is typed. Nil
	// is the machine's in Run, and that there are no files elsewhere.
	ReadFolder func(path string) ([]string, error)
	// Commands are the person's own. They can be run in Run, and nowhere else.
	Commands []Command
	machine  Machine
	titled   bool // whether the terminal's window is called after what is shown
	// Bell rings the terminal's bell when time stops at what it ran to, and when long work is done.
	Bell bool
	// Zone is the time zone in which times of day are told.
	Zone words.Zone
	// NoMouse leaves the mouse to the terminal until the person takes it.
	NoMouse bool
	// Keys are the bindings. Nil is keymap.Default.
	Keys []keymap.Binding
	// Views are the person's own, in the order of their keys.
	Views []NamedView
	// Start is what the program begins with: StartBoard, which an empty one is, StartLast or the name of one of Views.
	Start string
	// Beside is what stands beside the session from the start. Nil: nothing does.
	Beside *Beside
	// NextConfig waits until the configuration has changed, and returns what it says then; or that it can't be read. It is
	// called outside of the screen's own goroutine. Nil: the configuration stays.
	NextConfig func(ctx context.Context) (Options, error)
	// ReadOn reads on what the session is of whose beginning alone is read, and tells it: see session.Complete. It is called once,
	// outside of the screen's own goroutine, and returns when ctx ends at the latest. Nil: all is read.
	ReadOn func(ctx context.Context)
	// Memory keeps how sources were looked at, and Source is what the session's is called in it. Nil, or an
	// empty Source: it is not kept.
	Memory Memory
	Source string
}

// Recording is a recording, or a live cluster, that the person can switch to.
type Recording struct {
	Name, Title, Description string
	// Source is what it is called in Memory. Empty: how it was looked at is not kept.
	Source string
	// Open returns a new session at the start of the recording, or of the cluster. It is called outside of the screen's
	// own goroutine and may take its time, until ctx ends. Progress, which is safe for concurrent use, is told how much
	// of it is read, from 0 to 1.
	Open func(ctx context.Context, progress func(share float64)) (*session.Session, error)
}

// ErrNoTerminal is returned by Run if there is no terminal to draw on.
var ErrNoTerminal = errors.New("standard output is not a terminal that can show a screen")

// Run has s run and shows it until the person quits, ctx ends or something fails; the caller must not run
// s. The terminal is left as it was. The error is nil if the person quit, and ctx's if that ended.
func Run(ctx context.Context, s *session.Session, o Options) error {
	return run(ctx, o, func(ctx context.Context, o Options) *model { return newModel(ctx, s, o) })
}

// HasTerminal reports whether there is a terminal to draw on.
func HasTerminal() bool {
	return term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("TERM") != "dumb"
}

// onTerminal returns o with what this terminal and this machine offer.
func (o Options) onTerminal(ctx context.Context) Options {
	o.NoColor = o.NoColor || os.Getenv("NO_COLOR") != ""
	o.Glyphs = o.Glyphs.Resolve(os.Getenv)
	if next := o.NextConfig; next != nil {
		o.NextConfig = func(ctx context.Context) (Options, error) {
			again, err := next(ctx)
			again.Glyphs = again.Glyphs.Resolve(os.Getenv)
			return again, err
		}
	}
	if o.ReadManifest == nil {
		o.ReadManifest = func(path string) (*manifest.Manifest, error) { return manifest.Read(ctx, path) }
	}
	if o.ReadFolder == nil {
		o.ReadFolder = readFolder
	}
	o.machine, o.titled = Machine{Run: runCommand, RunOnTerminal: runOnTerminal}, true
	if o.WriteFile == nil {
		o.WriteFile = func(path string, data []byte) error { return disk.WriteBytes(ctx, path, disk.Options{}, data) }
	}
	return o
}

// run runs the model that build returns on the terminal: see Run.
func run(ctx context.Context, o Options, build func(context.Context, Options) *model) error {
	if !HasTerminal() {
		return ErrNoTerminal
	}
	o = o.onTerminal(ctx)
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	m := build(running, o)
	m.begin()
	return runProgram(running, newSides(m), o)
}

// screen is a model of the program.
type screen interface {
	tea.Model
	// crashed returns the panic that ended the program, or nil.
	crashed() *page.Crash
	// leave cleans up after the terminal is restored, and returns the program's error.
	leave() error
}

// runProgram runs the program from its first model to its end.
func runProgram(ctx context.Context, first screen, o Options) error {
	fmt.Print(pushTitle)
	defer fmt.Print(popTitle)
	last, err := newProgram(ctx, first, o).Run()
	shown, ok := last.(screen)
	switch {
	case ok && shown.crashed() != nil:
		return reportCrash(shown.crashed(), time.Now())
	case ctx.Err() != nil:
		return ctx.Err() // bubbletea would say that the program was killed
	case err != nil || !ok:
		return err
	}
	return shown.leave()
}

// mostFiles is how many names of a folder are offered.
const mostFiles = 5000

// readFolder is Options.ReadFolder of this machine.
func readFolder(path string) ([]string, error) {
	folder, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	entries, err := folder.ReadDir(mostFiles)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() {
			name += "/"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// How a terminal's window is called is put aside, and comes back at the end (xterm's window operations 22 and 23).
const pushTitle, popTitle = "\x1b[22;2t", "\x1b[23;2t"

// patience is for how long a program that was stopped may hold on to what it writes to.
const patience = time.Second

// runCommand is Machine.Run.
func runCommand(ctx context.Context, words []string, out io.Writer) error {
	program := exec.CommandContext(ctx, words[0], words[1:]...)
	program.Stdout, program.Stderr, program.WaitDelay = out, out, patience
	return program.Run()
}

// runOnTerminal is command.Machine's.
func runOnTerminal(ctx context.Context, words []string, ended func(error) tea.Msg) tea.Cmd {
	return tea.ExecProcess(exec.CommandContext(ctx, words[0], words[1:]...), tea.ExecCallback(ended))
}

// frameRate is how often a second the terminal is written to at the most, which is also the most that bubbletea takes. It wakes up so
// often, also while nothing changes, and that is nearly all that an idle screen costs: 1.2 % of a core, with 60 it was 0.85. A key's
// answer waits 4 ms for it on average, 8 at most; with 60 it was 8 and 17, and with 15 33 and 67.
const frameRate = 120

// newProgram returns a program that starts with first and ends with ctx; more options override its own. It does not handle signals:
// the caller does, and two handlers can deadlock (bubbletea's sends to a loop that ctx has ended).
func newProgram(ctx context.Context, first tea.Model, o Options, more ...tea.ProgramOption) *tea.Program {
	all := []tea.ProgramOption{tea.WithContext(ctx), tea.WithFPS(frameRate), tea.WithoutSignalHandler()}
	if o.NoColor {
		// colorprofile reads NO_COLOR as a boolean and so overlooks NO_COLOR=yes. Bold and reverse stay.
		all = append(all, tea.WithColorProfile(colorprofile.Ascii))
	}
	return tea.NewProgram(first, append(all, more...)...)
}
