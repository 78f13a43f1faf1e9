package room

import (
	"context"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// connection is one that was let in. It has one terminal, and what else it asks for is refused: another session,
// a command, a subsystem, forwarded ports, agents and displays. There is no code that would do those.
type connection struct {
	*Caller
	conn *ssh.ServerConn

	mu      sync.Mutex
	refused map[string]bool // what was refused and logged
}

// welcomeSSH is the Protocol of SSH.
func (r *Room) welcomeSSH(ctx context.Context, called *Caller) {
	conn, channels, requests, err := r.handshake(called)
	if err != nil {
		r.doorLog.info("not let in", "from", called.source, "error", words(err.Error()))
		return
	}
	defer conn.Close()
	c := &connection{Caller: called, conn: conn, refused: make(map[string]bool)}
	go c.refuseAll(requests)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go c.KeepAsking(ctx, c, conn.User())
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

// Answers implements Client.
func (c *connection) Answers(ctx context.Context) bool {
	answered := make(chan bool, 1)
	go func() {
		_, _, err := c.conn.SendRequest(alive, true, nil)
		answered <- err == nil
	}()
	select {
	case is := <-answered:
		return is
	case <-ctx.Done():
		return false
	}
}

// handshake lets a caller in who has a code or a key, within the time of grace. Keys are to be exchanged sooner: that
// takes no typing.
func (r *Room) handshake(c *Caller) (*ssh.ServerConn, <-chan ssh.NewChannel, <-chan *ssh.Request, error) {
	defer c.LetIn()
	until, err := c.Hurry()
	if err != nil {
		return nil, nil, nil, err
	}
	conn, channels, requests, err := ssh.NewServerConn(c.line, r.serverFor(c, until))
	if err != nil {
		return nil, nil, nil, err
	}
	return conn, channels, requests, c.conn.SetReadDeadline(time.Time{})
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

// window is a client's terminal, at the other end of a channel. It implements Client.
type window struct {
	*connection
	ssh.Channel
	asked bool // for, with pty-req
}

// Close implements Client.
func (w *window) Close() error { return w.conn.Close() }

// Part implements Client.
func (w *window) Part(well bool) {
	status := uint32(1)
	if well {
		status = 0
	}
	_, _ = w.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
	_ = w.Channel.Close()
}

// serve answers a session's requests, and shows the screen once there is a terminal to show it on.
func (c *connection) serve(ctx context.Context, channel ssh.Channel, requests <-chan *ssh.Request, begun func()) {
	w := &window{connection: c, Channel: channel}
	t := c.NewTerminal(w)
	var screen sync.WaitGroup
	defer screen.Wait()
	defer t.Gone()
	running := false
	for req := range requests {
		ok := false
		switch req.Type {
		case "pty-req":
			ok = !running && w.request(t, req.Payload)
		case "env":
			ok = !running && setenv(t, req.Payload)
		case "window-change":
			ok = resize(t, req.Payload)
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
			screen.Go(func() { c.show(ctx, w, t) })
		}
	}
}

// request takes in a pty-req. No terminal of this machine is behind it.
func (w *window) request(t *Terminal, payload []byte) bool {
	var p struct {
		Term                         string
		Columns, Rows, Width, Height uint32
		Modes                        string
	}
	if ssh.Unmarshal(payload, &p) != nil || w.asked {
		return false
	}
	w.asked = true
	t.environment = append(t.environment, "TERM="+plainWord(p.Term))
	t.setSize(p.Columns, p.Rows)
	return true
}

// setenv takes in a variable, if it says something of the terminal's colours.
func setenv(t *Terminal, payload []byte) bool {
	var p struct{ Name, Value string }
	if ssh.Unmarshal(payload, &p) != nil || p.Name != "COLORTERM" && p.Name != "NO_COLOR" || len(t.environment) > 8 {
		return false
	}
	t.environment = append(t.environment, p.Name+"="+plainWord(p.Value))
	return true
}

// plainWord is what of a client's word can name a terminal.
func plainWord(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.+", r) {
			return r
		}
		return -1
	}, s[:min(len(s), 64)])
}

// resize takes in a window-change.
func resize(t *Terminal, payload []byte) bool {
	var p struct{ Columns, Rows, Width, Height uint32 }
	if ssh.Unmarshal(payload, &p) != nil {
		return false
	}
	t.Resize(p.Columns, p.Rows)
	return true
}

// show shows the visitor their screen, and hangs up.
func (c *connection) show(ctx context.Context, w *window, t *Terminal) {
	defer c.part()
	if !w.asked {
		t.end(false, "The room needs a terminal: ssh without a command, or ssh -t.")
		return
	}
	of := c.conn.Permissions.Extensions
	_ = c.Visit(ctx, Pass{Name: c.conn.User(), Key: of[keyKey], Teacher: of[roleKey] == teacherRole}, t) // it is in the log
}

// part has the client hang up, as it does when its session has ended, and hangs up itself if it does not.
func (c *connection) part() {
	late := time.AfterFunc(time.Second, func() { _ = c.conn.Close() })
	defer late.Stop()
	_ = c.conn.Wait()
}
