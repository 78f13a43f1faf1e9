package room

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// A door has a crowd before it: connections that have not said a code yet. Whoever is too many is not the newest, who
// has done nothing wrong: room is made by whoever has been there for longest without a word.

// door is where connections come in. The teacher's lets nobody else in, and is as wide, so that no crowd before the
// visitors' keeps the teacher out.
type door struct {
	teachers bool
	most     int // callers who are asked, and as many who wait for the answer to a wrong code

	mu      sync.Mutex
	callers map[*caller]bool
	asked   int // of callers, those who do not wait for an answer
}

// caller is a connection before a door.
type caller struct {
	conn   net.Conn
	line   *guarded
	source string
	came   time.Time
	gone   chan struct{} // closed when it no longer is before the door
	tries  int           // at a code; only its own goroutine uses it

	// Of the door.
	greeted bool // keys are exchanged: it is asked for a code
	waits   bool // for the answer to a wrong code
}

func newDoor(most int, teachers bool) *door {
	return &door{teachers: teachers, most: max(1, most), callers: make(map[*caller]bool)}
}

// admit takes in a connection, and returns its caller, and who had to make room for it, or nil.
func (d *door) admit(conn net.Conn) (c, out *caller) {
	c = &caller{conn: conn, source: sourceOf(conn.RemoteAddr()), came: time.Now(), gone: make(chan struct{})}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.callers[c] = true
	d.asked++
	return c, d.makeRoom(c)
}

// forget takes away a caller who was let in or is gone. A second time it does nothing.
func (d *door) forget(c *caller) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.remove(c)
}

func (d *door) remove(c *caller) {
	if !d.callers[c] {
		return
	}
	delete(d.callers, c)
	if !c.waits {
		d.asked--
	}
	close(c.gone)
}

// noteGreeted notes that keys are exchanged with c.
func (d *door) noteGreeted(c *caller) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c.greeted = true
}

// setWaiting notes whether c waits for the answer to a wrong code. Those who wait take no room from those who are
// asked for one. It returns who had to make room for c among its likes, or nil.
func (d *door) setWaiting(c *caller, waits bool) (out *caller) {
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
func (d *door) makeRoom(c *caller) *caller {
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
	var out *caller
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
func (c *caller) before(other *caller, shares map[string]int, now time.Time) bool {
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

func (c *caller) silent(now time.Time) bool { return !c.greeted && now.Sub(c.came) > breath }

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
