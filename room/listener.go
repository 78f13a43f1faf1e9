package room

import (
	"context"
	"net"
)

// Listener accepts connections for a room. Codes, seats and limits are shared by all listeners.
type Listener struct {
	net.Listener
	// TeachersOnly rejects the visitors' code and keys. Load on another listener does not affect
	// this one.
	TeachersOnly bool
	// Handler serves the connections. Nil serves SSH.
	Handler Handler
}

// Handler serves a connection from its first byte; the room closes the connection when it returns.
// A handler authenticates with Conn.CheckCode and shows the visitor's screen with Conn.RunSession.
// ctx ends when the room closes.
type Handler func(ctx context.Context, c *Conn)
