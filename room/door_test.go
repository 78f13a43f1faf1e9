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

// corridor is a listener in memory, so that a test's clock runs by itself.
type corridor struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newCorridor() *corridor {
	return &corridor{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (c *corridor) Accept() (net.Conn, error) {
	select {
	case conn := <-c.conns:
		return conn, nil
	case <-c.closed:
		return nil, net.ErrClosed
	}
}

func (c *corridor) Close() error   { c.once.Do(func() { close(c.closed) }); return nil }
func (c *corridor) Addr() net.Addr { return from("corridor") }

// from is where a connection comes from.
type from string

func (f from) Network() string { return "memory" }
func (f from) String() string  { return string(f) }

// coming is a connection in memory that takes in what is written at once, as a socket does.
type coming struct {
	net.Conn
	from
	written chan []byte
	over    context.Context
	end     context.CancelFunc
}

func newComing(conn net.Conn, source string) *coming {
	c := &coming{Conn: conn, from: from(source), written: make(chan []byte, 256)}
	c.over, c.end = context.WithCancel(context.Background())
	go func() {
		for {
			select {
			case text := <-c.written:
				_, _ = conn.Write(text)
			case <-c.over.Done():
				return
			}
		}
	}()
	return c
}

func (c *coming) RemoteAddr() net.Addr { return c.from }

func (c *coming) Write(p []byte) (int, error) {
	select {
	case c.written <- bytes.Clone(p):
		return len(p), nil
	case <-c.over.Done():
		return 0, io.ErrClosedPipe
	}
}

func (c *coming) Close() error {
	c.end()
	return c.Conn.Close()
}

// knock connects from somewhere.
func (c *corridor) knock(source string) net.Conn {
	mine, theirs := net.Pipe()
	select {
	case c.conns <- newComing(theirs, source):
	case <-c.closed:
		_ = theirs.Close()
	}
	return newComing(mine, source)
}

// tryIn says codes at a door, one after the other, and returns how many were answered with no, and whether one was right.
func (c *corridor) tryIn(source, name string, codes ...string) (wrong int, err error) {
	conn := c.knock(source)
	defer conn.Close()
	asked := 0
	client, _, _, err := ssh.NewClientConn(conn, "", &ssh.ClientConfig{
		User: name, HostKeyCallback: ssh.InsecureIgnoreHostKey(),
		Auth: []ssh.AuthMethod{ssh.RetryableAuthMethod(ssh.KeyboardInteractive(func(_, _ string, q []string, _ []bool) ([]string, error) {
			if len(q) == 0 {
				return nil, nil
			}
			if asked++; asked > len(codes) {
				return nil, errors.New("out of codes")
			}
			return []string{codes[asked-1]}, nil
		}), len(codes))},
	})
	if err != nil {
		return min(asked, len(codes)), err
	}
	return asked - 1, client.Close()
}

// blank is a screen with nothing on it.
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

// opened opens a room with two doors in memory for a test of the clock.
func opened(t *testing.T, change func(*Limits)) (visitors, teacher *corridor, opened *Room) {
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
	visitors, teacher = newCorridor(), newCorridor()
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- r.Serve(ctx, Door{Listener: visitors}, Door{Listener: teacher, Teachers: true}) }()
	t.Cleanup(func() {
		cancel()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
	return visitors, teacher, r
}

// Sixty-three who guess at once are answered two wrong codes a second, all together, and one who knows the code does
// not wait for them.
func TestWrongCodesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		visitors, teacher, _ := opened(t, nil)
		const lasts = 40 * time.Second
		began := time.Now()
		var answered atomic.Int64
		var all sync.WaitGroup
		for i := range 63 {
			all.Go(func() {
				for time.Since(began) < lasts {
					conn := fmt.Sprintf("10.0.0.%d:1", i%4)
					n, err := visitors.tryIn(conn, "eve", "saturday-a", "saturday-b", "saturday-c")
					if err == nil {
						t.Error("a wrong code opens the door")
					}
					if time.Since(began) <= lasts {
						answered.Add(int64(n))
					}
				}
			})
		}
		time.Sleep(20 * time.Second)
		for _, door := range []struct {
			at   *corridor
			code string
		}{{visitors, "monday-room"}, {visitors, "teach-4-them"}, {teacher, "teach-4-them"}} {
			asked := time.Now()
			if _, err := door.at.tryIn("10.0.0.1:9", "ada", door.code); err != nil {
				t.Errorf("who knows the code does not get in: %v", err)
			}
			if took := time.Since(asked); took > time.Second {
				t.Errorf("who knows the code waits for %s", took)
			}
		}
		all.Wait()
		if most := int64(2*lasts/time.Second + freeGuesses); answered.Load() > most {
			t.Errorf("%d wrong codes were answered in %s, and not %d at the most", answered.Load(), lasts, most)
		}
	})
}

// Who hangs up instead of waiting for the answer has had the turn all the same.
func TestHangingUpBuysNoOtherGuess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuesses(2)
		compared := 0
		for began := time.Now(); time.Since(began) < 10*time.Minute; time.Sleep(10 * time.Millisecond) {
			if g.mayCompare("eve", false) {
				g.takeTurn("eve")
				compared++
			}
		}
		if most := 2*10*60 + freeGuesses + mostOfOne; compared > most {
			t.Errorf("%d codes were compared in ten minutes, and not %d at the most", compared, most)
		}
		if !g.mayCompare("ada", false) || !g.mayCompare("the teacher's door, eve", true) {
			t.Error("one source alone has others unheard")
		}
		for i := range 10 * mostWaiting {
			if source := fmt.Sprint(i); g.mayCompare(source, false) {
				g.takeTurn(source)
			}
		}
		if n := len(g.waiting); n > mostWaiting+1 {
			t.Errorf("%d wait", n)
		}
		if g.mayCompare("ada", false) || !g.mayCompare("the teacher's door, ada", true) {
			t.Error("a crowd at the visitors' door is to keep out visitors alone")
		}
		time.Sleep(time.Hour)
		if !g.mayCompare("eve", false) || len(g.sources) != 0 {
			t.Errorf("%d sources are still known", len(g.sources))
		}
	})
}

// However many connections say nothing, opened again as soon as they are closed, somebody with the code comes in at
// once, from the same address; and a teacher by either door.
func TestSilentConnectionsKeepNobodyOut(t *testing.T) {
	for name, reopen := range map[string]bool{"held": false, "opened again": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				visitors, teacher, _ := opened(t, nil)
				var all sync.WaitGroup
				began := time.Now()
				for range 400 { // more than there is room for
					all.Go(func() {
						for once := true; (once || reopen) && time.Since(began) < 30*time.Second; once = false {
							conn := visitors.knock("10.0.0.1:1")
							_, _ = io.Copy(io.Discard, conn)
							_ = conn.Close()
						}
					})
				}
				for try := range 20 {
					time.Sleep(time.Second)
					asked := time.Now()
					if _, err := visitors.tryIn("10.0.0.1:2", "ada", "monday-room"); err != nil {
						t.Errorf("try %d: %v", try, err)
					}
					if took := time.Since(asked); took > 5*time.Second {
						t.Errorf("try %d takes %s", try, took)
					}
					asked = time.Now()
					if _, err := teacher.tryIn("127.0.0.1:2", "tina", "teach-4-them"); err != nil || time.Since(asked) > time.Second {
						t.Errorf("the teacher's try %d takes %s, %v", try, time.Since(asked), err)
					}
				}
				all.Wait()
			})
		})
	}
}

// Who has been asked for the code may take the time to type it, while silent connections come and go; and of those from
// elsewhere none is hung up on.
func TestWhoTypesTheCodeIsNotHurried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newCrowd(4, false)
		come := func(source string, greeted bool) *Caller {
			here, there := net.Pipe()
			t.Cleanup(func() { _ = here.Close(); _ = there.Close() })
			c, _ := d.admit(&coming{Conn: here, from: from(source), end: func() {}})
			c.greeted = greeted
			return c
		}
		typing, elsewhere := come("10.0.0.1:1", true), come("10.0.0.2:1", false)
		time.Sleep(2 * time.Second)
		var silent []*Caller
		for range 20 {
			silent = append(silent, come("10.0.0.1:2", false))
			time.Sleep(2 * time.Second)
		}
		for _, c := range []*Caller{typing, elsewhere, silent[19]} {
			if !d.callers[c] {
				t.Error("the wrong one was hung up on")
			}
		}
		if len(d.callers) != 4 || d.asked != 4 {
			t.Errorf("%d are there, of whom %d are asked", len(d.callers), d.asked)
		}
		d.setWaiting(typing, true)
		if d.asked != 3 || !typing.waits {
			t.Error("who waits for an answer takes room from the others")
		}
		d.forget(typing)
		d.forget(typing)
		d.forget(elsewhere)
		if d.asked != 2 || len(d.callers) != 2 {
			t.Errorf("%d are there, of whom %d are asked", len(d.callers), d.asked)
		}
	})
}

// At the teacher's door the visitors' code is a wrong one.
func TestTheTeachersDoorIsTheirsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, teacher, _ := opened(t, nil)
		if _, err := teacher.tryIn("127.0.0.1:1", "ada", "monday-room"); err == nil {
			t.Error("a visitor comes in by the teacher's door")
		}
	})
}

// However many tries a client with keys has, it has three at the code.
func TestThreeTriesAtTheCodeBesideKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		visitors, _, r := opened(t, func(l *Limits) { l.WrongCodes = 1000 })
		r.config.Access.Keys = []ssh.PublicKey{r.hostKey.PublicKey()}
		codes := strings.Fields(strings.Repeat("saturday ", 10))
		if n, err := visitors.tryIn("10.0.0.1:1", "eve", codes...); n != codeTries || err == nil {
			t.Errorf("%d codes were asked for, %v", n, err)
		}
	})
}

func TestSources(t *testing.T) {
	for address, source := range map[string]string{
		"192.0.2.7:22": "192.0.2.7", "[::ffff:192.0.2.7]:22": "192.0.2.7", "[2001:db8:1:2:3:4:5:6]:22": "2001:db8:1:2::/64",
		"[fe80::1%eth0]:22": "fe80::/64", "pipe": "pipe",
	} {
		if got := sourceOf(from(address)); got != source {
			t.Errorf("%s is counted as %s", address, got)
		}
	}
}
