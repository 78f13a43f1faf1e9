package room

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Limits bound what visitors can take from each other and from the machine.
type Limits struct {
	// Sessions is how many visitors there can be. Teachers have seats of their own.
	Sessions int
	// PerAddress is how many of them there can be from one address. 0 is as many as there can be.
	PerAddress int
	// Keep is for how long somebody keeps a seat who has done something in it. In a full room, one who has done nothing
	// for that long, or nothing at all, gives way to who comes.
	Keep time.Duration
	// SentOut is for how long somebody does not get in whom the teacher has sent out.
	SentOut time.Duration
	// Handshakes is how many connections can be before a door at once without having said a code. For one more, one of
	// them makes room. Each may take Grace to say the code, and of that Greeting until keys are exchanged.
	Handshakes      int
	Greeting, Grace time.Duration
	// Connections are accepted at this rate a second at each door, after as many at once as can be before it.
	Connections rate.Limit
	// WrongCodes are answered at this rate a second, all together. A right one does not wait.
	WrongCodes rate.Limit
	// Idle is how long a visitor may do nothing. Following the teacher is doing something.
	Idle time.Duration
	// Stall is how long a client may leave its screen unread, and a question whether it is there unanswered. It is
	// asked that every Ping.
	Stall, Ping time.Duration
	// Answer is how long a client may take to say that it is there when somebody comes in by the name of its visitor.
	Answer time.Duration
	// Input is how many bytes a second a client may send, Keys how many key presses and mouse events a second reach
	// its screen, Typed how many bytes it may send in all.
	Input rate.Limit
	Keys  rate.Limit
	Typed int64
	// Memory is how many bytes the process may take. From half of it on, sessions that hold more than their share play
	// slowly; at nine tenths nobody else comes in; beyond it whoever holds most is sent out.
	Memory int64
}

// DefaultLimits are for a classroom on a small machine.
func DefaultLimits() Limits {
	return Limits{
		Sessions: 64, Handshakes: 256, Greeting: 10 * time.Second, Grace: time.Minute, Connections: 200, WrongCodes: 2,
		Keep: 5 * time.Minute, SentOut: 15 * time.Minute,
		Idle: 30 * time.Minute, Stall: 20 * time.Second, Ping: 15 * time.Second, Answer: 3 * time.Second,
		Input: 16 << 10, Keys: 100, Typed: 4 << 20,
		Memory: 2 << 30,
	}
}

// The largest screen that is drawn, in cells. What a larger terminal has beyond it stays empty.
const (
	maxWidth  = 300
	maxHeight = 100
)

// resizes is how often a second a screen is drawn in another size at the most.
const resizes = 10

// guarded is a connection that reads no faster than its limit, and gives up on who does not read.
type guarded struct {
	net.Conn
	ctx     context.Context
	limiter *rate.Limiter
	stall   time.Duration

	stalled atomic.Bool // what was written was not read in time
	silent  atomic.Bool // whether it is there was not answered in time
}

// wire is how much faster than its keys a whole connection may send: packets are padded, and there are answers.
const wire = 8

func guard(ctx context.Context, c net.Conn, l Limits) *guarded {
	return &guarded{Conn: c, ctx: ctx, limiter: rate.NewLimiter(wire*l.Input, 256<<10), stall: l.Stall}
}

func (g *guarded) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p[:min(len(p), g.limiter.Burst())])
	if n > 0 {
		if waiting := g.limiter.WaitN(g.ctx, n); waiting != nil && err == nil {
			err = waiting
		}
	}
	return n, err
}

func (g *guarded) Write(p []byte) (int, error) {
	if err := g.SetWriteDeadline(time.Now().Add(g.stall)); err != nil {
		return 0, err
	}
	n, err := g.Conn.Write(p)
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		g.stalled.Store(true)
	}
	return n, err
}

// memoryInUse is what the process takes, without what it has given back.
func memoryInUse() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64())
}

// full reports whether no memory is left for one more visitor.
func (l Limits) full() bool { return memoryInUse() > l.Memory/10*9 }

// share is how many bytes a session may hold whatever the others do: half the memory, divided by the seats.
func (l Limits) share() int64 { return l.Memory / 2 / int64(max(1, l.Sessions)) }

// watchMemory slows and sends out those who hold most of the memory whenever there is too little.
func (r *Room) watchMemory(ctx context.Context) {
	for ctx.Err() == nil {
		wait(ctx, time.Second)
		used := memoryInUse()
		if used > r.config.Limits.Memory {
			runtime.GC()
			debug.FreeOSMemory()
			used = memoryInUse()
		}
		if r.relieve(used) {
			wait(ctx, politeness+time.Second) // until what was held is free
		}
	}
}

// relieve does what is to be done when so many bytes are used, and reports whether somebody was sent out. From half the
// memory on, sessions that hold more than their share play slowly; beyond all of it the one that holds most is sent out,
// unless all hold less than their share.
func (r *Room) relieve(used int64) bool {
	limits := r.config.Limits
	if used <= limits.Memory/2 {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var most *Visitor
	for _, v := range r.seats {
		if v.isLeaving() || v.holds.Load() <= limits.share() {
			continue
		}
		v.slow()
		if !v.teacher && (most == nil || v.holds.Load() > most.holds.Load()) {
			most = v
		}
	}
	if used <= limits.Memory {
		return false
	}
	if most == nil {
		r.doorLog.warn("no memory is left, and no visitor holds more than their share", "used", used)
		return false
	}
	r.log.Warn("no memory is left", "name", most.name, "holds", most.holds.Load())
	most.leave(fmt.Sprintf("Memory ran out, and your session held most of it, %d MB: come in again.", most.holds.Load()>>20))
	return true
}
