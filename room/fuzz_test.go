package room

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/crypto/ssh"
)

// FuzzRoomFrames has a client that was let in ask for anything, and type anything: no panic, no hang, and nothing kept
// beyond its bounds. The first byte of a frame says what it is, the second how long; what is longer is cut off.
func FuzzRoomFrames(f *testing.F) {
	f.Add([]byte("\x00\x18" + string(ssh.Marshal(struct {
		Term       string
		C, R, W, H uint32
	}{"xterm", 80, 24, 0, 0})) + "\x00\x00\x03\x00\x06\x05hello\x02\x08\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Add([]byte("\x01\x0fCOLORTERM=\x1b[2J\x03\x00\x03\x00\x04\x04exec"))
	f.Add([]byte("\x03\x00\x05\x0a\x14\x14wxxcc\x1b[<0;1\x05\x06\x1b[200~"))
	const most = 64 // frames
	key := hostKey(f)
	f.Fuzz(func(t *testing.T, frames []byte) {
		r, err := New(Config{HostKey: key, Access: Access{Code: "monday-room"}, Open: func(*Visitor) (tea.Model, error) { return blank{}, nil }})
		if err != nil {
			t.Fatal(err)
		}
		client := &fakeChannel{typed: make(chan []byte, most)}
		role := visitorRole
		if len(frames)%2 == 0 {
			role = teacherRole
		}
		c := &connection{
			Caller: &Caller{room: r, source: "10.0.0.1", line: &guarded{}}, refused: make(map[string]bool),
			conn: &ssh.ServerConn{Conn: fakeConn{}, Permissions: permitted(role)},
		}
		requests := make(chan *ssh.Request)
		served := make(chan struct{})
		go func() {
			defer close(served)
			c.serve(t.Context(), client, requests, func() {})
		}()
		for n := 0; len(frames) >= 2 && n < most; n++ {
			kind, size := frames[0], min(int(frames[1]), len(frames)-2)
			payload := frames[2 : 2+size]
			frames = frames[2+size:]
			if kind == 5 || kind == 6 {
				client.typed <- payload
				continue
			}
			names := []string{"pty-req", "env", "window-change", "shell", string(payload)}
			requests <- &ssh.Request{Type: names[int(kind)%len(names)], Payload: payload}
		}
		close(requests)
		close(client.typed)
		select {
		case <-served:
		case <-time.After(20 * time.Second):
			t.Fatal("the session does not end")
		}
		if n := len(c.refused); n > 30 {
			t.Errorf("%d refusals are kept", n)
		}
		if n := len(r.seats); n != 0 {
			t.Errorf("%d seats are still taken", n)
		}
		if s, _ := r.standing.get(); len(s.seats) != 0 {
			t.Errorf("%v are still seen", s.seats)
		}
		if shown := client.shown.String(); strings.Contains(shown, "mistake") || len(shown) > 1<<20 {
			t.Errorf("%d bytes are shown: %.1000q", len(shown), shown)
		}
	})
}

// fakeChannel is a client's channel in memory, and fakeConn its connection.
type fakeChannel struct {
	typed chan []byte
	rest  []byte

	mu    sync.Mutex
	shown strings.Builder
}

func (f *fakeChannel) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		text, ok := <-f.typed
		if !ok {
			return 0, io.EOF
		}
		f.rest = text
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

func (f *fakeChannel) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.shown.Write(p)
}

func (f *fakeChannel) Close() error                                   { return nil }
func (f *fakeChannel) CloseWrite() error                              { return nil }
func (f *fakeChannel) SendRequest(string, bool, []byte) (bool, error) { return true, nil }
func (f *fakeChannel) Stderr() io.ReadWriter                          { return nil }

type fakeConn struct{ ssh.Conn }

func (fakeConn) User() string         { return "eve" }
func (fakeConn) RemoteAddr() net.Addr { return from("10.0.0.1:1") }
func (fakeConn) Close() error         { return nil }
func (fakeConn) Wait() error          { return nil }
