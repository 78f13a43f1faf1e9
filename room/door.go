package room

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Door is a place where people come in. What is spoken there is the Protocol's; codes, seats and limits are the same at all.
type Door struct {
	net.Listener
	// Teachers lets nobody in but teachers: what crowds another door does not reach this one.
	Teachers bool
	// Protocol is what is spoken. Nil is SSH.
	Protocol Protocol
}

// Protocol sees to a caller, from the first byte until it returns: then the caller is hung up on. It lets the caller in by
// Judge, and shows them their screen by Visit. ctx ends when the room closes.
type Protocol func(ctx context.Context, c *Caller)

// A door has a crowd before it: connections that have not said a code yet. Whoever is too many is not the newest, who
// has done nothing wrong: room is made by whoever has been there for longest without a word.

// crowd is who is before a door. The teacher's door lets nobody else in, and is as wide, so that no crowd before the
// visitors' keeps the teacher out.
type crowd struct {
	teachers bool
	most     int // callers who are asked, and as many who wait for the answer to a wrong code

	mu      sync.Mutex
	callers map[*Caller]bool
	asked   int // of callers, those who do not wait for an answer
}

func newCrowd(most int, teachers bool) *crowd {
	return &crowd{teachers: teachers, most: max(1, most), callers: make(map[*Caller]bool)}
}

// admit takes in a connection, and returns its caller, and who had to make room for it, or nil.
func (d *crowd) admit(conn net.Conn) (c, out *Caller) {
	c = &Caller{crowd: d, conn: conn, source: sourceOf(conn.RemoteAddr()), came: time.Now(), gone: make(chan struct{})}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.callers[c] = true
	d.asked++
	return c, d.makeRoom(c)
}

// forget takes away a caller who was let in or is gone. A second time it does nothing.
func (d *crowd) forget(c *Caller) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.remove(c)
}

func (d *crowd) remove(c *Caller) {
	if !d.callers[c] {
		return
	}
	delete(d.callers, c)
	if !c.waits {
		d.asked--
	}
	close(c.gone)
}

// setWaiting notes whether c waits for the answer to a wrong code. Those who wait take no room from those who are
// asked for one. It returns who had to make room for c among its likes, or nil.
func (d *crowd) setWaiting(c *Caller, waits bool) (out *Caller) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.callers[c] || c.waits == waits {
		return nil
	}
	c.waits = waits
	if waits {
		d.asked--
	} else {
		d.asked++
	}
	return d.makeRoom(c)
}

// makeRoom hangs up on one of the likes of c, other than c, if there are too many of them.
func (d *crowd) makeRoom(c *Caller) *Caller {
	there := d.asked
	if c.waits {
		there = len(d.callers) - d.asked
	}
	if there <= d.most {
		return nil
	}
	shares := make(map[string]int)
	for other := range d.callers {
		if other.waits == c.waits {
			shares[other.source]++
		}
	}
	var out *Caller
	now := time.Now()
	for other := range d.callers {
		if other != c && other.waits == c.waits && (out == nil || other.before(out, shares, now)) {
			out = other
		}
	}
	if out != nil {
		d.remove(out)
		_ = out.conn.Close()
	}
	return out
}

// breath is how long a caller may take over the first words before it counts as silent: clients send them at once.
const breath = time.Second

// before reports whether c makes room before other does: who comes from where most come from, then who has been
// silent, then who has been there for longer.
func (c *Caller) before(other *Caller, shares map[string]int, now time.Time) bool {
	if a, b := shares[c.source], shares[other.source]; a != b {
		return a > b
	}
	if a, b := c.silent(now), other.silent(now); a != b {
		return a
	}
	if a, b := c.greeted, other.greeted; a != b {
		return a // the other one has only just come
	}
	return c.came.Before(other.came)
}

func (c *Caller) silent(now time.Time) bool { return !c.greeted && now.Sub(c.came) > breath }

// sourceOf is what connections from an address are counted by: one of IPv4, or a network of 64 bits of IPv6, which is
// the least that somebody has.
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
