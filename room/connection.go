package room

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// connection is one that was let in. It has one terminal, and what else it asks for is refused: another session,
// a command, a subsystem, forwarded ports, agents and displays. There is no code that would do those.
type connection struct {
	room   *Room
	conn   *ssh.ServerConn
	line   *guarded
	source string

	mu      sync.Mutex
	refused map[string]bool // what was refused and logged
}

// welcome sees to a caller at a door, from the handshake to the end.
func (r *Room) welcome(ctx context.Context, d *door, called *caller) {
	defer called.conn.Close()
	conn, channels, requests, err := r.handshake(ctx, d, called)
	if err != nil {
		r.doorLog.info("not let in", "from", called.source, "error", words(err.Error()))
		return
	}
	defer conn.Close()
	c := &connection{room: r, conn: conn, line: called.line, source: called.source, refused: make(map[string]bool)}
	go c.refuseAll(requests)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go c.ping(ctx)
	late := time.AfterFunc(r.config.Limits.Grace, func() { _ = conn.Close() }) // until it has a terminal
	defer late.Stop()
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(closing, func() { _ = conn.Close() })
	})
	defer stop()

	var session sync.WaitGroup
	defer session.Wait()
	seated := false
	for asked := range channels {
		if asked.ChannelType() != "session" || seated {
			c.refuse("channel " + asked.ChannelType())
			_ = asked.Reject(ssh.Prohibited, "the room has one screen for you and nothing else")
			continue
		}
		channel, requests, err := asked.Accept()
		if err != nil {
			return
		}
		seated = true
		session.Go(func() {
			defer channel.Close()
			c.serve(ctx, channel, requests, func() { late.Stop() })
		})
	}
}

// alive is what OpenSSH asks with, to hear whether the other side is there.
const alive = "keepalive@openssh.com"

// ping asks the client every now and then whether it is there, and hangs up if it does not answer: a laptop that was
// closed does not say so.
func (c *connection) ping(ctx context.Context) {
	limits := c.room.config.Limits
	for {
		if wait(ctx, limits.Ping); ctx.Err() != nil {
			return
		}
		late := time.AfterFunc(limits.Stall, func() {
			c.room.log.Info("does not answer", "from", c.source, "name", nameOf(c.conn.User()))
			c.line.silent.Store(true)
			_ = c.conn.Close()
		})
		_, _, err := c.conn.SendRequest(alive, true, nil)
		late.Stop()
		if err != nil {
			return
		}
	}
}

// answers asks the client once whether it is there, and reports whether it says so before ctx ends. One that does not is
// hung up on.
func (c *connection) answers(ctx context.Context) bool {
	answered := make(chan bool, 1)
	go func() {
		_, _, err := c.conn.SendRequest(alive, true, nil)
		answered <- err == nil
	}()
	select {
	case is := <-answered:
		return is
	case <-ctx.Done():
		c.line.silent.Store(true)
		_ = c.conn.Close()
		return false
	}
}

// handshake lets a caller in who has a code or a key, within the time of grace. Keys are to be exchanged sooner: that
// takes no typing.
func (r *Room) handshake(ctx context.Context, d *door, c *caller) (*ssh.ServerConn, <-chan ssh.NewChannel, <-chan *ssh.Request, error) {
	defer d.forget(c)
	limits := r.config.Limits
	stop := context.AfterFunc(ctx, func() { _ = c.conn.Close() })
	defer stop()
	if err := c.conn.SetReadDeadline(c.came.Add(min(limits.Greeting, limits.Grace))); err != nil {
		return nil, nil, nil, err
	}
	c.line = guard(context.WithoutCancel(ctx), c.conn, limits)
	conn, channels, requests, err := ssh.NewServerConn(c.line, r.serverFor(d, c))
	if err != nil {
		return nil, nil, nil, err
	}
	return conn, channels, requests, c.conn.SetReadDeadline(time.Time{})
}

// turnAway logs who had to make room before a door, if anybody.
func (r *Room) turnAway(c *caller) {
	if c != nil {
		r.doorLog.warn("turned away: too many at the door", "from", c.source, "after", time.Since(c.came).Round(time.Second))
	}
}

// refuse logs what is refused, each kind once and not too many: a client may ask for anything any number of times.
func (c *connection) refuse(what string) {
	const most = 30
	what = words(what)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refused[what] || len(c.refused) >= most {
		return
	}
	c.refused[what] = true
	c.room.log.Warn("refused", "what", what, "from", c.source, "name", nameOf(c.conn.User()))
}

// refuseAll answers what is asked of the connection as a whole, such as to forward a port, with no. To whether the
// room is there that is an answer, too.
func (c *connection) refuseAll(requests <-chan *ssh.Request) {
	for req := range requests {
		if req.Type != alive {
			c.refuse("request " + req.Type)
		}
		if req.WantReply {
			_ = req.Reply(false, nil)
		}
	}
}

// serve answers a session's requests, and shows the screen once there is a terminal to show it on.
func (c *connection) serve(ctx context.Context, channel ssh.Channel, requests <-chan *ssh.Request, begun func()) {
	t := newTerminal(channel, c.room.config.Limits, c.conn)
	var screen sync.WaitGroup
	defer screen.Wait()
	defer t.gone()
	running := false
	for req := range requests {
		ok := false
		switch req.Type {
		case "pty-req":
			ok = !running && t.request(req.Payload)
		case "env":
			ok = !running && t.setenv(req.Payload)
		case "window-change":
			ok = t.resize(req.Payload)
		case "shell":
			ok = !running
		default:
			c.refuse("request " + req.Type)
		}
		if req.WantReply {
			if err := req.Reply(ok, nil); err != nil {
				return
			}
		}
		if req.Type == "shell" && ok { // after the answer: the screen may be over at once
			running = true
			begun()
			screen.Go(func() { c.show(ctx, t) })
		}
	}
}

// show seats the visitor and shows the screen until one of the two is over.
func (c *connection) show(ctx context.Context, t *terminal) {
	defer c.part()
	if !t.asked {
		t.end(1, "The room needs a terminal: ssh without a command, or ssh -t.")
		return
	}
	of := c.conn.Permissions.Extensions
	g := guest{user: c.conn.User(), source: c.source, key: of[keyKey], teacher: of[roleKey] == teacherRole, answers: c.answers}
	c.room.giveUpLost(ctx, g)
	v, err := c.room.enter(g)
	if err != nil {
		c.room.log.Warn("turned away", "from", c.source, "name", nameOf(c.conn.User()), "error", err)
		t.end(1, sentence(err))
		return
	}
	came := time.Now()
	c.room.log.Info("came in", "name", v.name, "from", c.source, "teacher", v.teacher)
	stop := context.AfterFunc(ctx, func() { v.leave("The room is closed.") })
	defer stop()
	words, why := c.room.run(v, t)
	c.room.exit(v)
	switch {
	case t.stalled.Load() || c.line.stalled.Load():
		why = errStalled
	case c.line.silent.Load():
		why = errSilent
	}
	c.room.log.Info("left", "name", v.name, "after", time.Since(came).Round(time.Second), "why", why)
	status := uint32(0)
	if words != "" {
		status = 1
	}
	t.end(status, words)
}

// part has the client hang up, as it does when its session has ended, and hangs up itself if it does not.
func (c *connection) part() {
	late := time.AfterFunc(time.Second, func() { _ = c.conn.Close() })
	defer late.Stop()
	_ = c.conn.Wait()
}

func sentence(err error) string { return fmt.Sprintf("Sorry: %s.", err) }
