package queue

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
)

// Extract exports extract to external tests.
func (q *Queue) Extract(pod *v1.Pod, inFlight bool) (PodInfo, bool) { return q.extract(pod, inFlight) }

// Invariants returns an error if one of the package's invariants is violated.
func (q *Queue) Invariants() error {
	c := checker{q: q, at: map[int32]string{}, pods: map[Tier]int{}}
	for _, check := range []func(){c.places, c.inFlight, c.groups, c.rest} {
		if check(); c.err != nil {
			return c.err
		}
	}
	return nil
}

// checker visits every entry of a queue once and records where it is.
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

// visit records where entry i is. It fails if the entry is in two places.
func (c *checker) visit(i int32, where string) *entry {
	if c.at[i] != "" {
		c.fail("entry %d is %s and %s", i, c.at[i], where)
	}
	c.at[i] = where
	return c.q.entries.At(i)
}

// pod checks pod i, which waits in tier.
func (c *checker) pod(i int32, tier Tier) {
	q, e := c.q, c.q.entries.At(i)
	c.waiting++
	c.pods[tier]++
	if e.tier != tier {
		c.fail("%s is %s and was reported as %s", e.pod.Name, tier, e.tier)
	}
	if q.waitingPod(e.pod) != i {
		c.fail("%s is not found by name", e.pod.Name)
	}
	if e.priority != priorityOf(e.pod) {
		c.fail("the entry of %s has priority %d", e.pod.Name, e.priority)
	}
}

// entity checks entity i at position pos of p, and its pods.
func (c *checker) entity(i int32, p place, pos int) {
	q, e := c.q, c.visit(i, fmt.Sprint("at ", pos, " of place ", p))
	if e.place != p || int(e.pos) != pos || q.placeOf(e, e.tier) != p {
		c.fail("the entity at %d of place %d is %s, and records position %d of place %d", pos, p, e.tier, e.pos, e.place)
	}
	if e.pod != nil && e.group != 0 || e.pod == nil && q.groups[e.group-1].entity != i {
		c.fail("place %d contains a group member, or an entity that is not its group's", p)
	}
	for pod := range q.podsOf(i) {
		if pod != i {
			c.visit(pod, "a member")
		}
		c.pod(pod, e.tier)
		if member := q.entries.At(pod); member.group != e.group {
			c.fail("%s records another group", member.pod.Name)
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
				c.fail("place %d has an outdated key at %d", p, pos)
			}
			// As in upstream, a change of a PodGroup's priority does not restore the order.
			if pos > 0 && !q.opts.GenericWorkload && h.less(&h.items[pos], &h.items[(pos-1)/2]) {
				c.fail("place %d is not in order at %d", p, pos)
			}
		}
	}
	for pos, i := range q.unschedulable {
		c.entity(i, inUnschedulable, pos)
	}
}

func (c *checker) inFlight() {
	f, n, from, seen := &c.q.inFlight, 0, c.q.inFlight.dropped, map[string]bool{}
	for i := f.first; i != none; i = c.q.entries.At(i).next {
		e := c.visit(i, "in flight")
		n++
		c.pods[InFlight]++
		if e.tier != InFlight || e.place != noPlace || f.Get(&c.q.entries, e.pod.UID) != i || e.eventsFrom < from {
			c.fail("%s is in flight as %s, and its UID finds %d", e.pod.Name, e.tier, f.Get(&c.q.entries, e.pod.UID))
		}
		name := e.pod.Namespace + "/" + e.pod.Name
		switch found := c.q.inFlightPod(e.pod); {
		case found == none || c.q.entries.At(found).pod.Name != e.pod.Name:
			c.fail("%s is in flight and not found by name", name)
		case !seen[name] && found != i:
			c.fail("%s finds a pod that was popped later", name)
		}
		seen[name] = true
		from = e.eventsFrom
	}
	if n != f.byUID.Len() {
		c.fail("%d pods are in flight, and the UID index has %d", n, f.byUID.Len())
	}
	if f.first == none && len(f.since(f.dropped)) > 0 {
		c.fail("events remain with no pod in flight")
	} else if f.first != none && c.q.entries.At(f.first).eventsFrom-f.dropped >= eventBatch {
		c.fail("%d events remain that no pod in flight needs", c.q.entries.At(f.first).eventsFrom-f.dropped)
	}
}

func (c *checker) groups() {
	for _, g := range c.q.groups {
		if g == nil {
			continue
		}
		if g.object == nil && g.attempt == none && len(g.incomplete)+len(g.pending) == 0 {
			c.fail("%s is empty and was not freed", g.key)
		}
		if c.q.lastPopped == g.number+1 && g.attempt == none {
			c.fail("%s was popped last and has no attempt", g.key)
		}
		if g.attempt != none && c.visit(g.attempt, "a group's attempt").pod != nil {
			c.fail("the attempt of %s is a pod", g.key)
		}
		if g.entity != none && c.at[g.entity] == "" {
			c.fail("the entity of %s is in no place", g.key)
		}
		if (g.entity == none) != (len(g.members) == 0) || g.object == nil && g.entity != none {
			c.fail("%s has %d members and entity %d", g.key, len(g.members), g.entity)
		}
		for tier, list := range map[Tier][]int32{Incomplete: g.incomplete, Pending: g.pending} {
			for _, i := range list {
				c.visit(i, tier.String())
				c.pod(i, tier)
			}
		}
	}
}

// rest checks the entries that are in no place: pods that were observed to wait for a group.
func (c *checker) rest() {
	q := c.q
	for i, e := range q.entries.All() {
		if c.at[i] != "" {
			delete(c.at, i)
			continue
		}
		if e.pod == nil || e.group != 0 || e.tier.Queued() || e.tier == InFlight {
			c.fail("entry %d is in no place: %+v", i, *e)
			return
		}
		c.pod(i, e.tier)
	}
	for i, where := range c.at {
		c.fail("entry %d is %s and free", i, where)
	}
	if c.waiting+c.pods[InFlight] != q.byName.Len()+q.hidden {
		c.fail("%d pods wait and %d are in flight, but the name index has %d, and %d are hidden", c.waiting, c.pods[InFlight], q.byName.Len(), q.hidden)
	}
	for _, tier := range []Tier{Active, Backoff, Unschedulable, Gated, InFlight, Incomplete, Pending} {
		if q.PendingPods(tier) != c.pods[tier] {
			c.fail("PendingPods(%s) = %d, want %d", tier, q.PendingPods(tier), c.pods[tier])
		}
	}
}
