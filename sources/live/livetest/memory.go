package livetest

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"syscall"
	"testing"
)

// Network is a network in memory with one server. In a bubble of testing/synctest it runs in the bubble's time.
type Network struct {
	conns  chan net.Conn
	closed chan struct{}
	down   atomic.Bool
	open   atomic.Int32
}

// NewInMemory starts an empty server that only the network's transport reaches.
func NewInMemory(t testing.TB) (*Server, *Network) {
	n := &Network{conns: make(chan net.Conn), closed: make(chan struct{})}
	s := newServer()
	s.Server = &httptest.Server{Listener: n, Config: &http.Server{Handler: s}}
	s.Server.Start()
	t.Cleanup(s.stop)
	return s, n
}

// Transport returns a transport whose connections all lead to the server.
func (n *Network) Transport() *http.Transport { return &http.Transport{DialContext: n.dial} }

// SetDown makes the server refuse new connections, or accept them again.
func (n *Network) SetDown(down bool) { n.down.Store(down) }

// Open counts the open connections.
func (n *Network) Open() int { return int(n.open.Load()) }

func (n *Network) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if n.down.Load() {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	client, server := net.Pipe()
	select {
	case n.conns <- server:
		n.open.Add(1)
		return &conn{Conn: client, network: n}, nil
	case <-n.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// conn is the client's end of a connection.
type conn struct {
	net.Conn
	network *Network
	closed  atomic.Bool
}

// Close implements net.Conn.
func (c *conn) Close() error {
	if !c.closed.Swap(true) {
		c.network.open.Add(-1)
	}
	return c.Conn.Close()
}

// Accept implements net.Listener.
func (n *Network) Accept() (net.Conn, error) {
	select {
	case c := <-n.conns:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (n *Network) Close() error {
	select {
	case <-n.closed:
	default:
		close(n.closed)
	}
	return nil
}

// Addr implements net.Listener.
func (*Network) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }
