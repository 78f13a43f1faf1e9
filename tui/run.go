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

// Options are the options of the screen.
type Options struct {
	// Recordings are offered in the list of recordings.
	Recordings []Recording
	// OwnRecordings returns the user's own recordings. It is called outside of Update. Nil: there are none.
	OwnRecordings func() ([]Recording, error)
	// Clusters returns the clusters to attach to. It is called outside of Update. Nil: there are none.
	Clusters func() ([]Recording, error)
	// OpenFiles returns the recording of files of one run. Nil: files can't be opened.
	OpenFiles func(paths []string) Recording
	// Arguments returns the arguments with which commands of schedq read what has that name in Memory. Nil, or none: they can't.
	Arguments func(source string) []string
	// Keeps is set if what-ifs are saved when the program ends.
	Keeps bool
	// NoColor disables colours, like a non-empty NO_COLOR.
	NoColor bool
	// Theme is one of theme.All or of Skins, which are user-defined. "" is theme.Auto.
	Theme theme.Theme
	Skins theme.Skins
	// Glyphs are the characters to draw with. "" is GlyphsAuto in Run, and GlyphsUnicode elsewhere.
	Glyphs theme.Glyphs
	// Projector starts in projector view.
	Projector bool
	// ReadManifest reads a manifest. Nil is manifest.Read in Run; elsewhere no manifest can be read.
	ReadManifest func(path string) (*manifest.Manifest, error)
	// WriteFile writes a new file. Nil is disk.WriteBytes in Run; elsewhere no file can be written.
	WriteFile func(path string, data []byte) error
	// ReadFolder returns the names in a folder, those of folders with a trailing slash, for completion. Nil is the file system's in Run;
	// elsewhere nothing is completed.
	ReadFolder func(path string) ([]string, error)
	// Commands are the user-defined commands. They only run in Run.
	Commands []Command
	machine  Machine
	titled   bool     // set the title of the terminal's window
	links    bool     // link plugins and events to their documentation
	notifier notifier // nil: no notifications
	// Bell rings the terminal's bell when a run or long work ends.
	Bell bool
	// Notifications raises a desktop notification while the terminal has no focus, when the selected pod is bound, deleted or
	// rejected by other plugins than before, or a run stops. They only work in Run.
	Notifications bool
	// Zone is the time zone of times of day.
	Zone words.Zone
	// NoMouse leaves the mouse to the terminal until the user turns it on.
	NoMouse bool
	// Keys are the bindings. Nil is keymap.Default.
	Keys []keymap.Binding
	// Views are the user-defined views in the order of their keys.
	Views []NamedView
	// Start is how the program starts: StartBoard (also ""), StartLast or the name of a view.
	Start string
	// Beside is a second session to show from the start. Nil: none.
	Beside *Beside
	// Notice is shown at the start: what is wrong with the configuration.
	Notice string
	// NextConfig waits for a change of the configuration and returns the new one. It is called outside of Update. Nil: the configuration
	// does not change.
	NextConfig func(ctx context.Context) (Options, error)
	// ReadOn reads the rest of a recording that is shown while it is read, and updates the session: see session.Complete. It is called
	// once, outside of Update, and returns when ctx ends at the latest. Nil: the recording is complete.
	ReadOn func(ctx context.Context)
	// Memory remembers how sources were viewed, by their names; Source is the name of the session's. Nil or "": nothing is remembered.
	Memory Memory
	Source string
}

// Recording is a recording or a live cluster in the list of recordings.
type Recording struct {
	Name, Title, Description string
	// Source is its name in Memory. "": its view is not remembered.
	Source string
	// Open returns a new session at the start of the recording, or of the cluster. It is called outside of Update and may take
	// long, until ctx ends. progress takes the share that is read, from 0 to 1, and is safe for concurrent use.
	Open func(ctx context.Context, progress func(share float64)) (*session.Session, error)
}

// ErrNoTerminal is returned if there is no terminal to draw on.
var ErrNoTerminal = errors.New("standard output is not a terminal")

// Run runs s, which must not be running, and shows it until the user quits, ctx ends or an error occurs. It restores the terminal.
// The error is nil if the user quit, and ctx's if ctx ended.
func Run(ctx context.Context, s *session.Session, o Options) error {
	return run(ctx, o, func(ctx context.Context, o Options) *model { return newModel(ctx, s, o) })
}

// HasTerminal reports whether there is a terminal to draw on.
func HasTerminal() bool {
	return term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("TERM") != "dumb"
}

// onTerminal returns o completed for this terminal and this machine.
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
	o.notifier = notifierOf(os.Getenv)
	o.links = linking(os.Getenv) && !o.NoColor && o.Glyphs != theme.GlyphsASCII
	if o.WriteFile == nil {
		o.WriteFile = func(path string, data []byte) error { return disk.WriteBytes(ctx, path, disk.Options{}, data) }
	}
	return o
}

// run shows the model that build returns on the terminal: see Run.
func run(ctx context.Context, o Options, build func(context.Context, Options) *model) error {
	if !HasTerminal() {
		return ErrNoTerminal
	}
	o = o.onTerminal(ctx)
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	m := build(running, o)
	m.applyStart()
	return runProgram(running, newSplitView(m), o)
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

// maxFiles limits how many names of a folder are offered.
const maxFiles = 5000

// readFolder is the default of Options.ReadFolder.
func readFolder(path string) ([]string, error) {
	folder, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	entries, err := folder.ReadDir(maxFiles)
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

// The title of the terminal's window is saved, and restored at the end (xterm's window operations 22 and 23).
const pushTitle, popTitle = "\x1b[22;2t", "\x1b[23;2t"

// outputDelay is how long a stopped command may keep its output open.
const outputDelay = time.Second

// runCommand is Machine.Run.
func runCommand(ctx context.Context, words []string, out io.Writer) error {
	program := exec.CommandContext(ctx, words[0], words[1:]...)
	program.Stdout, program.Stderr, program.WaitDelay = out, out, outputDelay
	return program.Run()
}

// runOnTerminal is Machine.RunOnTerminal.
func runOnTerminal(ctx context.Context, words []string, ended func(error) tea.Msg) tea.Cmd {
	return tea.ExecProcess(exec.CommandContext(ctx, words[0], words[1:]...), tea.ExecCallback(ended))
}

// frameRate is how often per second the terminal is updated at most, bubbletea's maximum. bubbletea wakes up as often while
// nothing changes, which is nearly the whole cost of an idle screen: 1.2 % of a core, and 0.85 % at 60. The rate adds 4 ms to a
// key's reaction on average and 8 ms at most; at 60 it was 8 and 17, at 15 33 and 67.
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
