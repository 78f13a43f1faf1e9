package room

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// Conn is an accepted connection. Before authentication, only the goroutine of its Handler may use it.
type Conn struct {
	room      *Room
	pending   *pendingSet
	conn      net.Conn
	limited   *limitedConn
	source    string
	accepted  time.Time
	removed   chan struct{} // closed when it leaves the pending set
	attempts  int           // at a code
	code      string        // the visitors' code that let them in; "" if it was another credential
	stopClose func() bool   // cancels the immediate close on shutdown
	// Guarded by pending.mu.
	handshakeDone bool
	throttled     bool // waits for the reply to a wrong code
}

// Client is the remote end of an authenticated connection, independent of the protocol. Read returns
// terminal input and Write writes terminal output. Close disconnects at once and unblocks the other
// methods. All methods may be called from any goroutine.
type Client interface {
	io.ReadWriteCloser
	// Ping reports whether the client responds before ctx ends.
	Ping(ctx context.Context) bool
	// End closes the session after its last output; ok says whether it ended normally.
	End(ok bool)
}

// Identity is an authenticated user.
type Identity struct {
	// Name is the requested name, unmodified.
	Name string
	// Key identifies the credential, such as the fingerprint of a public key. Empty for a code.
	Key string
	// Teacher grants the teacher's rights.
	Teacher bool
	// OnJoin, if not nil, is called before any output, with the name in the room and a token for
	// Conn.CheckToken.
	OnJoin func(name, token string)
}

// NetConn returns the connection with the room's read rate and write timeout applied.
func (c *Conn) NetConn() net.Conn { return c.limited }

// HandshakeDone records that the client has completed the handshake. A pending connection that has
// not is closed first when there are too many.
func (c *Conn) HandshakeDone() {
	c.pending.mu.Lock()
	defer c.pending.mu.Unlock()
	c.handshakeDone = true
}

// SetHandshakeDeadline sets the read deadline for the handshake. It returns the deadline for the code.
func (c *Conn) SetHandshakeDeadline() (authDeadline time.Time, err error) {
	limits := c.room.config.Limits
	return c.accepted.Add(limits.AuthTimeout), c.conn.SetReadDeadline(c.accepted.Add(min(limits.HandshakeTimeout, limits.AuthTimeout)))
}

// FinishAuth ends the authentication phase: the connection is no longer pending, and a closing room
// no longer drops it without a message. Later calls do nothing.
func (c *Conn) FinishAuth() {
	c.stopClose()
	c.pending.remove(c)
}

// maxAttempts is how many codes one connection may try.
const maxAttempts = 3

// The errors of a code.
var (
	ErrWrongCode       = errors.New("wrong room code")
	ErrTooManyAttempts = fmt.Errorf("too many wrong room codes: a connection has %d attempts", maxAttempts)
	ErrThrottled       = errors.New("too many wrong room codes are waiting for a reply")
)

// CountAttempt counts an attempt at a code before the client is prompted. After the last one it
// closes the connection and returns ErrTooManyAttempts.
func (c *Conn) CountAttempt() error {
	if c.attempts++; c.attempts > maxAttempts {
		_ = c.conn.Close()
		return ErrTooManyAttempts
	}
	return nil
}

// CheckCode reports whether code is the teacher's. For a wrong code it returns ErrWrongCode after a
// delay: all sources share one rate, since a whole class may have one address. A right code is never
// delayed. With ErrThrottled the code was not compared.
func (c *Conn) CheckCode(name, code string) (teacher bool, err error) {
	r := c.room
	name = cleanName(name)
	if !r.codes.allow(c.codeSource(), c.pending.teachersOnly) {
		r.limitedLog.warn("code not checked: too many wrong codes pending", "from", c.source, "name", name)
		c.attempts = maxAttempts
		return false, ErrThrottled
	}
	a := r.access() // the code may have changed since the prompt
	switch isTeacher, isVisitor := sameCode(code, a.TeacherCode), sameCode(code, a.Code); {
	case isTeacher:
		return true, nil
	case isVisitor && !c.pending.teachersOnly:
		c.code = a.Code
		return false, nil
	}
	r.log.Warn("wrong room code", "from", c.source, "name", name)
	c.delayReply()
	return false, ErrWrongCode
}

// delayReply waits until a wrong code may be answered.
func (c *Conn) delayReply() {
	r := c.room
	at := r.codes.reserve(c.codeSource())
	r.logEvicted(c.pending.setThrottled(c, true))
	defer func() { r.logEvicted(c.pending.setThrottled(c, false)) }()
	if deadline := c.accepted.Add(r.config.Limits.AuthTimeout); at.After(deadline) {
		at = deadline // the connection is closed then; its slot stays reserved
	}
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.removed:
	}
}

// codeSource returns the key by which wrong codes are counted. Those on the teachers-only listener
// are counted separately.
func (c *Conn) codeSource() string {
	if c.pending.teachersOnly {
		return "teachers-only, " + c.source
	}
	return c.source
}

// pinger is a client that can be pinged; see Client.
type pinger interface {
	Ping(ctx context.Context) bool
}

// KeepAlive pings the client regularly until ctx ends, and disconnects it when it does not respond:
// a laptop that goes to sleep does not close its connection. name is for the log.
func (c *Conn) KeepAlive(ctx context.Context, client pinger, name string) {
	limits := c.room.config.Limits
	for {
		if wait(ctx, limits.PingInterval); ctx.Err() != nil {
			return
		}
		deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), limits.StallTimeout)
		ok := c.ping(deadline, client)
		if deadline.Err() != nil && !ok {
			c.room.log.Info("client stopped responding", "from", c.source, "name", cleanName(name))
		}
		if cancel(); !ok {
			return
		}
	}
}

// ping pings the client once, and closes the connection if ctx ends without a response.
func (c *Conn) ping(ctx context.Context, client pinger) bool {
	if client.Ping(ctx) {
		return true
	}
	if ctx.Err() != nil {
		c.limited.unresponsive.Store(true)
		_ = c.limited.Close()
	}
	return false
}

// RunSession gives an authenticated user a seat and shows their screen on t until either ends. It
// returns the reason, which it also logs.
func (c *Conn) RunSession(ctx context.Context, id Identity, t *Terminal) (reason error) {
	r := c.room
	l := login{user: id.Name, source: c.source, key: id.Key, code: c.code, teacher: id.Teacher, ping: func(ctx context.Context) bool {
		return c.ping(ctx, t.client)
	}}
	r.takeOver(ctx, l)
	v, err := r.join(l, id)
	if err != nil {
		r.log.Warn("rejected", "from", c.source, "name", l.displayName(), "error", err)
		t.end(false, sentence(err))
		return err
	}
	if id.OnJoin != nil {
		id.OnJoin(v.name, v.token)
	}
	joined := time.Now()
	r.log.Info("joined", "name", v.name, "from", c.source, "teacher", v.teacher)
	stop := context.AfterFunc(ctx, func() { v.leave("The room is closed.") })
	defer stop()
	message, reason := r.run(v, t)
	switch {
	case t.stalled.Load() || c.limited.stalled.Load():
		reason = errStalled
	case c.limited.unresponsive.Load():
		reason = errUnresponsive
	}
	r.remove(v, errors.Is(reason, errDisconnected) || errors.Is(reason, errStalled) || errors.Is(reason, errUnresponsive))
	r.log.Info("left", "name", v.name, "after", time.Since(joined).Round(time.Second), "why", reason)
	t.end(message == "", message)
	return reason
}

func sentence(err error) string { return fmt.Sprintf("Sorry: %s.", err) }
