package room

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// pendingSet holds the unauthenticated connections of one listener. When it is full, a new
// connection replaces the one that looks least like a person, not the newest. The teachers-only
// listener has a set of its own, so a flood on the visitors' listener does not lock the teacher out.
type pendingSet struct {
	teachersOnly bool
	max          int // connections that authenticate, and as many that wait for the reply to a wrong code

	mu     sync.Mutex
	conns  map[*Conn]bool
	active int // conns that are not throttled
}

func newPendingSet(limit int, teachersOnly bool) *pendingSet {
	return &pendingSet{teachersOnly: teachersOnly, max: max(1, limit), conns: make(map[*Conn]bool)}
}

// add adds a connection. It returns the connection that was closed to make space, or nil.
func (s *pendingSet) add(conn net.Conn) (c, evicted *Conn) {
	c = &Conn{pending: s, conn: conn, source: sourceOf(conn.RemoteAddr()), accepted: time.Now(), removed: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[c] = true
	s.active++
	return c, s.evict(c)
}

// remove removes a connection. Later calls do nothing.
func (s *pendingSet) remove(c *Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeLocked(c)
}

func (s *pendingSet) removeLocked(c *Conn) {
	if !s.conns[c] {
		return
	}
	delete(s.conns, c)
	if !c.throttled {
		s.active--
	}
	close(c.removed)
}

// setThrottled records whether c waits for the reply to a wrong code. Throttled connections are
// counted separately. It returns the connection that was closed to make space for c, or nil.
func (s *pendingSet) setThrottled(c *Conn, throttled bool) (evicted *Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.conns[c] || c.throttled == throttled {
		return nil
	}
	c.throttled = throttled
	if throttled {
		s.active--
	} else {
		s.active++
	}
	return s.evict(c)
}

// evict closes one connection of the same kind as c, but not c, if there are too many of that kind.
func (s *pendingSet) evict(c *Conn) *Conn {
	count := s.active
	if c.throttled {
		count = len(s.conns) - s.active
	}
	if count <= s.max {
		return nil
	}
	perSource := make(map[string]int)
	for other := range s.conns {
		if other.throttled == c.throttled {
			perSource[other.source]++
		}
	}
	var evicted *Conn
	now := time.Now()
	for other := range s.conns {
		if other != c && other.throttled == c.throttled && (evicted == nil || other.evictBefore(evicted, perSource, now)) {
			evicted = other
		}
	}
	if evicted != nil {
		s.removeLocked(evicted)
		_ = evicted.conn.Close()
	}
	return evicted
}

// silentAfter is how long a connection may take for the handshake before it counts as silent.
// Clients start it at once.
const silentAfter = time.Second

// evictBefore reports whether c is closed before other: connections from the most frequent source
// first, then silent ones, then old ones.
func (c *Conn) evictBefore(other *Conn, perSource map[string]int, now time.Time) bool {
	if a, b := perSource[c.source], perSource[other.source]; a != b {
		return a > b
	}
	if a, b := c.silent(now), other.silent(now); a != b {
		return a
	}
	if a, b := c.handshakeDone, other.handshakeDone; a != b {
		return a // the other one is less than silentAfter old
	}
	return c.accepted.Before(other.accepted)
}

func (c *Conn) silent(now time.Time) bool {
	return !c.handshakeDone && now.Sub(c.accepted) > silentAfter
}

// sourceOf returns the key by which connections from an address are counted: the IPv4 address, or
// the IPv6 /64, which is the smallest network a site gets.
func sourceOf(a net.Addr) string {
	at, err := netip.ParseAddr(host(a))
	if err != nil {
		return host(a)
	}
	if at = at.Unmap().WithZone(""); at.Is4() {
		return at.String()
	}
	network, err := at.Prefix(64)
	if err != nil {
		return at.String()
	}
	return network.String()
}
