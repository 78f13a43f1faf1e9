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

// Limits protect visitors from each other, and the machine from all of them.
type Limits struct {
	// Sessions is the maximum number of visitors. Teachers are counted separately.
	Sessions int
	// PerAddress is the maximum number of visitors from one address. 0 means no such limit.
	PerAddress int
	// KeepSeat protects a visitor in a full room for this long after their last activity. A visitor
	// who was idle for longer, or who has done nothing since joining, is replaced by a newcomer.
	KeepSeat time.Duration
	// Ban is how long a visitor can't rejoin after the teacher has removed them.
	Ban time.Duration
	// Pending is the maximum number of unauthenticated connections per listener. One more closes
	// one of them.
	Pending int
	// HandshakeTimeout limits the key exchange or the first HTTP request, AuthTimeout everything
	// until authentication. Both start when the connection is accepted.
	HandshakeTimeout, AuthTimeout time.Duration
	// ConnectionRate is how many connections per second each listener accepts, after a burst of Pending.
	ConnectionRate rate.Limit
	// WrongCodeRate is how many wrong codes per second are answered in all. A right code does not wait.
	WrongCodeRate rate.Limit
	// Idle disconnects a visitor without activity. Following the teacher counts as activity.
	Idle time.Duration
	// StallTimeout disconnects a client that does not read its screen or answer a ping, which is sent
	// every PingInterval.
	StallTimeout, PingInterval time.Duration
	// TakeOverTimeout is how long a connected client may take to answer a ping when somebody else
	// logs in with its visitor's name.
	TakeOverTimeout time.Duration
	// InputRate limits a client's input in bytes per second, KeyRate the key presses and mouse events
	// per second that reach its screen, and MaxInput its input in all, in bytes.
	InputRate rate.Limit
	KeyRate   rate.Limit
	MaxInput  int64
	// Memory is how many bytes the process may use. Above half of it, sessions that hold more than
	// their share play slowly; above nine tenths nobody can join; above all of it the largest session
	// is closed.
	Memory int64
}

// DefaultLimits suit a classroom on a small machine.
func DefaultLimits() Limits {
	return Limits{
		Sessions: 64, Pending: 256, HandshakeTimeout: 10 * time.Second, AuthTimeout: time.Minute, ConnectionRate: 200, WrongCodeRate: 2,
		KeepSeat: 5 * time.Minute, Ban: 15 * time.Minute,
		Idle: 30 * time.Minute, StallTimeout: 20 * time.Second, PingInterval: 15 * time.Second, TakeOverTimeout: 3 * time.Second,
		InputRate: 16 << 10, KeyRate: 100, MaxInput: 4 << 20,
		Memory: 2 << 30,
	}
}

// The largest screen in cells. The rest of a larger terminal stays empty.
const (
	maxWidth  = 300
	maxHeight = 100
)

const (
	// cellMemory is about how many bytes a cell of a screen takes: bubbletea keeps it three times.
	cellMemory = 300
	// screenShare is which part of a session's memory its screen may take.
	screenShare = 4
	// minWidth and minHeight are drawn whatever the memory.
	minWidth, minHeight = 80, 24
)

// fit returns the size that is drawn in a terminal of that size.
func (l Limits) fit(width, height uint32) (int, int) {
	cells := max(minWidth*minHeight, int(l.memoryShare()/screenShare/cellMemory))
	w, h := int(min(width, maxWidth)), int(min(height, maxHeight))
	h = min(h, max(minHeight, cells/max(w, 1)))
	return min(w, cells/max(h, 1)), h
}

// screenMemory is about how many bytes a screen of that size takes.
func screenMemory(width, height int) int64 { return int64(width) * int64(height) * cellMemory }

// resizeRate is how many size changes per second are drawn.
const resizeRate = 10

// limitedConn limits the read rate of a connection and times out writes that the client does not read.
type limitedConn struct {
	net.Conn
	ctx          context.Context
	limiter      *rate.Limiter
	stallTimeout time.Duration

	stalled      atomic.Bool // a write timed out
	unresponsive atomic.Bool // a ping timed out
}

// protocolOverhead is how much faster than its input a whole connection may send, since packets are
// padded and there are replies.
const protocolOverhead = 8

func newLimitedConn(ctx context.Context, c net.Conn, l Limits) *limitedConn {
	return &limitedConn{Conn: c, ctx: ctx, limiter: rate.NewLimiter(protocolOverhead*l.InputRate, 256<<10), stallTimeout: l.StallTimeout}
}

func (c *limitedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p[:min(len(p), c.limiter.Burst())])
	if n > 0 {
		if waitErr := c.limiter.WaitN(c.ctx, n); waitErr != nil && err == nil {
			err = waitErr
		}
	}
	return n, err
}

func (c *limitedConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.stallTimeout)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(p)
	var netErr net.Error
	if errors.As(err, &netErr) && netErr.Timeout() {
		c.stalled.Store(true)
	}
	return n, err
}

// memoryInUse returns the memory of the process, without what it has returned to the system.
func memoryInUse() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64())
}

// outOfMemory reports whether there is too little memory for another visitor.
func (l Limits) outOfMemory() bool { return memoryInUse() > l.Memory/10*9 }

// memoryShare is how many bytes each session may always hold: half the memory divided by the
// number of sessions.
func (l Limits) memoryShare() int64 { return l.Memory / 2 / int64(max(1, l.Sessions)) }

// freeAfter is how long after visitors have left their memory is returned to the system: more may leave with them.
const freeAfter = 3 * time.Second

// watchMemory calls relieveMemory regularly until ctx ends, and frees the memory of visitors who left.
func (r *Room) watchMemory(ctx context.Context) {
	freed := int64(0)
	for ctx.Err() == nil {
		wait(ctx, time.Second)
		if left := r.lastLeft.Load(); left != freed && time.Since(time.Unix(0, left)) > freeAfter {
			debug.FreeOSMemory()
			freed = left
		}
		used := memoryInUse()
		if used > r.config.Limits.Memory {
			runtime.GC()
			debug.FreeOSMemory()
			used = memoryInUse()
		}
		if r.relieveMemory(used) {
			wait(ctx, quitTimeout+time.Second) // until its memory is free
		}
	}
}

// relieveMemory slows sessions above their share when more than half the memory is used, and closes
// the largest of them, except the teacher's, when all of it is. It reports whether it closed one.
func (r *Room) relieveMemory(used int64) bool {
	limits := r.config.Limits
	if used <= limits.Memory/2 {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var largest *Visitor
	for _, v := range r.visitors {
		if v.isLeaving() || v.memory.Load() <= limits.memoryShare() {
			continue
		}
		v.slow()
		if !v.teacher && (largest == nil || v.memory.Load() > largest.memory.Load()) {
			largest = v
		}
	}
	if used <= limits.Memory {
		return false
	}
	if largest == nil {
		r.limitedLog.warn("out of memory, and no visitor exceeds their share", "used", used)
		return false
	}
	r.log.Warn("out of memory: closing the largest session", "name", largest.name, "holds", largest.memory.Load())
	largest.leave(fmt.Sprintf("The room ran out of memory and your session was the largest (%d MB): join again to continue.", largest.memory.Load()>>20))
	return true
}
