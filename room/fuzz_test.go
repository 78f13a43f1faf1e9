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

// FuzzRoomFrames sends arbitrary requests and input from an authenticated client. The room must not
// panic, hang or exceed its limits. The first byte of a frame is its kind, the second its length.
func FuzzRoomFrames(f *testing.F) {
	f.Add([]byte("\x00\x18" + string(ssh.Marshal(struct {
		Term       string
		C, R, W, H uint32
	}{"xterm", 80, 24, 0, 0})) + "\x00\x00\x03\x00\x06\x05hello\x02\x08\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Add([]byte("\x01\x0fCOLORTERM=\x1b[2J\x03\x00\x03\x00\x04\x04exec"))
	f.Add([]byte("\x03\x00\x05\x0a\x14\x14wxxcc\x1b[<0;1\x05\x06\x1b[200~"))
	const maxFrames = 64
	key := hostKey(f)
	f.Fuzz(func(t *testing.T, frames []byte) {
		r, err := New(Config{HostKey: key, Access: Access{Code: "monday-room"}, Open: func(*Visitor) (tea.Model, error) { return blank{}, nil }})
		if err != nil {
			t.Fatal(err)
		}
		client := &fakeChannel{input: make(chan []byte, maxFrames)}
		role := visitorRole
		if len(frames)%2 == 0 {
			role = teacherRole
		}
		c := &connection{
			Conn: &Conn{room: r, source: "10.0.0.1", limited: &limitedConn{}}, refused: make(map[string]bool),
			ssh: &ssh.ServerConn{Conn: fakeConn{}, Permissions: permissions(role)},
		}
		requests := make(chan *ssh.Request)
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.serveSession(t.Context(), client, requests, func() {})
		}()
		for n := 0; len(frames) >= 2 && n < maxFrames; n++ {
			kind, size := frames[0], min(int(frames[1]), len(frames)-2)
			payload := frames[2 : 2+size]
			frames = frames[2+size:]
			if kind == 5 || kind == 6 {
				client.input <- payload
				continue
			}
			names := []string{"pty-req", "env", "window-change", "shell", string(payload)}
			requests <- &ssh.Request{Type: names[int(kind)%len(names)], Payload: payload}
		}
		close(requests)
		close(client.input)
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Fatal("the session does not end")
		}
		if n := len(c.refused); n > 30 {
			t.Errorf("%d refusals are remembered", n)
		}
		if n := len(r.visitors); n != 0 {
			t.Errorf("%d visitors are left in the room", n)
		}
		if s, _ := r.snapshots.get(); len(s.people) != 0 {
			t.Errorf("the snapshot still has %v", s.people)
		}
		if output := client.output.String(); strings.Contains(output, "crashed") || len(output) > 1<<20 {
			t.Errorf("%d bytes of output: %.1000q", len(output), output)
		}
	})
}

// fakeChannel is an in-memory SSH channel of a client, and fakeConn its connection.
type fakeChannel struct {
	input chan []byte
	rest  []byte

	mu     sync.Mutex
	output strings.Builder
}

func (f *fakeChannel) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		text, ok := <-f.input
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
	return f.output.Write(p)
}

func (f *fakeChannel) Close() error                                   { return nil }
func (f *fakeChannel) CloseWrite() error                              { return nil }
func (f *fakeChannel) SendRequest(string, bool, []byte) (bool, error) { return true, nil }
func (f *fakeChannel) Stderr() io.ReadWriter                          { return nil }

type fakeConn struct{ ssh.Conn }

func (fakeConn) User() string         { return "eve" }
func (fakeConn) RemoteAddr() net.Addr { return memAddr("10.0.0.1:1") }
func (fakeConn) Close() error         { return nil }
func (fakeConn) Wait() error          { return nil }
