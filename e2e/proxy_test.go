package e2e

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// proxy passes connections on to a server until it is cut.
type proxy struct {
	listener net.Listener
	server   string // host:port

	slow  atomic.Bool   // see slowly
	delay time.Duration // each way, however much is under way

	asked, answered atomic.Int64 // bytes to the server, and from it, with what TLS adds

	mu    sync.Mutex
	down  bool
	conns map[net.Conn]bool
}

// startProxy starts a proxy before server that ends with the test. What it passes on arrives after delay.
func startProxy(t *testing.T, server string, delay time.Duration) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, server: server, delay: delay, conns: map[net.Conn]bool{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.serve()
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
		p.cut()
	})
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

// cut closes all connections, and those that come until mend.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = true
	for c := range p.conns {
		c.Close()
	}
}

// mend lets connections through again.
func (p *proxy) mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = false
}

// A slow link: what a bad mobile connection has.
const (
	slowDelay = 200 * time.Millisecond
	slowBytes = 8 << 10 // in that time
)

// slowly makes the link a slow one, or a fast one again.
func (p *proxy) slowly(slow bool) { p.slow.Store(slow) }

// pace is a writer that passes on what it gets as fast as the link is.
type pace struct {
	io.Writer
	of    *proxy
	bytes *atomic.Int64
}

func (w pace) Write(b []byte) (n int, err error) {
	for len(b) > n && err == nil {
		end := len(b)
		if w.of.slow.Load() {
			time.Sleep(slowDelay)
			end = min(end, n+slowBytes)
		}
		var wrote int
		wrote, err = w.Writer.Write(b[n:end])
		n += wrote
		w.bytes.Add(int64(wrote))
	}
	return n, err
}

func (p *proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // the listener is closed: the test is over
		}
		go p.pass(client)
	}
}

// pass connects client with the server until one of them hangs up.
func (p *proxy) pass(client net.Conn) {
	defer p.drop(client)
	if !p.keep(client) {
		return
	}
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return // as if the server itself had refused
	}
	defer p.drop(server)
	if !p.keep(server) {
		return
	}
	go func() {
		p.carry(pace{server, p, &p.asked}, client)
		server.Close()
	}()
	p.carry(pace{client, p, &p.answered}, server)
}

// carry passes on what from sends, each piece as long after it came as the proxy delays, until either hangs up.
func (p *proxy) carry(to pace, from net.Conn) {
	if p.delay == 0 {
		io.Copy(to, from) // either end may hang up
		return
	}
	type piece struct {
		bytes []byte
		due   time.Time
	}
	const underWay = 1024 // pieces; more has to wait, as in a network
	pieces := make(chan piece, underWay)
	arrived := make(chan struct{})
	go func() {
		defer close(arrived)
		for next := range pieces {
			time.Sleep(time.Until(next.due))
			if _, err := to.Write(next.bytes); err != nil {
				from.Close() // so that nothing more comes
			}
		}
	}()
	for {
		buffer := make([]byte, 32<<10)
		n, err := from.Read(buffer)
		if n > 0 {
			pieces <- piece{buffer[:n], time.Now().Add(p.delay)}
		}
		if err != nil {
			break
		}
	}
	close(pieces)
	<-arrived
}

// keep notes a connection, to be cut. It reports false if the proxy is down.
func (p *proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		return false
	}
	p.conns[c] = true
	return true
}

func (p *proxy) drop(c net.Conn) {
	c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}
