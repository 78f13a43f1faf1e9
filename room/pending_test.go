package room

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/crypto/ssh"
)

// memListener is an in-memory listener, for tests with a fake clock.
type memListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newMemListener() *memListener {
	return &memListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *memListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *memListener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *memListener) Addr() net.Addr { return memAddr("listener") }

type memAddr string

func (a memAddr) Network() string { return "memory" }
func (a memAddr) String() string  { return string(a) }

// memConn is an in-memory connection whose writes are buffered, like those of a socket.
type memConn struct {
	net.Conn
	remote  memAddr
	written chan []byte
	ctx     context.Context
	cancel  context.CancelFunc
}

func newMemConn(conn net.Conn, remote string) *memConn {
	c := &memConn{Conn: conn, remote: memAddr(remote), written: make(chan []byte, 256)}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	go func() {
		for {
			select {
			case text := <-c.written:
				_, _ = conn.Write(text)
			case <-c.ctx.Done():
				return
			}
		}
	}()
	return c
}

func (c *memConn) RemoteAddr() net.Addr { return c.remote }

func (c *memConn) Write(p []byte) (int, error) {
	select {
	case c.written <- bytes.Clone(p):
		return len(p), nil
	case <-c.ctx.Done():
		return 0, io.ErrClosedPipe
	}
}

func (c *memConn) Close() error {
	c.cancel()
	return c.Conn.Close()
}

// dial connects from an address.
func (l *memListener) dial(from string) net.Conn {
	mine, theirs := net.Pipe()
	select {
	case l.conns <- newMemConn(theirs, from):
	case <-l.closed:
		_ = theirs.Close()
	}
	return newMemConn(mine, from)
}

// login tries codes in turn. It returns how many were rejected, and nil if one was accepted.
func (l *memListener) login(from, name string, codes ...string) (wrong int, err error) {
	conn := l.dial(from)
	defer conn.Close()
	prompts := 0
	client, _, _, err := ssh.NewClientConn(conn, "", &ssh.ClientConfig{
		User: name, HostKeyCallback: ssh.InsecureIgnoreHostKey(),
		Auth: []ssh.AuthMethod{ssh.RetryableAuthMethod(ssh.KeyboardInteractive(func(_, _ string, q []string, _ []bool) ([]string, error) {
			if len(q) == 0 {
				return nil, nil
			}
			if prompts++; prompts > len(codes) {
				return nil, errors.New("out of codes")
			}
			return []string{codes[prompts-1]}, nil
		}), len(codes))},
	})
	if err != nil {
		return min(prompts, len(codes)), err
	}
	return prompts - 1, client.Close()
}

// blank is a model with an empty screen.
type blank struct{}

func (blank) Init() tea.Cmd                       { return nil }
func (blank) Update(tea.Msg) (tea.Model, tea.Cmd) { return blank{}, nil }
func (blank) View() tea.View                      { return tea.NewView("") }

func hostKey(t testing.TB) ssh.Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// serveRoom serves a room on two in-memory listeners.
func serveRoom(t *testing.T, change func(*Limits)) (visitors, teachers *memListener, r *Room) {
	t.Helper()
	limits := DefaultLimits()
	if change != nil {
		change(&limits)
	}
	r, err := New(Config{HostKey: hostKey(t), Access: Access{Code: "monday-room", TeacherCode: "teach-4-them"}, Limits: limits,
		Open: func(*Visitor) (tea.Model, error) { return blank{}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	visitors, teachers = newMemListener(), newMemListener()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- r.Serve(ctx, Listener{Listener: visitors}, Listener{Listener: teachers, TeachersOnly: true})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return visitors, teachers, r
}

// TestWrongCodesShareOneRate: with 63 clients guessing at once, two wrong codes per second are
// answered in total, and a client with the right code does not wait.
func TestWrongCodesShareOneRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		visitors, teachers, _ := serveRoom(t, nil)
		const duration = 40 * time.Second
		start := time.Now()
		var answered atomic.Int64
		var wg sync.WaitGroup
		for i := range 63 {
			wg.Go(func() {
				for time.Since(start) < duration {
					n, err := visitors.login(fmt.Sprintf("10.0.0.%d:1", i%4), "eve", "saturday-a", "saturday-b", "saturday-c")
					if err == nil {
						t.Error("a wrong code was accepted")
					}
					if time.Since(start) <= duration {
						answered.Add(int64(n))
					}
				}
			})
		}
		time.Sleep(20 * time.Second)
		for _, login := range []struct {
			to   *memListener
			code string
		}{{visitors, "monday-room"}, {visitors, "teach-4-them"}, {teachers, "teach-4-them"}} {
			began := time.Now()
			if _, err := login.to.login("10.0.0.1:9", "ada", login.code); err != nil {
				t.Errorf("a right code was rejected: %v", err)
			}
			if took := time.Since(began); took > time.Second {
				t.Errorf("a right code took %s", took)
			}
		}
		wg.Wait()
		if limit := int64(2*duration/time.Second + codeBurst); answered.Load() > limit {
			t.Errorf("%d wrong codes were answered in %s, want at most %d", answered.Load(), duration, limit)
		}
	})
}

// TestCodeLimiter: a client that hangs up instead of waiting for the reply does not get another
// guess.
func TestCodeLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newCodeLimiter(2)
		compared := 0
		for start := time.Now(); time.Since(start) < 10*time.Minute; time.Sleep(10 * time.Millisecond) {
			if l.allow("eve", false) {
				l.reserve("eve")
				compared++
			}
		}
		if limit := 2*10*60 + codeBurst + maxWaitingPerSource; compared > limit {
			t.Errorf("%d codes were compared in ten minutes, want at most %d", compared, limit)
		}
		if !l.allow("ada", false) || !l.allow("teachers-only, eve", true) {
			t.Error("one source throttles others")
		}
		for i := range 10 * maxWaiting {
			if source := fmt.Sprint(i); l.allow(source, false) {
				l.reserve(source)
			}
		}
		if n := len(l.waiting); n > maxWaiting+1 {
			t.Errorf("%d replies are waiting", n)
		}
		if l.allow("ada", false) || !l.allow("teachers-only, ada", true) {
			t.Error("many sources must throttle visitors, but not teachers")
		}
		time.Sleep(time.Hour)
		if !l.allow("eve", false) || len(l.perSource) != 0 {
			t.Errorf("%d sources are still known", len(l.perSource))
		}
	})
}

// TestSilentConnectionsKeepNobodyOut: silent connections, even if reopened as soon as they are
// closed, keep out neither a visitor with the code nor a teacher on either listener.
func TestSilentConnectionsKeepNobodyOut(t *testing.T) {
	for name, reopen := range map[string]bool{"held": false, "reopened": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				visitors, teachers, _ := serveRoom(t, nil)
				var wg sync.WaitGroup
				start := time.Now()
				for range 400 { // more than Limits.Pending
					wg.Go(func() {
						for once := true; (once || reopen) && time.Since(start) < 30*time.Second; once = false {
							conn := visitors.dial("10.0.0.1:1")
							_, _ = io.Copy(io.Discard, conn)
							_ = conn.Close()
						}
					})
				}
				for try := range 20 {
					time.Sleep(time.Second)
					began := time.Now()
					if _, err := visitors.login("10.0.0.1:2", "ada", "monday-room"); err != nil {
						t.Errorf("try %d: %v", try, err)
					}
					if took := time.Since(began); took > 5*time.Second {
						t.Errorf("try %d takes %s", try, took)
					}
					began = time.Now()
					if _, err := teachers.login("127.0.0.1:2", "tina", "teach-4-them"); err != nil || time.Since(began) > time.Second {
						t.Errorf("the teacher's try %d takes %s, %v", try, time.Since(began), err)
					}
				}
				wg.Wait()
			})
		})
	}
}

// TestPendingSetEviction: a client at the code prompt may take its time while silent connections
// come and go, and they don't replace connections from other addresses.
func TestPendingSetEviction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPendingSet(4, false)
		add := func(from string, handshakeDone bool) *Conn {
			here, there := net.Pipe()
			t.Cleanup(func() { _ = here.Close(); _ = there.Close() })
			c, _ := s.add(&memConn{Conn: here, remote: memAddr(from), cancel: func() {}})
			c.handshakeDone = handshakeDone
			return c
		}
		typing, elsewhere := add("10.0.0.1:1", true), add("10.0.0.2:1", false)
		time.Sleep(2 * time.Second)
		var silent []*Conn
		for range 20 {
			silent = append(silent, add("10.0.0.1:2", false))
			time.Sleep(2 * time.Second)
		}
		for _, c := range []*Conn{typing, elsewhere, silent[19]} {
			if !s.conns[c] {
				t.Error("the wrong connection was closed")
			}
		}
		check := func(conns, active int) {
			t.Helper()
			if len(s.conns) != conns || s.active != active {
				t.Errorf("%d connections, %d of them active, want %d and %d", len(s.conns), s.active, conns, active)
			}
		}
		check(4, 4)
		s.setThrottled(typing, true)
		check(4, 3)
		s.remove(typing)
		s.remove(typing)
		s.remove(elsewhere)
		check(2, 2)
	})
}

func TestTeachersOnlyListenerRejectsVisitors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, teachers, _ := serveRoom(t, nil)
		if _, err := teachers.login("127.0.0.1:1", "ada", "monday-room"); err == nil {
			t.Error("the visitors' code is accepted")
		}
	})
}

// TestCodeAttemptsBesideKeys: offering keys, of which a client may try many, does not raise the
// number of attempts at the code.
func TestCodeAttemptsBesideKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		visitors, _, r := serveRoom(t, func(l *Limits) { l.WrongCodeRate = 1000 })
		r.config.Access.Keys = []ssh.PublicKey{r.hostKey.PublicKey()}
		codes := strings.Fields(strings.Repeat("saturday ", 10))
		if n, err := visitors.login("10.0.0.1:1", "eve", codes...); n != maxAttempts || err == nil {
			t.Errorf("%d attempts, %v", n, err)
		}
	})
}

func TestSourceOf(t *testing.T) {
	for address, source := range map[string]string{
		"192.0.2.7:22": "192.0.2.7", "[::ffff:192.0.2.7]:22": "192.0.2.7", "[2001:db8:1:2:3:4:5:6]:22": "2001:db8:1:2::/64",
		"[fe80::1%eth0]:22": "fe80::/64", "pipe": "pipe",
	} {
		if got := sourceOf(memAddr(address)); got != source {
			t.Errorf("sourceOf(%s) = %s, want %s", address, got, source)
		}
	}
}
