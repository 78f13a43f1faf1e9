package e2e

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// proxy forwards connections to a server until cut is called.
type proxy struct {
	listener net.Listener
	server   string // host:port

	slow  atomic.Bool   // see setSlow
	delay time.Duration // each way, independent of the load

	sent, received atomic.Int64 // bytes to and from the server, with TLS overhead

	mu    sync.Mutex
	down  bool
	conns map[net.Conn]bool
}

// startProxy starts a proxy to server for the test. It delays all data by delay.
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

// cut closes all connections, and new ones until mend is called.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = true
	for c := range p.conns {
		c.Close()
	}
}

// mend accepts connections again.
func (p *proxy) mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = false
}

// A slow link, such as a bad mobile connection.
const (
	slowDelay = 200 * time.Millisecond
	slowBytes = 8 << 10 // per slowDelay
)

// setSlow makes the link slow or fast.
func (p *proxy) setSlow(slow bool) { p.slow.Store(slow) }

// pacedWriter is a writer with the speed of the link.
type pacedWriter struct {
	io.Writer
	of    *proxy
	bytes *atomic.Int64
}

func (w pacedWriter) Write(b []byte) (n int, err error) {
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
			return // the listener is closed
		}
		go p.pass(client)
	}
}

// pass connects client with the server until one of them disconnects.
func (p *proxy) pass(client net.Conn) {
	defer p.drop(client)
	if !p.keep(client) {
		return
	}
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return // as if the server had refused the connection
	}
	defer p.drop(server)
	if !p.keep(server) {
		return
	}
	go func() {
		p.carry(pacedWriter{server, p, &p.sent}, client)
		server.Close()
	}()
	p.carry(pacedWriter{client, p, &p.received}, server)
}

// carry copies data with the proxy's delay until either side disconnects.
func (p *proxy) carry(to pacedWriter, from net.Conn) {
	if p.delay == 0 {
		io.Copy(to, from) // either side may disconnect
		return
	}
	type piece struct {
		bytes []byte
		due   time.Time
	}
	const maxInFlight = 1024 // pieces; more must wait, as in a network
	pieces := make(chan piece, maxInFlight)
	arrived := make(chan struct{})
	go func() {
		defer close(arrived)
		for next := range pieces {
			time.Sleep(time.Until(next.due))
			if _, err := to.Write(next.bytes); err != nil {
				from.Close() // stop reading
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

// keep registers a connection for cut. It returns false if the proxy is down.
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
