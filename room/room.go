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
// the end is logged. Asks() (Prediction, []string, bool) is the question that it asks now and the keys that answer it: while
// it is the teacher's, those who follow answer it. Size() int64 is how many bytes of memory it holds; without that method it is taken to hold none.
// Slow() tea.Cmd has it grow more slowly, and is called while memory is short and it holds more than its share. All are
// called as Update is, or after its end.
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
	// Alone says that nobody teaches: there is no bar of the room's on a screen.
	Alone bool
	// Log is told who came and went, and what was refused. Nil is silent.
	Log *slog.Logger
}

// Room is a room that is open. Its methods may be called from any goroutine.
type Room struct {
	config  Config
	hostKey ssh.Signer
	log     *slog.Logger
	doorLog *sparingLog
	guesses *guesses

	mu       sync.Mutex
	code     string // of the visitors, which a teacher may change
	seats    map[uint64]*Visitor
	sentOut  map[string]time.Time // until when, by what they would come in by
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
		config: c, log: c.Log, doorLog: newSparingLog(c.Log), code: c.Access.Code,
		seats: make(map[uint64]*Visitor), sentOut: make(map[string]time.Time),
		polls: make(polls), guesses: newGuesses(c.Limits.WrongCodes),
	}
	if err := c.Access.check(); err != nil {
		return nil, err
	}
	var err error
	if r.hostKey, err = modernKey(c.HostKey); err != nil {
		return nil, fmt.Errorf("the host key can't be used: %w", err)
	}
	r.standing.set(&standing{})
	r.stage.set(&scene{})
	return r, nil
}

// access is who may come in now.
func (r *Room) access() Access {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.config.Access
	a.Code = r.code
	return a
}

// Serve lets visitors in until ctx ends, and returns when all have left. It closes the doors. What crowds one door does not
// reach another. The error is nil if ctx ended.
func (r *Room) Serve(ctx context.Context, doors ...Door) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go r.watchMemory(ctx)
	var all sync.WaitGroup
	defer waitFor(&all, closing)
	defer cancel()
	ended := make(chan error, len(doors))
	for _, d := range doors {
		if d.Protocol == nil {
			d.Protocol = r.welcomeSSH
		}
		all.Go(func() { ended <- r.attend(ctx, d, &all) })
	}
	return <-ended
}

// attend lets callers in by a door until ctx ends. It closes it.
func (r *Room) attend(ctx context.Context, d Door, all *sync.WaitGroup) error {
	stop := context.AfterFunc(ctx, func() { _ = d.Close() })
	defer stop()
	before := newCrowd(r.config.Limits.Handshakes, d.Teachers)
	heads := rate.NewLimiter(r.config.Limits.Connections, before.most)
	for {
		if err := heads.Wait(ctx); err != nil {
			return nil
		}
		conn, err := d.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = conn.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("the room's door was closed: %w", err)
		case err != nil: // too many open files, say: those who are in stay
			r.doorLog.warn("a connection was not accepted", "error", err)
			wait(ctx, 100*time.Millisecond)
			continue
		}
		c, out := before.admit(conn)
		r.turnAway(out)
		c.room, c.line = r, guard(context.WithoutCancel(ctx), conn, r.config.Limits)
		all.Go(func() {
			defer conn.Close()
			defer c.LetIn()
			c.stay = context.AfterFunc(ctx, func() { _ = conn.Close() })
			d.Protocol(ctx, c)
		})
	}
}

// turnAway logs who had to make room before a door, if anybody.
func (r *Room) turnAway(c *Caller) {
	if c != nil {
		r.doorLog.warn("turned away: too many at the door", "from", c.source, "after", time.Since(c.came).Round(time.Second))
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
