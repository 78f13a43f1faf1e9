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

// checkServes checks that a new visitor can join and type.
func (s *testRoom) checkServes() {
	s.t.Helper()
	s.visitor("bob").sees("notebook of bob").pastes("here").sees("here")
}

func TestOtherOriginsAreRejected(t *testing.T) {
	s := open(t, web.Config{}, nil)
	for _, origin := range []string{"http://example.com", "ws://" + s.address, "http://" + s.address + ".example.com", "null", "", "http://127.0.0.1", "::"} {
		if ws, err := s.dialFrom(origin); err == nil {
			t.Errorf("origin %q is accepted", origin)
			_ = ws.CloseNow()
		}
	}
	s.checkServes()
}

// TestWrongCodes: a connection has three attempts at the code, and wrong codes are logged without
// it.
func TestWrongCodes(t *testing.T) {
	s := open(t, web.Config{}, nil)
	eve := &visitor{t: t, ws: s.dial()}
	for range 3 {
		if eve.sends(object{"name": "eve", "code": "saturday"}); eve.reply()["is"] != "no" {
			t.Fatal("a wrong code is accepted")
		}
	}
	eve.sends(object{"name": "eve", "code": code}) // the fourth
	if _, _, err := eve.ws.Read(t.Context()); err == nil {
		t.Error("a fourth code is checked")
	}
	s.logs(`msg="wrong room code" from=127.0.0.1 name=eve`)
	if strings.Contains(s.log.String(), "saturday") {
		t.Error("the log contains the typed code")
	}
	s.checkServes()
}

// TestInvalidMessages: invalid frames and messages end the connection.
func TestInvalidMessages(t *testing.T) {
	s := open(t, web.Config{}, nil)
	for name, send := range map[string]func(ws *websocket.Conn) error{
		"not JSON": func(ws *websocket.Conn) error { return ws.Write(t.Context(), websocket.MessageText, []byte("hello")) },
		"binary":   func(ws *websocket.Conn) error { return ws.Write(t.Context(), websocket.MessageBinary, []byte(`{}`)) },
		"long name": func(ws *websocket.Conn) error {
			return ws.Write(t.Context(), websocket.MessageText, fmt.Appendf(nil, `{"name":%q}`, strings.Repeat("x", 300)))
		},
		"large message": func(ws *websocket.Conn) error {
			return ws.Write(t.Context(), websocket.MessageText, make([]byte, 1<<20))
		},
	} {
		ws := s.dial()
		_ = send(ws) // the room may have closed it already
		if _, _, err := ws.Read(t.Context()); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	large := s.visitor("eve")
	_ = large.ws.Write(t.Context(), websocket.MessageBinary, make([]byte, 1<<20))
	large.waitEnd()
	s.logs(`msg=left name=eve`)

	raw := s.upgrade()
	if _, err := raw.Write([]byte(strings.Repeat("\xff", 1000))); err != nil {
		t.Fatal(err)
	}
	waitClosed(t, raw)
	s.checkServes()
}

// upgrade performs a WebSocket handshake by hand, and returns the raw connection.
func (s *testRoom) upgrade() net.Conn {
	s.t.Helper()
	conn := s.connect()
	fmt.Fprintf(conn, "GET /room HTTP/1.1\r\nHost: %s\r\nOrigin: http://%[1]s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", s.address)
	head := make([]byte, len("HTTP/1.1 101"))
	if _, err := io.ReadFull(conn, head); err != nil || string(head) != "HTTP/1.1 101" {
		s.t.Fatalf("%q, %v", head, err)
	}
	return conn
}

// connect opens a TCP connection.
func (s *testRoom) connect() net.Conn {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// waitClosed waits until the room closes the connection.
func waitClosed(t *testing.T, conn net.Conn) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(timeout)); err != nil {
		t.Fatal(err)
	}
	var late net.Error
	if _, err := io.Copy(io.Discard, conn); errors.As(err, &late) && late.Timeout() {
		t.Error("the room does not close the connection")
	}
}

// TestIncompleteConnections: connections that stop before the login are closed.
func TestIncompleteConnections(t *testing.T) {
	s := open(t, web.Config{}, func(c *room.Config) { c.Limits.HandshakeTimeout, c.Limits.AuthTimeout = time.Second, time.Second })
	conns := []net.Conn{s.connect(), s.connect(), s.connect(), s.upgrade()}
	fmt.Fprint(conns[1], "GET / HTTP/1.1\r\nHos")
	fmt.Fprintf(conns[2], "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", s.address)
	for _, conn := range conns {
		waitClosed(t, conn)
	}
	s.checkServes()
}

// TestLargePaste: a paste of 10 MB ends the session with a message, and does not affect others.
func TestLargePaste(t *testing.T) {
	s := open(t, web.Config{}, func(c *room.Config) { c.Limits.InputRate, c.Limits.MaxInput = 64<<20, 1<<20 })
	ada, eve := s.visitor("ada"), s.visitor("eve")
	piece := []byte("\x1b[200~" + strings.Repeat("x", 8<<10))
	for range 10 << 20 / (8 << 10) {
		if eve.ws.Write(t.Context(), websocket.MessageBinary, piece) != nil {
			break // the room has closed it
		}
	}
	eve.sees("You exceeded the room's input limit").waitEnd()
	ada.pastes("here").sees("here")
	s.checkServes()
}

func TestUnresponsivePage(t *testing.T) {
	s := open(t, web.Config{}, func(c *room.Config) { c.Limits.PingInterval, c.Limits.StallTimeout = 100*time.Millisecond, time.Second })
	eve := &visitor{t: t, ws: s.dial()}
	eve.sends(object{"name": "eve", "code": code})
	eve.reply()
	s.logs("msg=left name=eve") // a client that does not read does not answer pings
	s.checkServes()
}

func TestInvalidRequests(t *testing.T) {
	s := open(t, web.Config{}, nil)
	for _, text := range []string{
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "SSH-2.0-OpenSSH_9.9\r\n", strings.Repeat("A", 64<<10) + "\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("y", 1<<20) + "\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	} {
		conn := s.connect()
		_, _ = io.WriteString(conn, text) // the room may close it early
		_ = conn.(*net.TCPConn).CloseWrite()
		waitClosed(t, conn)
	}
	if status, _, _ := s.get("/room"); status != http.StatusForbidden {
		t.Errorf("GET /room without a WebSocket: %d", status)
	}
	s.checkServes()
}
