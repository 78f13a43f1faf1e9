package room

import (
	"context"
	"net"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"golang.org/x/time/rate"
)

// Limits bound what visitors can take from each other and from the machine.
type Limits struct {
	// Sessions is how many visitors there can be. Teachers have seats of their own.
	Sessions int
	// Handshakes is how many connections can be at the door at once, and Grace how long each may take to say the
	// code.
	Handshakes int
	Grace      time.Duration
	// Connections are accepted at this rate a second, after as many at once as there can be Sessions.
	Connections rate.Limit
	// WrongCodes are answered at this rate a second, all together. A right one never waits.
	WrongCodes rate.Limit
	// Idle is how long a visitor may do nothing. Following the teacher is doing something.
	Idle time.Duration
	// Stall is how long a client may leave its screen unread, and a question whether it is there unanswered. It is
	// asked that every Ping.
	Stall, Ping time.Duration
	// Input is how many bytes a second a client may send, Keys how many key presses and mouse events a second reach
	// its screen, Typed how many bytes it may send in all.
	Input rate.Limit
	Keys  rate.Limit
	Typed int64
	// Memory is how many bytes the process may take before visitors are turned away, and the busiest is sent out.
	Memory int64
}

// DefaultLimits are for a classroom on a small machine.
func DefaultLimits() Limits {
	return Limits{
		Sessions: 64, Handshakes: 64, Grace: time.Minute, Connections: 20, WrongCodes: 2,
		Idle: 30 * time.Minute, Stall: 20 * time.Second, Ping: 15 * time.Second,
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
}

// wire is how much faster than its keys a whole connection may send: packets are padded, and there are answers.
const wire = 8

func guard(ctx context.Context, c net.Conn, l Limits) *guarded {
	return &guarded{c, ctx, rate.NewLimiter(wire*l.Input, 256<<10), l.Stall}
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
	return g.Conn.Write(p)
}

// memoryInUse is what the process takes, without what it has given back.
func memoryInUse() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64())
}

// full reports whether no memory is left for one more visitor.
func (l Limits) full() bool { return memoryInUse() > l.Memory/10*9 }

// watchMemory sends out the busiest visitor whenever there is too little memory: Go cannot say whose it is, and
// what a visitor makes a model keep comes of what they type.
func (r *Room) watchMemory(ctx context.Context) {
	for ctx.Err() == nil {
		wait(ctx, time.Second)
		if memoryInUse() <= r.config.Limits.Memory {
			continue
		}
		runtime.GC()
		debug.FreeOSMemory()
		if memoryInUse() <= r.config.Limits.Memory {
			continue
		}
		if v := r.busiest(); v != nil {
			v.leave("The room ran out of memory, and yours was the busiest session: come in again.")
		}
	}
}

// busiest is the visitor who typed most, other than the teacher, or nil.
func (r *Room) busiest() *Visitor {
	r.mu.Lock()
	defer r.mu.Unlock()
	var most *Visitor
	for _, v := range r.seats {
		if !v.teacher && !v.left() && (most == nil || v.typed.Load() > most.typed.Load()) {
			most = v
		}
	}
	return most
}
