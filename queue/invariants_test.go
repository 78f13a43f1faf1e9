package queue

import (
	"fmt"
)

// Invariants returns what of the package's invariants does not hold, or nil.
func (q *Queue) Invariants() error {
	c := checker{q: q, at: map[int32]string{}, pods: map[Tier]int{}}
	for _, check := range []func(){c.places, c.flights, c.groups, c.rest} {
		if check(); c.err != nil {
			return c.err
		}
	}
	return nil
}

// checker goes through all of a queue once, and notes where it saw each entry.
type checker struct {
	q       *Queue
	at      map[int32]string
	pods    map[Tier]int
	waiting int
	err     error
}

func (c *checker) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// see notes that entry i is somewhere, where nothing else may have it.
func (c *checker) see(i int32, where string) *entry {
	if c.at[i] != "" {
		c.fail("entry %d is %s and %s", i, c.at[i], where)
	}
	c.at[i] = where
	return c.q.entries.At(i)
}

// pod checks the pod i, which waits in tier.
func (c *checker) pod(i int32, tier Tier) {
	q, e := c.q, c.q.entries.At(i)
	c.waiting++
	c.pods[tier]++
	if e.tier != tier {
		c.fail("%s is said to be %s, and is %s", e.pod.Name, e.tier, tier)
	}
	if q.waiting(e.pod) != i {
		c.fail("%s is not found by its name", e.pod.Name)
	}
	if e.priority != priorityOf(e.pod) {
		c.fail("%s has the priority %d", e.pod.Name, e.priority)
	}
}

// entity checks the entity i, which lies at pos of p, and its pods.
func (c *checker) entity(i int32, p place, pos int) {
	q, e := c.q, c.see(i, fmt.Sprint("at ", pos, " of place ", p))
	if e.place != p || int(e.pos) != pos || q.placeOf(e, e.tier) != p {
		c.fail("the entity at %d of place %d is %s, and has the position %d of place %d", pos, p, e.tier, e.pos, e.place)
	}
	if e.pod != nil && e.group != 0 || e.pod == nil && q.groups[e.group-1].entity != i {
		c.fail("a member is in place %d, or an entity that its group does not know", p)
	}
	for pod := range q.podsOf(i) {
		if pod != i {
			c.see(pod, "a member")
		}
		c.pod(pod, e.tier)
		if member := q.entries.At(pod); member.group != e.group {
			c.fail("%s is with another group", member.pod.Name)
		}
	}
}

func (c *checker) places() {
	q := c.q
	for _, p := range []place{inActiveQ, inBackoffQ, inErrorBackoffQ} {
		h := q.heapAt(p)
		for pos := range h.items {
			c.entity(h.items[pos].entry, p, pos)
			if h.items[pos] != itemOf(&q.entries, h.items[pos].entry) {
				c.fail("place %d has an old key at %d", p, pos)
			}
			// As upstream's, the heaps are not sorted anew when a PodGroup's priority changes.
			if pos > 0 && !q.opts.GenericWorkload && h.less(&h.items[pos], &h.items[(pos-1)/2]) {
				c.fail("place %d is not in order at %d", p, pos)
			}
		}
	}
	for pos, i := range q.unschedulable {
		c.entity(i, inUnschedulable, pos)
	}
}

func (c *checker) flights() {
	f, n, from, named := &c.q.inFlight, 0, c.q.inFlight.dropped, map[string]bool{}
	for i := f.first; i != none; i = c.q.entries.At(i).next {
		e := c.see(i, "in flight")
		n++
		c.pods[InFlight]++
		if e.tier != InFlight || e.place != nowhere || f.with(&c.q.entries, e.pod.UID) != i || e.eventsFrom < from {
			c.fail("%s is in flight as %s, and its UID finds %d", e.pod.Name, e.tier, f.with(&c.q.entries, e.pod.UID))
		}
		if flying := c.q.flying(e.pod); flying == none || c.q.entries.At(flying).pod.Name != e.pod.Name {
			c.fail("%s is in flight and not found by its name", e.pod.Name)
		} else if name := e.pod.Namespace + "/" + e.pod.Name; !named[name] && flying != i {
			c.fail("%s finds one that was popped later", name)
		} else {
			named[name] = true
		}
		from = e.eventsFrom
	}
	if n != f.byUID.Len() {
		c.fail("%d pods are in flight, and %d are found by their UIDs", n, f.byUID.Len())
	}
	if f.first == none && len(f.since(f.dropped)) > 0 {
		c.fail("events are kept for nobody")
	} else if f.first != none && c.q.entries.At(f.first).eventsFrom-f.dropped >= letGoAtOnce {
		c.fail("%d events are kept that nobody asks for", c.q.entries.At(f.first).eventsFrom-f.dropped)
	}
}

func (c *checker) groups() {
	for _, g := range c.q.groups {
		if g == nil {
			continue
		}
		if g.object == nil && g.flight == none && len(g.incomplete)+len(g.pending) == 0 {
			c.fail("%s is kept, and empty", g.key)
		}
		if c.q.popped == g.number+1 && g.flight == none {
			c.fail("%s was popped last, and is not being tried", g.key)
		}
		if g.flight != none && c.see(g.flight, "the flight of a group").pod != nil {
			c.fail("a pod is the flight of %s", g.key)
		}
		if g.entity != none && c.at[g.entity] == "" {
			c.fail("the entity of %s lies nowhere", g.key)
		}
		if (g.entity == none) != (len(g.members) == 0) || g.object == nil && g.entity != none {
			c.fail("%s has %d members, and the entity %d", g.key, len(g.members), g.entity)
		}
		for tier, list := range map[Tier][]int32{Incomplete: g.incomplete, Pending: g.pending} {
			for _, i := range list {
				c.see(i, tier.String())
				c.pod(i, tier)
			}
		}
	}
}

// rest checks what was not seen elsewhere: pods that were observed to wait for a group, and free entries.
func (c *checker) rest() {
	q := c.q
	for i, e := range q.entries.All() {
		if *e == (entry{}) {
			c.see(i, "free")
		} else if c.at[i] == "" {
			if e.pod == nil || e.group != 0 || e.tier.Queued() || e.tier == InFlight {
				c.fail("entry %d is nowhere: %+v", i, *e)
				return
			}
			c.pod(i, e.tier)
		}
	}
	if c.waiting+c.pods[InFlight] != q.byName.Len()+q.hidden {
		c.fail("%d pods wait, and %d are in flight; %d are found by their names, %d hidden", c.waiting, c.pods[InFlight], q.byName.Len(), q.hidden)
	}
	for _, tier := range []Tier{Active, Backoff, Unschedulable, Gated, InFlight, Incomplete, Pending} {
		if q.PendingPods(tier) != c.pods[tier] {
			c.fail("PendingPods(%s) is %d, and %d are there", tier, q.PendingPods(tier), c.pods[tier])
		}
	}
}
