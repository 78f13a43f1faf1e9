// Package room offers a program's screen over SSH to a room full of people: everybody who comes in gets a
// session of their own, sees the teacher's screen when the teacher asks for it, and guesses into a tally that
// names nobody.
//
// What is served is a tea.Model that the caller makes for each visitor. The package itself opens no file, starts
// no process and dials nobody: of all that SSH can do it answers one terminal a connection, and refuses the rest.
package room

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/crypto/ssh"
	"golang.org/x/time/rate"
)

// Open makes what a visitor sees. The model belongs to that visitor alone, must reach nothing of this machine, and
// ends what it runs when the visitor's Context does. If it has a method Crash() error, what that returns after
// the end is logged.
type Open func(*Visitor) (tea.Model, error)

// Config says what a room is like.
type Config struct {
	// HostKey is how visitors recognise the room: see package hostkey.
	HostKey ssh.Signer
	// Access says who may come in, and who teaches.
	Access Access
	// Open makes what each visitor sees.
	Open Open
	// Limits bound what visitors can take. Zero is DefaultLimits.
	Limits Limits
	// Log is told who came and went, and what was refused. Nil is silent.
	Log *slog.Logger
}

// Room is a room that is open. Its methods may be called from any goroutine.
type Room struct {
	config Config
	server *ssh.ServerConfig
	log    *slog.Logger
	wrong  *rate.Limiter // answers to wrong codes
	heads  *rate.Limiter // connections accepted

	mu       sync.Mutex
	seats    map[uint64]*Visitor
	shaking  int // hands: connections that are not in yet
	arrivals uint64
	polls    polls
	tallied  []tally // of the polls
	// What follows is made anew by every change of the above, and never changed itself. Teachers see how things
	// stand; visitors see the call and the stage alone.
	standing latest[*standing]
	call     latest[call]
	stage    latest[*scene]
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
		return nil, errors.New("a room needs a host key and something to show")
	}
	r := &Room{
		config: c, log: c.Log,
		seats: make(map[uint64]*Visitor),
		polls: make(polls),
		wrong: rate.NewLimiter(c.Limits.WrongCodes, 3),
		heads: rate.NewLimiter(c.Limits.Connections, max(1, c.Limits.Sessions)),
	}
	if err := c.Access.check(); err != nil {
		return nil, err
	}
	r.server = c.Access.server(r)
	r.server.AddHostKey(c.HostKey)
	r.standing.set(&standing{})
	r.stage.set(&scene{})
	return r, nil
}

// Serve lets visitors in until ctx ends, and returns when all have left. It closes l. The error is nil if ctx ended.
func (r *Room) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	go r.watchMemory(ctx)
	var all sync.WaitGroup
	defer waitFor(&all, closing)
	defer cancel()
	for {
		if err := r.heads.Wait(ctx); err != nil {
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
			return fmt.Errorf("the room's door was closed: %w", err)
		case err != nil: // too many open files, say: those who are in stay
			r.log.Warn("a connection was not accepted", "error", err)
			wait(ctx, 100*time.Millisecond)
			continue
		}
		if !r.shake() {
			r.log.Warn("turned away: too many at the door", "from", host(conn.RemoteAddr()))
			_ = conn.Close()
			continue
		}
		all.Go(func() { r.welcome(ctx, conn) })
	}
}

// closing is how long those who are in the room may take to leave when it closes.
const closing = 5 * time.Second

// waitFor waits for all, for d at the most: a screen that hangs holds nobody up.
func waitFor(all *sync.WaitGroup, d time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	go func() {
		all.Wait()
		cancel()
	}()
	<-ctx.Done()
}

// shake begins with a connection that has yet to say who it is, unless there are too many of those.
func (r *Room) shake() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shaking >= r.config.Limits.Handshakes {
		return false
	}
	r.shaking++
	return true
}

func (r *Room) shaken() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shaking--
}

// host is the machine at an address.
func host(a net.Addr) string {
	h, _, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	return h
}

// wait lets d pass, unless ctx ends before.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
