package e2e

import (
	"io"
	"net"
	"sync"
	"testing"
)

// proxy passes connections on to a server until it is cut.
type proxy struct {
	listener net.Listener
	server   string // host:port

	mu    sync.Mutex
	down  bool
	conns map[net.Conn]bool
}

// startProxy starts a proxy before server that ends with the test.
func startProxy(t *testing.T, server string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, server: server, conns: map[net.Conn]bool{}}
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
		io.Copy(server, client) // either end may hang up
		server.Close()
	}()
	io.Copy(client, server)
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
