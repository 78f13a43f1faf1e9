package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/lessons"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/room"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/sources/embedded"
	"github.com/schedq/schedq/tui"
)

// serveFlags are the flags of a room.
type serveFlags struct {
	address, teacherAddress string
	code, teacherCode       string
	codeFile                string
	teacherCodeFile         string
	keys, teacherKeys       string // files
	hostKey                 string // a file; default in the state directory
	sessions, perAddress    int
	idle                    time.Duration
	memory                  string
	lesson, course          string
	recording               string
	play                    bool
	web                     webFlags
	notes                   *stepNotes // for the teacher's page; nil without lessons
}

// NewServe returns schedq serve.
func NewServe() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the lessons to a class over SSH and in browsers",
		Long: `Serve the lessons over SSH, and with --web in browsers. Each visitor with the room's code gets their
own session; with the teacher's code you can share your screen (press ctrl+t, then f) until visitors
press a key. The teacher's screen counts predictions without names. The codes are printed at start.
Visitors have no access to this machine: no shell, no command, no forwarding, no file, no cluster.`,
		Example: "  schedq serve\n  schedq serve --web\n  schedq serve --web=127.0.0.1:8080 --lesson mine.yaml --kiosk\n  schedq serve --listen :2022 --code monday-room --lesson 3\n  schedq serve --authorized-keys class.pub --teacher-keys ~/.ssh/id_ed25519.pub",
		Args:    cli.Args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.serve(cmd)
		},
	}
	limits := room.DefaultLimits()
	set := cmd.Flags()
	set.StringVar(&f.address, "listen", ":2222", "`ADDRESS` to listen on")
	set.StringVar(&f.teacherAddress, "teacher-listen", "", "`ADDRESS` of the teacher-only port, or none; default the next port, on this machine only")
	set.StringVar(&f.code, "code", "", "the room's `CODE`; default random, or none with --authorized-keys")
	set.StringVar(&f.teacherCode, "teacher-code", "", "the teacher's `CODE`; default random, or none with --teacher-keys")
	set.StringVar(&f.codeFile, "code-file", "", "`FILE` with the room's code, to hide it from other users' process lists")
	set.StringVar(&f.teacherCodeFile, "teacher-code-file", "", "`FILE` with the teacher's code")
	set.StringVar(&f.keys, "authorized-keys", "", "`FILE` with public keys that need no code")
	set.StringVar(&f.teacherKeys, "teacher-keys", "", "`FILE` with the teacher's public keys")
	set.StringVar(&f.hostKey, "host-key", "", "`FILE` with the room's private key, created if missing; default $XDG_STATE_HOME/schedq/room/hostkey")
	set.IntVar(&f.sessions, "max-sessions", limits.Sessions, "maximum number of visitors")
	set.IntVar(&f.perAddress, "max-per-address", defaultPerAddress, "maximum number of visitors from one address, such as a school's; 0 is --max-sessions")
	set.DurationVar(&f.idle, "idle", limits.Idle, "disconnect visitors who press no key for this long")
	set.StringVar(&f.memory, "memory", "2Gi", "memory limit of the room")
	set.StringVar(&f.lesson, "lesson", "1", "first lesson, by number or name, or a file")
	set.StringVar(&f.course, "course", "", "`FILE` with a course; default all lessons in order")
	set.StringVar(&f.recording, "recording", "", "show an embedded recording instead of lessons: "+strings.Join(cli.EmbeddedNames(), ", "))
	set.BoolVar(&f.play, "play", false, "start an empty cluster instead of lessons")
	f.web.register(set)
	cmd.MarkFlagsMutuallyExclusive("lesson", "recording", "play")
	cmd.MarkFlagsMutuallyExclusive("course", "recording", "play")
	cmd.MarkFlagsMutuallyExclusive("code", "code-file")
	cmd.MarkFlagsMutuallyExclusive("teacher-code", "teacher-code-file")
	return cmd
}

// serve checks the flags and opens the room until the command is stopped.
func (f *serveFlags) serve(cmd *cobra.Command) error {
	config, err := f.config(cmd.Context(), cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	r, err := room.New(config)
	if err != nil {
		return cli.UsageError{Err: err}
	}
	if config.Access.TeacherCode != "" && f.notes != nil {
		f.web.notes = f.notes.Next
	}
	page, err := f.web.open(cmd.Context())
	if err != nil {
		return err
	}
	debug.SetMemoryLimit(config.Limits.Memory / 10 * 8) // collect garbage before turning visitors away
	out := cli.SanitizingWriter{Writer: cmd.OutOrStdout()}
	if f.web.kiosk {
		fmt.Fprint(out, "The page is open to everybody:\n\n")
		page.announce(out)
		fmt.Fprintln(out, "Press ctrl+c to close it.")
		return r.Serve(cmd.Context(), page.listener())
	}
	listeners, err := f.listen()
	if err != nil {
		if page != nil {
			err = errors.Join(err, page.Close())
		}
		return err
	}
	f.announce(out, listeners, page, config)
	if page != nil {
		listeners = append(listeners, page.listener())
		printQRCode(cmd.OutOrStdout(), page.url())
	} else {
		at := listeners[0].Addr()
		printQRCode(cmd.OutOrStdout(), "ssh://"+net.JoinHostPort(visitorHosts(at)[0], portOf(at)))
	}
	return r.Serve(cmd.Context(), listeners...)
}

const (
	// defaultPerAddress leaves some of the default number of seats to other addresses.
	defaultPerAddress = 60
	// minRoomMemory is the memory of a room with few visitors, in bytes.
	minRoomMemory = 256 << 20
)

// config returns the room's configuration.
func (f *serveFlags) config(ctx context.Context, log io.Writer) (room.Config, error) {
	c := room.Config{Limits: room.DefaultLimits(), Log: slog.New(slog.NewTextHandler(log, nil))}
	memory, err := sources.ParseQuantity(f.memory)
	switch {
	case err != nil:
		return c, cli.Usagef("invalid --memory %s: use a quantity such as 2Gi", sources.Sanitize(f.memory))
	case memory.Value() < minRoomMemory:
		return c, cli.Usagef("--memory %s is too little: a room needs 256Mi or more", sources.Sanitize(f.memory))
	case f.sessions < 1:
		return c, cli.Usagef("invalid --max-sessions %d: use 1 or more", f.sessions)
	case f.perAddress < 0:
		return c, cli.Usagef("invalid --max-per-address %d: use a number of visitors, or 0 for --max-sessions", f.perAddress)
	case f.idle <= 0:
		return c, cli.Usagef("invalid --idle %s: use a positive duration", f.idle)
	}
	c.Limits.PerAddress, c.NoTeacher = f.perAddress, f.web.kiosk
	c.Limits.Sessions, c.Limits.Idle, c.Limits.Memory = f.sessions, f.idle, memory.Value()
	if c.Access, err = f.access(ctx); err != nil {
		return c, err
	}
	if c.Open, err = f.opener(ctx); err != nil {
		return c, err
	}
	path := f.hostKey
	if path == "" {
		state, err := disk.StateFolder()
		if err != nil {
			return c, fmt.Errorf("no state directory for a host key: use --host-key: %w", err)
		}
		path = filepath.Join(state, "room", "hostkey")
	}
	c.HostKey, err = loadHostKey(ctx, path)
	return c, err
}

// opener returns a function that opens a visitor's screen: lessons, a recording or free play. Each
// visitor has their own session, without access to this machine.
func (f *serveFlags) opener(ctx context.Context) (room.Open, error) {
	if f.recording == "" && !f.play {
		return f.lessonOpener(ctx)
	}
	plugins, err := cycle.InTree()
	if err != nil {
		return nil, err
	}
	opts := timeline.Options{Plugins: plugins, Paused: true}
	if f.play {
		return func(v *room.Visitor) (tea.Model, error) {
			v.SetPlace("free play")
			return tui.NewPlay(v.Context(), "", opts, tui.Options{}.Served())
		}, nil
	}
	rec, err := embedded.Open(ctx, f.recording)
	if err != nil {
		return nil, cli.UsageError{Err: err}
	}
	shown := embedded.All()[slices.Index(cli.EmbeddedNames(), f.recording)]
	rec.Name = sources.SafeText(shown.Title)
	opts.StartOffset = shown.Opens
	return func(v *room.Visitor) (tea.Model, error) {
		v.SetPlace(shown.Title)
		return tui.NewServed(v.Context(), session.New(rec, opts), tui.Options{}), nil
	}, nil
}

// lessonOpener returns a function that opens the lessons, starting with --lesson.
func (f *serveFlags) lessonOpener(ctx context.Context) (room.Open, error) {
	course, err := cli.Course(ctx, f.course)
	if err != nil {
		return nil, err
	}
	all := course.Lessons
	first, err := cli.Lesson(ctx, all, f.lesson)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(all, first) {
		all = append([]*lessons.Lesson{first}, all...)
	}
	f.notes = new(stepNotes)
	return openLessons(ctx, all, first, f.notes)
}
