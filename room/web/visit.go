package web

import (
	"context"
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

// visit lets somebody in whose page opens a WebSocket, and shows them their screen until the end.
func (s *Site) visit(w http.ResponseWriter, r *http.Request, conn *called) {
	if !sameOrigin(r) {
		http.Error(w, "Only the room's own page comes in here.", http.StatusForbidden)
		return
	}
	ws, err := websocket.Accept(w, r, nil) // which looks at the origin, too, and has answered
	if err != nil {
		return
	}
	defer ws.CloseNow()
	ws.SetReadLimit(maxMessage)
	p, first, err := s.admit(ws, conn)
	if err != nil {
		_ = ws.Close(websocket.StatusPolicyViolation, err.Error())
		return
	}
	conn.caller.LetIn()
	ws.SetReadLimit(maxTyped)

	ctx, cancel := context.WithCancel(conn.ctx)
	defer cancel()
	b := newBrowser(ws)
	t := conn.caller.NewTerminal(b, "TERM=xterm-256color", "COLORTERM=truecolor")
	t.Resize(first.Columns, first.Rows)
	p.Seated = func(name string) {
		p.Name = name
		token := s.passes.issue(p)
		b.forget = func() { s.passes.redeem(token) }
		b.say(answer{Is: letIn, Name: name, Token: token})
	}
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		b.hear(t)
	}()
	go conn.caller.KeepAsking(ctx, b, p.Name)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(2*requestTime, func() { _ = b.Close() }) })
	defer stop()
	_ = conn.caller.Visit(ctx, p, t) // it is in the log
	_ = b.Close()
	<-heard
}

// sameOrigin reports whether a request comes from this page: whoever has no origin is no browser. Where the page is served
// plainly, something before it may have encrypted it.
func sameOrigin(r *http.Request) bool {
	from, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && (from.Scheme == "https" || from.Scheme == "http" && r.TLS == nil) && strings.EqualFold(from.Host, r.Host)
}

// admit asks who comes, as often as the room allows, and returns what they said first.
func (s *Site) admit(ws *websocket.Conn, conn *called) (p room.Pass, m message, err error) {
	ctx, cancel := context.WithDeadline(conn.ctx, conn.until)
	defer cancel()
	for {
		kind, data, err := ws.Read(ctx)
		switch {
		case err != nil:
			return p, m, errors.New("nobody came in")
		case kind != websocket.MessageText:
			return p, m, errors.New("who comes says a name first")
		}
		if m, err = decode(data); err != nil {
			return p, m, err
		}
		if s.config.Kiosk && m.Token == "" {
			return room.Pass{Name: newName()}, m, nil
		}
		if err := conn.caller.Try(); err != nil {
			return p, m, err
		}
		if m.Token != "" {
			if p, ok := s.passes.redeem(m.Token); ok {
				return p, m, nil
			}
			reply(ctx, ws, answer{Is: stranger, Words: "You were away for long: come in again."})
			continue
		}
		teacher, err := conn.caller.Judge(m.Name, m.Code)
		switch {
		case err == nil:
			return room.Pass{Name: m.Name, Teacher: teacher}, m, nil
		case errors.Is(err, room.ErrUnheard):
			reply(ctx, ws, answer{Is: refused, Words: unheard})
			return p, m, err
		}
		reply(ctx, ws, answer{Is: refused, Words: "That is not the room's code."})
	}
}

// unheard is said to whose code was not compared.
const unheard = "Too many wrong codes came from where you are: yours was not looked at. Try again in some minutes."

// reply says something to a page. That it is gone is found when it is read.
func reply(ctx context.Context, ws *websocket.Conn, a answer) {
	if text, err := json.Marshal(a); err == nil {
		_ = ws.Write(ctx, websocket.MessageText, text)
	}
}

// browser is a page that was let in. It implements room.Client.
type browser struct {
	ws     *websocket.Conn
	typed  *io.PipeReader
	typing *io.PipeWriter
	forget func()       // has the token be worth nothing; nil before there is one
	heard  atomic.Int64 // how many messages
	lost   atomic.Bool  // the connection, before it was told goodbye
	parted atomic.Bool
}

func newBrowser(ws *websocket.Conn) *browser {
	b := &browser{ws: ws}
	b.typed, b.typing = io.Pipe()
	return b
}

// hear takes in what the page says until the connection is over. What is typed waits until it is read: who types faster than
// the room reads is not read any faster.
func (b *browser) hear(t *room.Terminal) {
	defer t.Gone()
	defer b.typing.Close()
	for {
		kind, data, err := b.ws.Read(context.Background()) // until the connection is closed
		if err != nil {
			b.lost.Store(!b.parted.Load())
			return
		}
		b.heard.Add(1)
		if kind == websocket.MessageBinary {
			_, _ = b.typing.Write(data) // nobody reads any more when the screen is over
			continue
		}
		if m, err := decode(data); err == nil {
			t.Resize(m.Columns, m.Rows)
		}
	}
}

// Read implements room.Client.
func (b *browser) Read(p []byte) (int, error) { return b.typed.Read(p) }

// Write implements room.Client.
func (b *browser) Write(p []byte) (int, error) {
	return len(p), b.ws.Write(context.Background(), websocket.MessageBinary, p)
}

// Close implements room.Client.
func (b *browser) Close() error {
	b.lost.Store(!b.parted.Load())
	_ = b.typed.Close()
	return b.ws.CloseNow()
}

// Answers implements room.Client. Who says something else meanwhile is there, too: what is typed comes before the answer.
func (b *browser) Answers(ctx context.Context) bool {
	before := b.heard.Load()
	return b.ws.Ping(ctx) == nil || b.heard.Load() != before
}

// Part implements room.Client. A page that is told that all is over does not come again by itself, nor by its token.
func (b *browser) Part(bool) {
	if b.forget != nil && !b.lost.Load() {
		b.forget()
	}
	b.parted.Store(true)
	_ = b.typed.Close()
	_ = b.ws.Close(websocket.StatusNormalClosure, "")
}

// say says something to the page.
func (b *browser) say(a answer) { reply(context.Background(), b.ws, a) }
