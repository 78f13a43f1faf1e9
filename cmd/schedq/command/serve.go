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
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/room"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
)

// serveFlags are those of a room.
type serveFlags struct {
	address, teachers string // where visitors come in, and where only teachers do; empty is next to it on loopback
	code, teacherCode string
	codeFile          string
	teacherCodeFile   string
	keys, teacherKeys string // files
	hostKey           string // a file; empty is the one in the state directory
	sessions, ofOne   int
	idle              time.Duration
	memory            string
	lesson, course    string
	recording         string
	play              bool
	web               webFlags
	speaker           *speaker // whose notes the page has for the teacher; nil where there are no lessons
}

// New returns schedq serve.
func NewServe() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Open a room: the lessons over SSH and in browsers, for everybody in it",
		Long: `serve offers the lessons over SSH, and with --web in browsers, too: whoever has the room's code gets a session of their own, and who has the
teacher's code can have everybody see their screen (ctrl+t, then f), until they press a key. What is
predicted is counted on the teacher's screen, without names. The codes are printed at the start.
Visitors reach nothing of this machine: no shell, no command, no forwarding, no file, no cluster.`,
		Example: "  schedq serve\n  schedq serve --web\n  schedq serve --web=127.0.0.1:8080 --lesson mine.yaml --kiosk\n  schedq serve --listen :2022 --code monday-room --lesson 3\n  schedq serve --authorized-keys class.pub --teacher-keys ~/.ssh/id_ed25519.pub",
		Args:    cli.Args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.serve(cmd)
		},
	}
	limits := room.DefaultLimits()
	set := cmd.Flags()
	set.StringVar(&f.address, "listen", ":2222", "the `ADDRESS` to listen at")
	set.StringVar(&f.teachers, "teacher-listen", "", "the `ADDRESS` of a door of the teacher's own, or none; default the next port, for who sits at this machine")
	set.StringVar(&f.code, "code", "", "the room's `CODE`; one is made up if there are no --authorized-keys either")
	set.StringVar(&f.teacherCode, "teacher-code", "", "the teacher's `CODE`; one is made up if there are no --teacher-keys either")
	set.StringVar(&f.codeFile, "code-file", "", "a `FILE` with the room's code, which others at this machine then don't see in the list of programs")
	set.StringVar(&f.teacherCodeFile, "teacher-code-file", "", "a `FILE` with the teacher's code")
	set.StringVar(&f.keys, "authorized-keys", "", "a `FILE` of public keys that come in without a code")
	set.StringVar(&f.teacherKeys, "teacher-keys", "", "a `FILE` of public keys that come in as the teacher")
	set.StringVar(&f.hostKey, "host-key", "", "the `FILE` of the room's private key, made if it is not there; default $XDG_STATE_HOME/schedq/room/hostkey")
	set.IntVar(&f.sessions, "max-sessions", limits.Sessions, "how many visitors there can be")
	set.IntVar(&f.ofOne, "max-per-address", defaultPerAddress, "how many visitors there can be from one address, such as that of a school; 0 is as many as there are seats")
	set.DurationVar(&f.idle, "idle", limits.Idle, "how long a visitor may do nothing")
	set.StringVar(&f.memory, "memory", "2Gi", "how much memory the room may take")
	set.StringVar(&f.lesson, "lesson", "1", "the lesson that visitors begin with, by its number or name, or in a file")
	set.StringVar(&f.course, "course", "", "the lessons of a course, from a `FILE`; default all, in their order")
	set.StringVar(&f.recording, "recording", "", "an embedded recording in place of the lessons: "+strings.Join(cli.EmbeddedNames(), ", "))
	set.BoolVar(&f.play, "play", false, "a cluster of one's own to play with, in place of the lessons")
	f.web.add(set)
	cmd.MarkFlagsMutuallyExclusive("lesson", "recording", "play")
	cmd.MarkFlagsMutuallyExclusive("course", "recording", "play")
	cmd.MarkFlagsMutuallyExclusive("code", "code-file")
	cmd.MarkFlagsMutuallyExclusive("teacher-code", "teacher-code-file")
	return cmd
}

// serve opens the room until it is stopped. What can be wrong is found before.
func (f *serveFlags) serve(cmd *cobra.Command) error {
	config, err := f.config(cmd.Context(), cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	r, err := room.New(config)
	if err != nil {
		return cli.UsageError{Err: err}
	}
	if config.Access.TeacherCode != "" && f.speaker != nil {
		f.web.notes = f.speaker.Next
	}
	page, err := f.web.open(cmd.Context())
	if err != nil {
		return err
	}
	debug.SetMemoryLimit(config.Limits.Memory / 10 * 8) // rather collect garbage than turn people away
	out := cli.PlainWriter{Writer: cmd.OutOrStdout()}
	if f.web.kiosk {
		fmt.Fprint(out, "The page is open to all:\n\n")
		page.announce(out)
		fmt.Fprintln(out, "ctrl+c closes it.")
		return r.Serve(cmd.Context(), page.door())
	}
	doors, err := f.doors()
	if err != nil {
		if page != nil {
			err = errors.Join(err, page.Close())
		}
		return err
	}
	f.announce(out, doors, page, config)
	if page != nil {
		doors = append(doors, page.door())
		drawCode(cmd.OutOrStdout(), page.url())
	} else {
		at := doors[0].Addr()
		drawCode(cmd.OutOrStdout(), "ssh://"+net.JoinHostPort(reachable(at)[0], portOf(at)))
	}
	return r.Serve(cmd.Context(), doors...)
}

// config is the room's, by the flags.
func (f *serveFlags) config(ctx context.Context, log io.Writer) (room.Config, error) {
	c := room.Config{Limits: room.DefaultLimits(), Log: slog.New(slog.NewTextHandler(log, nil))}
	memory, err := sources.ParseQuantity(f.memory)
	switch {
	case err != nil:
		return c, cli.Usagef("--memory %s is no quantity such as 2Gi", sources.Sanitize(f.memory))
	case memory.Value() < leastMemory:
		return c, cli.Usagef("--memory %s is too little: a room takes 256Mi or more", sources.Sanitize(f.memory))
	case f.sessions < 1:
		return c, cli.Usagef("--max-sessions %d: a room has one seat or more", f.sessions)
	case f.ofOne < 0:
		return c, cli.Usagef("--max-per-address %d: it is a number of visitors, or 0 for as many as there are seats", f.ofOne)
	case f.idle <= 0:
		return c, cli.Usagef("--idle %s: everybody would be sent out", f.idle)
	}
	c.Limits.PerAddress, c.NoTeacher = f.ofOne, f.web.kiosk
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
			return c, fmt.Errorf("--host-key is not given, and there is no state directory: %w", err)
		}
		path = filepath.Join(state, "room", "hostkey")
	}
	c.HostKey, err = LoadHostKey(ctx, path)
	return c, err
}

// defaultPerAddress leaves some of the default number of seats to others.
const defaultPerAddress = 60

// leastMemory is what a room with few visitors takes.
const leastMemory = 256 << 20
