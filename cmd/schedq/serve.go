package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"
	"golang.org/x/crypto/ssh"

	"github.com/schedq/schedq/cmd/schedq/class"
	"github.com/schedq/schedq/cmd/schedq/plain"
	"github.com/schedq/schedq/config/xdg"
	"github.com/schedq/schedq/lessons"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/room"
	"github.com/schedq/schedq/room/hostkey"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/sources/embedded"
	"github.com/schedq/schedq/tui"
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
	flags.StringVar(&f.teachers, "teacher-listen", "", "the `ADDRESS` of a door of the teacher's own, or none; default the next port, for who sits at this machine")
	flags.StringVar(&f.code, "code", "", "the room's `CODE`; one is made up if there are no --authorized-keys either")
	flags.StringVar(&f.teacherCode, "teacher-code", "", "the teacher's `CODE`; one is made up if there are no --teacher-keys either")
	flags.StringVar(&f.codeFile, "code-file", "", "a `FILE` with the room's code, which others at this machine then don't see in the list of programs")
	flags.StringVar(&f.teacherCodeFile, "teacher-code-file", "", "a `FILE` with the teacher's code")
	flags.StringVar(&f.keys, "authorized-keys", "", "a `FILE` of public keys that come in without a code")
	flags.StringVar(&f.teacherKeys, "teacher-keys", "", "a `FILE` of public keys that come in as the teacher")
	flags.StringVar(&f.hostKey, "host-key", "", "the `FILE` of the room's private key, made if it is not there; default $XDG_STATE_HOME/schedq/room/hostkey")
	flags.IntVar(&f.sessions, "max-sessions", limits.Sessions, "how many visitors there can be")
	flags.IntVar(&f.ofOne, "max-per-address", defaultPerAddress, "how many visitors there can be from one address, such as that of a school; 0 is as many as there are seats")
	flags.DurationVar(&f.idle, "idle", limits.Idle, "how long a visitor may do nothing")
	flags.StringVar(&f.memory, "memory", "2Gi", "how much memory the room may take")
	flags.StringVar(&f.lesson, "lesson", "1", "the lesson that visitors begin with, by its number or name, or in a file")
	flags.StringVar(&f.recording, "recording", "", "an embedded recording in place of the lessons: "+strings.Join(embeddedNames(), ", "))
	flags.BoolVar(&f.play, "play", false, "a cluster of one's own to play with, in place of the lessons")
	cmd.MarkFlagsMutuallyExclusive("lesson", "recording", "play")
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
		return usageError{err}
	}
	l, err := net.Listen("tcp", f.address)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	teachers, err := f.teachersDoor(l.Addr())
	if err != nil {
		return errors.Join(fmt.Errorf("--teacher-listen: %w", err), l.Close())
	}
	debug.SetMemoryLimit(config.Limits.Memory / 10 * 8) // rather collect garbage than turn people away
	f.announce(plain.Writer{Writer: cmd.OutOrStdout()}, l.Addr(), teachers, config)
	return r.Serve(cmd.Context(), l, teachers)
}

// noDoor is the --teacher-listen of a room with one door.
const noDoor = "none"

// teachersDoor listens where only teachers come in, or returns nil if there is no such place. Unless it is asked for,
// that is this machine's own address at the port after the visitors', or at any other if that one is taken.
func (f *serveFlags) teachersDoor(visitors net.Addr) (net.Listener, error) {
	switch f.teachers {
	case noDoor:
		return nil, nil
	case "":
	default:
		return net.Listen("tcp", f.teachers)
	}
	if at, ok := visitors.(*net.TCPAddr); ok && at.Port < math.MaxUint16 {
		if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(at.Port+1))); err == nil {
			return l, nil
		}
	}
	return net.Listen("tcp", "127.0.0.1:0")
}

// config is the room's, by the flags.
func (f *serveFlags) config(ctx context.Context, log io.Writer) (room.Config, error) {
	c := room.Config{Limits: room.DefaultLimits(), Log: slog.New(slog.NewTextHandler(log, nil))}
	memory, err := sources.ParseQuantity(f.memory)
	switch {
	case err != nil:
		return c, usageError{fmt.Errorf("--memory %s is no quantity such as 2Gi", sources.Sanitize(f.memory))}
	case memory.Value() < leastMemory:
		return c, usageError{fmt.Errorf("--memory %s is too little: a room takes 256Mi or more", sources.Sanitize(f.memory))}
	case f.sessions < 1:
		return c, usageError{fmt.Errorf("--max-sessions %d: a room has one seat or more", f.sessions)}
	case f.ofOne < 0:
		return c, usageError{fmt.Errorf("--max-per-address %d: it is a number of visitors, or 0 for as many as there are seats", f.ofOne)}
	case f.idle <= 0:
		return c, usageError{fmt.Errorf("--idle %s: everybody would be sent out", f.idle)}
	}
	c.Limits.PerAddress = f.ofOne
	c.Limits.Sessions, c.Limits.Idle, c.Limits.Memory = f.sessions, f.idle, memory.Value()
	if c.Access, err = f.access(ctx); err != nil {
		return c, err
	}
	if c.Open, err = f.opener(ctx); err != nil {
		return c, err
	}
	path := f.hostKey
	if path == "" {
		state, err := xdg.State()
		if err != nil {
			return c, fmt.Errorf("--host-key is not given, and there is no state directory: %w", err)
		}
		path = filepath.Join(state, "room", "hostkey")
	}
	c.HostKey, err = hostkey.Load(ctx, path)
	return c, err
}

// defaultPerAddress leaves some of the default number of seats to others.
const defaultPerAddress = 60

// leastMemory is what a room with few visitors takes.
const leastMemory = 256 << 20

// access is who may come in. Codes that are needed and not given are made up.
func (f *serveFlags) access(ctx context.Context) (room.Access, error) {
	a := room.Access{Code: f.code, TeacherCode: f.teacherCode}
	var err error
	if f.codeFile != "" {
		if a.Code, err = readCode(ctx, f.codeFile); err != nil {
			return a, err
		}
	}
	if f.teacherCodeFile != "" {
		if a.TeacherCode, err = readCode(ctx, f.teacherCodeFile); err != nil {
			return a, err
		}
	}
	if f.keys != "" {
		if a.Keys, err = readKeys(ctx, f.keys); err != nil {
			return a, err
		}
	}
	if f.teacherKeys != "" {
		if a.TeacherKeys, err = readKeys(ctx, f.teacherKeys); err != nil {
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

// maxCode is how large a file with a code may be, and maxKeys one of keys, in bytes. A key takes some hundred.
const (
	maxCode = 4 << 10
	maxKeys = 4 << 20
)

// readCode returns the code in a file, which is its one line.
func readCode(ctx context.Context, path string) (string, error) {
	text, err := disk.Read(ctx, path, maxCode)
	code := strings.TrimSpace(string(text))
	switch {
	case err != nil:
		return "", fmt.Errorf("the code can't be read: %w", err)
	case strings.ContainsAny(code, "\r\n"):
		return "", fmt.Errorf("%s holds more than a code: it is one line", sources.Sanitize(path))
	case code == "":
		return "", fmt.Errorf("%s holds no code", sources.Sanitize(path))
	}
	return code, nil
}

func readKeys(ctx context.Context, path string) ([]ssh.PublicKey, error) {
	text, err := disk.Read(ctx, path, maxKeys)
	if err != nil {
		return nil, fmt.Errorf("the keys can't be read: %w", err)
	}
	return room.ParseKeys(path, text)
}

// opener returns what opens a visitor's screen: a lesson, unless a recording or free play is asked for. Each visitor
// has a session of their own, and nothing that reaches this machine.
func (f *serveFlags) opener(ctx context.Context) (room.Open, error) {
	if f.recording == "" && !f.play {
		return f.lessons(ctx)
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

// lessons returns what opens the lessons, at first the one that is asked for, by its number or name or in a file.
func (f *serveFlags) lessons(ctx context.Context) (room.Open, error) {
	all, err := lessons.All()
	if err != nil {
		return nil, err
	}
	begin, err := chosenLesson(ctx, all, nil, []string{f.lesson})
	if err != nil {
		return nil, err
	}
	file := ""
	if !slices.Contains(all, begin) {
		if file, err = filepath.Abs(f.lesson); err != nil {
			return nil, err
		}
		all = append([]*lessons.Lesson{begin}, all...)
	}
	return class.Open(ctx, all, begin, file)
}

// announce says how to come in.
func (f *serveFlags) announce(out io.Writer, at net.Addr, teachers net.Listener, c room.Config) {
	name, err := os.Hostname()
	if err != nil {
		name = "HOST"
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
	fmt.Fprintf(out, "The room is open. Everybody gives a name of their own:\n\n    ssh -p %s NAME@%s\n\n", portOf(at), name)
	fmt.Fprintf(out, "Visitors have %s.\nThe teacher has %s.\n", how(c.Access.Code, c.Access.Keys), how(c.Access.TeacherCode, c.Access.TeacherKeys))
	if teachers != nil {
		fmt.Fprintf(out, "The teacher has a door that no crowd is before, too: ssh -p %s NAME@%s\n", portOf(teachers.Addr()), host(teachers.Addr()))
	}
	fmt.Fprintf(out, "ssh asks once whether this is the right key: %s\nctrl+c closes the room.\n", ssh.FingerprintSHA256(c.HostKey.PublicKey()))
}

// portOf and host are the two parts of an address.
func portOf(at net.Addr) string {
	_, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return at.String()
	}
	return port
}

func host(at net.Addr) string {
	name, _, err := net.SplitHostPort(at.String())
	if err != nil {
		return at.String()
	}
	return name
}
