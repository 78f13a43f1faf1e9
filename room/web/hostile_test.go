package web_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/schedq/schedq/room"
	"github.com/schedq/schedq/room/web"
)

// goesOn has somebody come in, and type.
func (s *school) goesOn() {
	s.t.Helper()
	s.visitor("bob").sees("notebook of bob").pastes("here").sees("here")
}

// Other pages don't come in, nor what has no page.
func TestOtherOriginsStayOut(t *testing.T) {
	s := open(t, web.Config{}, nil)
	for _, origin := range []string{"http://example.com", "ws://" + s.address, "http://" + s.address + ".example.com", "null", "", "http://127.0.0.1", "::"} {
		if ws, err := s.dialFrom(origin); err == nil {
			t.Errorf("%q comes in", origin)
			_ = ws.CloseNow()
		}
	}
	s.goesOn()
}

// A connection has three tries at the code, and wrong ones are slowed, whoever gives them.
func TestWrongCodes(t *testing.T) {
	s := open(t, web.Config{}, func(c *room.Config) { c.Limits.WrongCodes = 1 })
	began := time.Now()
	eve := &visitor{t: t, ws: s.dial()}
	for range 3 {
		if eve.says(words{"name": "eve", "code": "saturday"}); eve.answered()["is"] != "no" {
			t.Fatal("a wrong code opens the door")
		}
	}
	eve.says(words{"name": "eve", "code": code}) // the fourth
	if _, _, err := eve.ws.Read(t.Context()); err == nil {
		t.Error("a fourth code is looked at")
	}
	for range 2 {
		eve = &visitor{t: t, ws: s.dial()}
		eve.says(words{"name": "eve", "code": "saturday"})
		_ = eve.answered()
	}
	if took := time.Since(began); took < 2*time.Second*9/10 { // three are free
		t.Errorf("five wrong codes took %s", took)
	}
	s.says(`msg="wrong room code" from=127.0.0.1 name=eve`)
	if strings.Contains(s.log.String(), "saturday") {
		t.Error("the log says what was typed")
	}
	s.goesOn()
}

// What is no frame, no message or too long a one is hung up on.
func TestWhatIsNoMessageIsHungUpOn(t *testing.T) {
	s := open(t, web.Config{}, nil)
	for name, send := range map[string]func(ws *websocket.Conn) error{
		"no JSON": func(ws *websocket.Conn) error { return ws.Write(t.Context(), websocket.MessageText, []byte("hello")) },
		"binary":  func(ws *websocket.Conn) error { return ws.Write(t.Context(), websocket.MessageBinary, []byte(`{}`)) },
		"a long name": func(ws *websocket.Conn) error {
			return ws.Write(t.Context(), websocket.MessageText, fmt.Appendf(nil, `{"name":%q}`, strings.Repeat("x", 300)))
		},
		"a large one": func(ws *websocket.Conn) error {
			return ws.Write(t.Context(), websocket.MessageText, make([]byte, 1<<20))
		},
	} {
		ws := s.dial()
		_ = send(ws) // the room may have hung up meanwhile
		if _, _, err := ws.Read(t.Context()); err == nil {
			t.Errorf("%s is answered", name)
		}
	}
	large := s.visitor("eve")
	_ = large.ws.Write(t.Context(), websocket.MessageBinary, make([]byte, 1<<20))
	large.ends()
	s.says(`msg=left name=eve`)

	raw := s.upgrade()
	if _, err := raw.Write([]byte(strings.Repeat("\xff", 1000))); err != nil {
		t.Fatal(err)
	}
	hungUp(t, raw)
	s.goesOn()
}

// upgrade asks for a WebSocket by hand, and returns the connection on which one would be spoken.
func (s *school) upgrade() net.Conn {
	s.t.Helper()
	conn := s.connect()
	fmt.Fprintf(conn, "GET /room HTTP/1.1\r\nHost: %s\r\nOrigin: http://%[1]s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", s.address)
	head := make([]byte, len("HTTP/1.1 101"))
	if _, err := io.ReadFull(conn, head); err != nil || string(head) != "HTTP/1.1 101" {
		s.t.Fatalf("%q, %v", head, err)
	}
	return conn
}

// connect opens a connection that says nothing.
func (s *school) connect() net.Conn {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// hungUp waits until the room has hung up.
func hungUp(t *testing.T, conn net.Conn) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	var late net.Error
	if _, err := io.Copy(io.Discard, conn); errors.As(err, &late) && late.Timeout() {
		t.Error("the room does not hang up")
	}
}

// Who is silent, says half of it, asks for the page and no more, or does not say who comes is hung up on.
func TestHalfOpenConnectionsAreHungUpOn(t *testing.T) {
	s := open(t, web.Config{}, func(c *room.Config) { c.Limits.Greeting, c.Limits.Grace = time.Second, time.Second })
	conns := []net.Conn{s.connect(), s.connect(), s.connect(), s.upgrade()}
	fmt.Fprint(conns[1], "GET / HTTP/1.1\r\nHos")
	fmt.Fprintf(conns[2], "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", s.address)
	for _, conn := range conns {
		hungUp(t, conn)
	}
	s.goesOn()
}

// Who pastes 10 MB is told that this is more than the room takes, and others notice nothing.
func TestAPasteOfTenMegabytes(t *testing.T) {
	s := open(t, web.Config{}, func(c *room.Config) { c.Limits.Input, c.Limits.Typed = 64<<20, 1<<20 })
	ada, eve := s.visitor("ada"), s.visitor("eve")
	piece := []byte("\x1b[200~" + strings.Repeat("x", 8<<10))
	for range 10 << 20 / (8 << 10) {
		if eve.ws.Write(t.Context(), websocket.MessageBinary, piece) != nil {
			break // they were sent out
		}
	}
	eve.sees("You have typed more than the room takes from one visitor").ends()
	ada.pastes("here").sees("here")
	s.goesOn()
}

// Whose page reads nothing is left, and the room goes on.
func TestAPageThatReadsNothing(t *testing.T) {
	s := open(t, web.Config{}, func(c *room.Config) { c.Limits.Ping, c.Limits.Stall = 100*time.Millisecond, time.Second })
	eve := &visitor{t: t, ws: s.dial()}
	eve.says(words{"name": "eve", "code": code})
	eve.answered()
	s.says("msg=left name=eve") // nobody reads, so nobody answers a ping
	s.goesOn()
}

// A thousand connections that say nothing keep nobody out.
func TestAThousandConnections(t *testing.T) {
	s := open(t, web.Config{}, func(c *room.Config) { c.Limits.Connections = 2000 })
	ada := s.visitor("ada")
	for range 1000 {
		s.connect()
	}
	ada.pastes("here").sees("here")
	s.goesOn()
	s.says("turned away: too many at the door")
}

// What only looks like a request is answered, or hung up on.
func TestRequestsThatAreNone(t *testing.T) {
	s := open(t, web.Config{}, nil)
	for _, text := range []string{
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "SSH-2.0-OpenSSH_9.9\r\n", strings.Repeat("A", 64<<10) + "\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("y", 1<<20) + "\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	} {
		conn := s.connect()
		_, _ = io.WriteString(conn, text) // it may be hung up on before all is said
		_ = conn.(*net.TCPConn).CloseWrite()
		hungUp(t, conn)
	}
	if status, _, _ := s.get("/room"); status != http.StatusForbidden {
		t.Errorf("no WebSocket is answered with %d", status)
	}
	s.goesOn()
}
