package room

import (
	"context"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// connection is an authenticated SSH connection. It has one terminal. Everything else is refused:
// more sessions, commands, subsystems, and forwarded ports, agents and displays. No code implements
// them.
type connection struct {
	*Conn
	ssh *ssh.ServerConn

	mu      sync.Mutex
	refused map[string]bool // logged refusals
}

// serveSSH is the Handler of SSH.
func (r *Room) serveSSH(ctx context.Context, raw *Conn) {
	conn, channels, requests, err := r.handshake(raw)
	if err != nil {
		r.limitedLog.info("login failed", "from", raw.source, "error", cleanText(err.Error()))
		return
	}
	defer conn.Close()
	c := &connection{Conn: raw, ssh: conn, refused: make(map[string]bool)}
	go c.refuseAll(requests)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go c.KeepAlive(ctx, c, conn.User())
	noTerminal := time.AfterFunc(r.config.Limits.AuthTimeout, func() { _ = conn.Close() })
	defer noTerminal.Stop()
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(closeTimeout, func() { _ = conn.Close() })
	})
	defer stop()

	var session sync.WaitGroup
	defer session.Wait()
	started := false
	for request := range channels {
		if request.ChannelType() != "session" || started {
			c.refuse("channel " + request.ChannelType())
			_ = request.Reject(ssh.Prohibited, "only one terminal session is allowed")
			continue
		}
		channel, requests, err := request.Accept()
		if err != nil {
			return
		}
		started = true
		session.Go(func() {
			defer channel.Close()
			c.serveSession(ctx, channel, requests, func() { noTerminal.Stop() })
		})
	}
}

// keepAlive is the request with which OpenSSH checks that the other side responds.
const keepAlive = "keepalive@openssh.com"

// Ping implements Client.
func (c *connection) Ping(ctx context.Context) bool {
	replied := make(chan bool, 1)
	go func() {
		_, _, err := c.ssh.SendRequest(keepAlive, true, nil)
		replied <- err == nil
	}()
	select {
	case ok := <-replied:
		return ok
	case <-ctx.Done():
		return false
	}
}

// handshake exchanges keys and authenticates the client. The key exchange has a shorter timeout,
// since it involves no typing.
func (r *Room) handshake(c *Conn) (*ssh.ServerConn, <-chan ssh.NewChannel, <-chan *ssh.Request, error) {
	defer c.FinishAuth()
	deadline, err := c.SetHandshakeDeadline()
	if err != nil {
		return nil, nil, nil, err
	}
	conn, channels, requests, err := ssh.NewServerConn(c.limited, r.serverConfig(c, deadline))
	if err != nil {
		return nil, nil, nil, err
	}
	return conn, channels, requests, c.conn.SetReadDeadline(time.Time{})
}

// refuse logs a refused request: each kind once, and a limited number of kinds.
func (c *connection) refuse(what string) {
	const limit = 30
	what = cleanText(what)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refused[what] || len(c.refused) >= limit {
		return
	}
	c.refused[what] = true
	c.room.log.Warn("refused", "what", what, "from", c.source, "name", cleanName(c.ssh.User()))
}

// refuseAll refuses all global requests, such as port forwarding. For a keepalive, a refusal is an
// answer too.
func (c *connection) refuseAll(requests <-chan *ssh.Request) {
	for req := range requests {
		if req.Type != keepAlive {
			c.refuse("request " + req.Type)
		}
		if req.WantReply {
			_ = req.Reply(false, nil)
		}
	}
}

// sshTerminal is the client's terminal at the other end of a channel. It implements Client.
type sshTerminal struct {
	*connection
	ssh.Channel
	hasPty bool
}

// Close implements Client.
func (t *sshTerminal) Close() error { return t.ssh.Close() }

// End implements Client.
func (t *sshTerminal) End(ok bool) {
	status := uint32(1)
	if ok {
		status = 0
	}
	_, _ = t.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
	_ = t.Channel.Close()
}

// serveSession answers the requests of a session, and shows the screen once the client requests a
// shell. It calls started then.
func (c *connection) serveSession(ctx context.Context, channel ssh.Channel, requests <-chan *ssh.Request, started func()) {
	client := &sshTerminal{connection: c, Channel: channel}
	t := c.NewTerminal(client)
	var screen sync.WaitGroup
	defer screen.Wait()
	defer t.Disconnected()
	running := false
	for req := range requests {
		ok := false
		switch req.Type {
		case "pty-req":
			ok = !running && client.requestPty(t, req.Payload)
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
		if req.Type == "shell" && ok { // after the reply, since the screen may end at once
			running = true
			started()
			screen.Go(func() { c.show(ctx, client, t) })
		}
	}
}

// requestPty handles a pty-req. No pseudo-terminal of this machine is allocated.
func (t *sshTerminal) requestPty(terminal *Terminal, payload []byte) bool {
	var p struct {
		Term                         string
		Columns, Rows, Width, Height uint32
		Modes                        string
	}
	if ssh.Unmarshal(payload, &p) != nil || t.hasPty {
		return false
	}
	t.hasPty = true
	terminal.environment = append(terminal.environment, "TERM="+safeValue(p.Term))
	terminal.setSize(p.Columns, p.Rows)
	return true
}

// setenv handles an env request. It accepts only variables about the terminal's colours.
func setenv(t *Terminal, payload []byte) bool {
	var p struct{ Name, Value string }
	if ssh.Unmarshal(payload, &p) != nil || p.Name != "COLORTERM" && p.Name != "NO_COLOR" || len(t.environment) > 8 {
		return false
	}
	t.environment = append(t.environment, p.Name+"="+safeValue(p.Value))
	return true
}

// safeValue strips a client's value to the characters that occur in terminal names.
func safeValue(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.+", r) {
			return r
		}
		return -1
	}, s[:min(len(s), 64)])
}

// resize handles a window-change.
func resize(t *Terminal, payload []byte) bool {
	var p struct{ Columns, Rows, Width, Height uint32 }
	if ssh.Unmarshal(payload, &p) != nil {
		return false
	}
	t.Resize(p.Columns, p.Rows)
	return true
}

// show runs the visitor's session and disconnects.
func (c *connection) show(ctx context.Context, client *sshTerminal, t *Terminal) {
	defer c.disconnect()
	if !client.hasPty {
		t.end(false, "The room needs a terminal: run ssh without a command, or with -t.")
		return
	}
	role := c.ssh.Permissions.Extensions
	_ = c.RunSession(ctx, Identity{Name: c.ssh.User(), Key: role[keyKey], Teacher: role[roleKey] == teacherRole}, t) // RunSession logs the reason
}

// disconnect waits for the client to disconnect, as it does when its session has ended, and
// disconnects it otherwise.
func (c *connection) disconnect() {
	timer := time.AfterFunc(time.Second, func() { _ = c.ssh.Close() })
	defer timer.Stop()
	_ = c.ssh.Wait()
}
