package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"
	"golang.org/x/crypto/ssh"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/room"
	"github.com/schedq/schedq/room/hostkey"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/embedded"
	"github.com/schedq/schedq/tui"
)

// serveFlags are those of a room.
type serveFlags struct {
	address           string
	code, teacherCode string
	keys, teacherKeys string // files
	hostKey           string // a file; empty is the one in the state directory
	sessions          int
	idle              time.Duration
	memory            string
	lesson            string
	recording         string
	play              bool
}

func newServe() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Open a room: the lessons over SSH, for everybody in it",
		Long: `serve offers the lessons over SSH: whoever has the room's code gets a session of their own, and who has the
teacher's code can have everybody see their screen (ctrl+t, then f), until they press a key. What is
predicted is counted on the teacher's screen, without names. The codes are printed at the start.
Visitors reach nothing of this machine: no shell, no command, no forwarding, no file, no cluster.`,
		Example: "  schedq serve\n  schedq serve --listen :2022 --code monday-room --lesson 3\n  schedq serve --authorized-keys class.pub --teacher-keys ~/.ssh/id_ed25519.pub",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.serve(cmd)
		},
	}
	limits := room.DefaultLimits()
	flags := cmd.Flags()
	flags.StringVar(&f.address, "listen", ":2222", "the `ADDRESS` to listen at")
	flags.StringVar(&f.code, "code", "", "the room's `CODE`; one is made up if there are no --authorized-keys either")
	flags.StringVar(&f.teacherCode, "teacher-code", "", "the teacher's `CODE`; one is made up if there are no --teacher-keys either")
	flags.StringVar(&f.keys, "authorized-keys", "", "a `FILE` of public keys that come in without a code")
	flags.StringVar(&f.teacherKeys, "teacher-keys", "", "a `FILE` of public keys that come in as the teacher")
	flags.StringVar(&f.hostKey, "host-key", "", "the `FILE` of the room's private key, made if it is not there; default $XDG_STATE_HOME/schedq/room/hostkey")
	flags.IntVar(&f.sessions, "max-sessions", limits.Sessions, "how many visitors there can be")
	flags.DurationVar(&f.idle, "idle", limits.Idle, "how long a visitor may do nothing")
	flags.StringVar(&f.memory, "memory", "2Gi", "how much memory the room may take")
	flags.StringVar(&f.lesson, "lesson", "1", "the lesson that visitors begin with, by its number or name, or in a file")
	flags.StringVar(&f.recording, "recording", "", "an embedded recording in place of the lessons: "+strings.Join(embeddedNames(), ", "))
	flags.BoolVar(&f.play, "play", false, "a cluster of one's own to play with, in place of the lessons")
	cmd.MarkFlagsMutuallyExclusive("lesson", "recording", "play")
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
		return usageError{err}
	}
	l, err := net.Listen("tcp", f.address)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	debug.SetMemoryLimit(config.Limits.Memory / 10 * 8) // rather collect garbage than turn people away
	f.announce(cmd.OutOrStdout(), l.Addr(), config)
	return r.Serve(cmd.Context(), l)
}

// config is the room's, by the flags.
func (f *serveFlags) config(ctx context.Context, log io.Writer) (room.Config, error) {
	c := room.Config{Limits: room.DefaultLimits(), Log: slog.New(slog.NewTextHandler(log, nil))}
	memory, err := resource.ParseQuantity(f.memory)
	switch {
	case err != nil:
		return c, usageError{fmt.Errorf("--memory %s is no quantity such as 2Gi", sources.Sanitize(f.memory))}
	case memory.Value() < leastMemory:
		return c, usageError{fmt.Errorf("--memory %s is too little: a room takes 256Mi or more", sources.Sanitize(f.memory))}
	case f.sessions < 1:
		return c, usageError{fmt.Errorf("--max-sessions %d: a room has one seat or more", f.sessions)}
	case f.idle <= 0:
		return c, usageError{fmt.Errorf("--idle %s: everybody would be sent out", f.idle)}
	}
	c.Limits.Sessions, c.Limits.Idle, c.Limits.Memory = f.sessions, f.idle, memory.Value()
	if c.Access, err = f.access(); err != nil {
		return c, err
	}
	if c.Open, err = f.opener(ctx); err != nil {
		return c, err
	}
	path := f.hostKey
	if path == "" {
		recordings, err := recordingsFolder() // in the state directory
		if err != nil {
			return c, fmt.Errorf("--host-key is not given, and there is no state directory: %w", err)
		}
		path = filepath.Join(filepath.Dir(recordings), "room", "hostkey")
	}
	c.HostKey, err = hostkey.Load(path)
	return c, err
}

// leastMemory is what a room with few visitors takes.
const leastMemory = 256 << 20

// access is who may come in. Codes that are needed and not given are made up.
func (f *serveFlags) access() (room.Access, error) {
	a := room.Access{Code: f.code, TeacherCode: f.teacherCode}
	var err error
	if f.keys != "" {
		if a.Keys, err = readKeys(f.keys); err != nil {
			return a, err
		}
	}
	if f.teacherKeys != "" {
		if a.TeacherKeys, err = readKeys(f.teacherKeys); err != nil {
			return a, err
		}
	}
	if a.Code == "" && f.keys == "" {
		a.Code = room.NewCode()
	}
	if a.TeacherCode == "" && f.teacherKeys == "" {
		a.TeacherCode = room.NewCode()
	}
	return a, nil
}

func readKeys(path string) ([]ssh.PublicKey, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the keys can't be read: %w", err)
	}
	return room.ParseKeys(path, text)
}

// opener returns what opens a visitor's screen: a lesson, unless a recording or free play is asked for. Each visitor
// has a session of their own, and nothing that reaches this machine.
func (f *serveFlags) opener(ctx context.Context) (room.Open, error) {
	if f.recording == "" && !f.play {
		return serveLessons(ctx, f.lesson)
	}
	plugins, err := cycle.InTree()
	if err != nil {
		return nil, err
	}
	opts := session.Options{Plugins: plugins, Paused: true}
	if f.play {
		return func(v *room.Visitor) (tea.Model, error) {
			v.At("free play")
			return tui.NewPlay(v.Context(), "", opts, tui.Options{}.Served())
		}, nil
	}
	rec, err := embedded.Open(ctx, f.recording)
	if err != nil {
		return nil, usageError{err}
	}
	shown := embedded.All()[slices.Index(embeddedNames(), f.recording)]
	opts.Opens = shown.Opens
	return func(v *room.Visitor) (tea.Model, error) {
		v.At(shown.Title)
		return tui.NewServed(v.Context(), session.New(rec, opts), tui.Options{}), nil
	}, nil
}

// announce says how to come in.
func (f *serveFlags) announce(out io.Writer, at net.Addr, c room.Config) {
	name, err := os.Hostname()
	if err != nil {
		name = "HOST"
	}
	_, port, err := net.SplitHostPort(at.String())
	if err != nil {
		port = at.String()
	}
	how := func(code string, keys []ssh.PublicKey) string {
		var ways []string
		if code != "" {
			ways = append(ways, "the code "+code)
		}
		if len(keys) > 0 {
			ways = append(ways, "an authorized key")
		}
		return strings.Join(ways, ", or ")
	}
	fmt.Fprintf(out, "The room is open. Everybody gives a name of their own:\n\n    ssh -p %s NAME@%s\n\n", port, name)
	fmt.Fprintf(out, "Visitors have %s.\nThe teacher has %s.\n", how(c.Access.Code, c.Access.Keys), how(c.Access.TeacherCode, c.Access.TeacherKeys))
	fmt.Fprintf(out, "ssh asks once whether this is the right key: %s\nctrl+c closes the room.\n", ssh.FingerprintSHA256(c.HostKey.PublicKey()))
}
