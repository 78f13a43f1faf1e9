package web

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/schedq/schedq/room"
)

// serveTerminal authenticates a page over a WebSocket and runs its session.
func (s *Site) serveTerminal(w http.ResponseWriter, r *http.Request, conn *httpConn) {
	if !sameOrigin(r) {
		http.Error(w, "Only the room's own page can connect here.", http.StatusForbidden)
		return
	}
	ws, err := websocket.Accept(w, r, nil) // also checks the origin, and replies
	if err != nil {
		return
	}
	defer ws.CloseNow()
	ws.SetReadLimit(maxMessage)
	id, first, err := s.authenticate(ws, conn)
	if err != nil {
		_ = ws.Close(websocket.StatusPolicyViolation, err.Error())
		return
	}
	conn.room.FinishAuth()
	ws.SetReadLimit(maxInput)

	ctx, cancel := context.WithCancel(conn.ctx)
	defer cancel()
	b := newBrowser(ws)
	t := conn.room.NewTerminal(b, "TERM=xterm-256color", "COLORTERM=truecolor")
	t.Resize(first.Columns, first.Rows)
	id.OnJoin = func(name, token string) {
		send(context.Background(), ws, reply{Kind: accepted, Name: name, Token: token})
	}
	readDone := make(chan struct{})
	go func() {
		defer close(readDone)
		b.readLoop(t)
	}()
	go conn.room.KeepAlive(ctx, b, id.Name)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(2*requestTimeout, func() { _ = b.Close() }) })
	defer stop()
	_ = conn.room.RunSession(ctx, id, t) // which logs the reason
	_ = b.Close()
	<-readDone
}

// sameOrigin reports whether a request comes from this page. Without an Origin header it does not
// come from a browser. An https origin is accepted on plain HTTP, for a TLS reverse proxy.
func sameOrigin(r *http.Request) bool {
	from, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && (from.Scheme == "https" || from.Scheme == "http" && r.TLS == nil) && strings.EqualFold(from.Host, r.Host)
}

// authenticate asks for a login until the attempts are used up. It also returns the accepted message.
func (s *Site) authenticate(ws *websocket.Conn, conn *httpConn) (id room.Identity, m message, err error) {
	ctx, cancel := context.WithDeadline(conn.ctx, conn.authDeadline)
	defer cancel()
	for {
		kind, data, err := ws.Read(ctx)
		switch {
		case err != nil:
			return id, m, errors.New("no login was received")
		case kind != websocket.MessageText:
			return id, m, errors.New("a name is required")
		}
		if m, err = decode(data); err != nil {
			return id, m, err
		}
		if s.config.Kiosk && m.Token == "" {
			return room.Identity{Name: guestName()}, m, nil
		}
		if err := conn.room.CountAttempt(); err != nil {
			return id, m, err
		}
		if m.Token != "" {
			if id, ok := conn.room.CheckToken(room.RoomToken, m.Token); ok {
				return id, m, nil
			}
			send(ctx, ws, reply{Kind: expired, Text: "Your session has expired: join again."})
			continue
		}
		teacher, err := conn.room.CheckCode(m.Name, m.Code)
		switch {
		case err == nil:
			return room.Identity{Name: m.Name, Teacher: teacher}, m, nil
		case errors.Is(err, room.ErrThrottled):
			send(ctx, ws, reply{Kind: rejected, Text: throttled})
			return id, m, err
		}
		send(ctx, ws, reply{Kind: rejected, Text: "That is not the room's code."})
	}
}

// throttled is the reply when a code was not compared.
const throttled = "Too many wrong codes from your address: yours was not checked. Try again in a few minutes."

// send sends a reply. It ignores errors: a lost connection shows up in the next read.
func send(ctx context.Context, ws *websocket.Conn, r reply) {
	if text, err := json.Marshal(r); err == nil {
		_ = ws.Write(ctx, websocket.MessageText, text)
	}
}

// guestName returns a random name for a kiosk visitor. Progress is kept by name, so it must be unused.
func guestName() string { return "guest-" + rand.Text()[:6] }

// browser is an authenticated page. It implements room.Client.
type browser struct {
	ws          *websocket.Conn
	input       *io.PipeReader
	inputWriter *io.PipeWriter
	received    atomic.Int64 // messages
}

func newBrowser(ws *websocket.Conn) *browser {
	b := &browser{ws: ws}
	b.input, b.inputWriter = io.Pipe()
	return b
}

// readLoop reads the page's messages until the connection is closed. The pipe blocks until the room
// reads, so a page can't send input faster than the room allows.
func (b *browser) readLoop(t *room.Terminal) {
	defer t.Disconnected()
	defer b.inputWriter.Close()
	for {
		kind, data, err := b.ws.Read(context.Background()) // until the connection is closed
		if err != nil {
			return
		}
		b.received.Add(1)
		if kind == websocket.MessageBinary {
			_, _ = b.inputWriter.Write(data) // fails when the session has ended
			continue
		}
		if m, err := decode(data); err == nil {
			t.Resize(m.Columns, m.Rows)
		}
	}
}

// Read implements room.Client.
func (b *browser) Read(p []byte) (int, error) { return b.input.Read(p) }

// Write implements room.Client.
func (b *browser) Write(p []byte) (int, error) {
	return len(p), b.ws.Write(context.Background(), websocket.MessageBinary, p)
}

// Close implements room.Client.
func (b *browser) Close() error {
	_ = b.input.Close()
	return b.ws.CloseNow()
}

// Ping implements room.Client. Any message counts as a response, since queued input delays the pong.
func (b *browser) Ping(ctx context.Context) bool {
	before := b.received.Load()
	return b.ws.Ping(ctx) == nil || b.received.Load() != before
}

// End implements room.Client. After a normal closure the page does not reconnect.
func (b *browser) End(bool) {
	_ = b.input.Close()
	_ = b.ws.Close(websocket.StatusNormalClosure, "")
}
