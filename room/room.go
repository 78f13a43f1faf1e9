// Package room serves a terminal program to a class over SSH and, with package web, in browsers.
// Every visitor has their own session, can follow the teacher's screen while the teacher shares it,
// and answers questions that are counted without names.
//
// The program is a tea.Model that the caller creates per visitor. The package opens no files, starts
// no processes and makes no outgoing connections. An SSH connection gets one terminal; every other
// request is refused.
package room

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/crypto/ssh"
	"golang.org/x/time/rate"
)

// Open creates a visitor's model. The model is not shared, must not give access to this machine, and
// stops its goroutines when the visitor's Context ends. It may have these methods, which are called
// like Update or after the program has ended:
//
//   - Crash() error returns an error to log after the end.
//   - Asks() (Prediction, []string, bool) returns the open question and the keys that answer it.
//     While the teacher shares this screen, followers answer it.
//   - Size() int64 returns the memory that the model holds, in bytes. Default: 0.
//   - Slow() tea.Cmd makes the model grow more slowly. It is called when memory is short and the
//     model holds more than its share.
type Open func(*Visitor) (tea.Model, error)

// Config configures a room.
type Config struct {
	// HostKey is the SSH host key.
	HostKey ssh.Signer
	// Access says who may join, and who is a teacher.
	Access Access
	// Open creates each visitor's model.
	Open Open
	// Limits protect the machine. The zero value means DefaultLimits.
	Limits Limits
	// NoTeacher hides the room's bar.
	NoTeacher bool
	// Log receives who joins and leaves, and what is refused. Nil discards it.
	Log *slog.Logger
}

// Room is a running room. Its methods may be called from any goroutine.
type Room struct {
	config     Config
	hostKey    ssh.Signer
	log        *slog.Logger
	limitedLog *limitedLog
	codes      *codeLimiter
	lastLeft   atomic.Int64 // when a visitor left last, in Unix nanoseconds

	mu       sync.Mutex
	code     string // the visitors', which a teacher may change
	visitors map[uint64]*Visitor
	banned   map[string]time.Time // when the ban of an identity ends
	tokens   map[string]*token
	sequence uint64 // of visitors and answers
	polls    polls
	tallies  []tally // of polls
	// The values below are immutable and replaced by every change of the above. Teachers receive
	// snapshots; visitors receive only the share and its frames.
	snapshots latest[*snapshot]
	share     latest[share]
	frames    latest[*frame]
}

// New returns a room. The error is one sentence.
func New(c Config) (*Room, error) {
	if c.Limits == (Limits{}) {
		c.Limits = DefaultLimits()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.HostKey == nil || c.Open == nil {
		return nil, errors.New("a room needs a host key and an Open function")
	}
	r := &Room{
		config: c, log: c.Log, limitedLog: newLimitedLog(c.Log), code: c.Access.Code,
		visitors: make(map[uint64]*Visitor), banned: make(map[string]time.Time), tokens: make(map[string]*token),
		polls: make(polls), codes: newCodeLimiter(c.Limits.WrongCodeRate),
	}
	if err := c.Access.validate(); err != nil {
		return nil, err
	}
	var err error
	if r.hostKey, err = withoutSHA1(c.HostKey); err != nil {
		return nil, fmt.Errorf("can't use the host key: %w", err)
	}
	r.snapshots.set(&snapshot{})
	r.frames.set(&frame{})
	return r, nil
}

// access returns the configured access with the current code.
func (r *Room) access() Access {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.config.Access
	a.Code = r.code
	return a
}

// Serve accepts visitors until ctx ends, and returns when all have left. It closes the listeners.
// Load on one listener does not affect another. It returns nil if ctx ended.
func (r *Room) Serve(ctx context.Context, listeners ...Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go r.watchMemory(ctx)
	var wg sync.WaitGroup
	defer waitFor(&wg, closeTimeout)
	defer cancel()
	done := make(chan error, len(listeners))
	for _, l := range listeners {
		if l.Handler == nil {
			l.Handler = r.serveSSH
		}
		wg.Go(func() { done <- r.accept(ctx, l, &wg) })
	}
	return <-done
}

// accept accepts connections until ctx ends, and closes the listener.
func (r *Room) accept(ctx context.Context, l Listener, wg *sync.WaitGroup) error {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	pending := newPendingSet(r.config.Limits.Pending, l.TeachersOnly)
	limiter := rate.NewLimiter(r.config.Limits.ConnectionRate, pending.max)
	for {
		if err := limiter.Wait(ctx); err != nil {
			return nil
		}
		conn, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = conn.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("the room's listener was closed: %w", err)
		case err != nil: // such as too many open files: keep serving the others
			r.limitedLog.warn("accept failed", "error", err)
			wait(ctx, 100*time.Millisecond)
			continue
		}
		c, evicted := pending.add(conn)
		r.logEvicted(evicted)
		c.room, c.limited = r, newLimitedConn(context.WithoutCancel(ctx), conn, r.config.Limits)
		wg.Go(func() {
			defer conn.Close()
			defer c.FinishAuth()
			c.stopClose = context.AfterFunc(ctx, func() { _ = conn.Close() })
			l.Handler(ctx, c)
		})
	}
}

// logEvicted logs that a pending connection was closed to make space. c may be nil.
func (r *Room) logEvicted(c *Conn) {
	if c != nil {
		r.limitedLog.warn("connection dropped: too many without a code", "from", c.source, "after", time.Since(c.accepted).Round(time.Second))
	}
}

// closeTimeout is how long visitors may take to leave when the room closes.
const closeTimeout = 5 * time.Second

// waitFor waits for wg, but not longer than d: a screen that hangs must not block the exit.
func waitFor(wg *sync.WaitGroup, d time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	go func() {
		wg.Wait()
		cancel()
	}()
	<-ctx.Done()
}

// host returns the host part of an address.
func host(a net.Addr) string {
	h, _, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	return h
}

// wait sleeps for d or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
