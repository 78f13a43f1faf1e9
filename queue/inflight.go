package queue

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	fwk "k8s.io/kube-scheduler/framework"
)

// Entity is what is popped: a pod, or a pod group if Group is not nil.
type Entity struct {
	Pod   PodInfo
	Group *GroupInfo
}

// Pop is PopEntity for a queue without pod groups. If it pops a group, all its pods are in flight, and the
// first of them is returned.
func (q *Queue) Pop(now time.Time) (PodInfo, bool) {
	entity, ok := q.PopEntity(now)
	if ok && entity.Group != nil {
		return entity.Group.Members[0], true
	}
	return entity.Pod, ok
}

// PopEntity takes the pod or pod group and makes it in flight; with PopFromBackoffQ, and if activeQ
// is empty, the head of backoffQ, whether its backoff is over or not. Pods that back off after an error
// are never taken early. It returns false if there is no pod to take.
//
// A popped pod stays in flight until Done, Bound or AddUnschedulableIfNotPresent; a pod group's attempt
// ends with AddAttemptedPodGroupIfNeeded, which must come before the next pop.
func (q *Queue) PopEntity(now time.Time) (Entity, bool) {
	for {
		var i int32
		switch {
		case len(q.activeQ.items) > 0:
			i = q.activeQ.items[0].entry
		case q.opts.PopFromBackoffQ && len(q.backoffQ.items) > 0:
			i = q.backoffQ.items[0].entry
			q.count(i, Active, PopFromBackoffQ)
		default:
			return Entity{}, false
		}
		q.remove(i)
		q.popped = 0
		group := q.entries.At(i).group
		if group != 0 {
			info := q.popGroup(now.UnixNano(), q.groups[group-1])
			if info == nil {
				continue
			}
			q.popped = group
			return Entity{Group: info}, true
		}
		if !q.takeOff(now.UnixNano(), i) {
			continue
		}
		q.schedulingCycle++
		q.entries.At(i).cycle = q.schedulingCycle
		q.move(now.UnixNano(), i, InFlight, "")
		return Entity{Pod: q.info(i)}, true
	}
}

// takeOff makes the pod i, which was popped, in flight. It returns false if one of its UID already is: then the entry is dropped, as
// upstream's unlockedMoveEntityToInFlight does.
func (q *Queue) takeOff(now int64, i int32) bool {
	e := q.entries.At(i)
	e.attempts++
	if !q.inFlight.push(&q.entries, i) {
		q.observer.Failed(fmt.Errorf("pod %s/%s was popped while its last attempt is still in flight: it is dropped", e.pod.Namespace, e.pod.Name))
		q.move(now, i, Deleted, "")
		q.forget(i)
		return false
	}
	if other := q.firstInFlight(e.pod); other != none {
		q.byName.Put(&q.entries, other) // i itself, if no older one is hidden
	}
	return true
}

// Done ends the attempt of the pod in flight with that UID without putting the pod back. Unknown UIDs
// are ignored.
func (q *Queue) Done(now time.Time, uid types.UID) { q.endFlight(now, uid, Deleted) }

// Bound is Done for a pod that was bound to its node.
func (q *Queue) Bound(now time.Time, uid types.UID) { q.endFlight(now, uid, Scheduled) }

// endFlight takes the pod with that UID out of flight, for good: it is Scheduled or Deleted.
func (q *Queue) endFlight(now time.Time, uid types.UID, to Tier) {
	if i := q.inFlight.with(&q.entries, uid); i != none {
		q.inFlight.remove(&q.entries, i)
		q.move(now.UnixNano(), i, to, "")
		q.forget(i)
	}
}

// inFlight holds the popped pods, in the order of their popping, and the events that came while any of
// them was being scheduled. (active_queue.go, inFlightPods and inFlightEvents.)
type inFlight struct {
	byUID       index
	first, last int32
	events      []clusterEvent
	head        int   // events[:head] were let go
	dropped     int64 // events that were let go so far
}

type clusterEvent struct {
	event          fwk.ClusterEvent
	oldObj, newObj any
}

func newInFlight() inFlight {
	return inFlight{byUID: byUID(), first: none, last: none}
}

// with returns the entry of the pod with that UID, or none.
func (f *inFlight) with(entries *pool, uid types.UID) int32 {
	return f.byUID.Get(entries, "", string(uid))
}

// push makes the entry i the last in flight, unless one of its UID is, and reports whether it did.
func (f *inFlight) push(entries *pool, i int32) bool {
	if f.byUID.Add(entries, i) != none {
		return false
	}
	e := entries.At(i)
	e.prev, e.next = f.last, none
	e.eventsFrom = f.dropped + int64(len(f.events)-f.head)
	if f.last == none {
		f.first = i
	} else {
		entries.At(f.last).next = i
	}
	f.last = i
	return true
}

// letGoAtOnce is how many events are let go at once at the least while pods are in flight: they lie side by side, and far from all else.
const letGoAtOnce = 32

// remove ends the attempt of entry i, and lets go of the events that no attempt can ask for any more.
func (f *inFlight) remove(entries *pool, i int32) {
	e := entries.At(i)
	f.byUID.Remove(entries, i)
	if e.prev == none {
		f.first = e.next
	} else {
		entries.At(e.prev).next = e.next
	}
	if e.next == none {
		f.last = e.prev
	} else {
		entries.At(e.next).prev = e.prev
	}
	n := len(f.events) - f.head
	if f.first != none {
		if n = int(entries.At(f.first).eventsFrom - f.dropped); n < letGoAtOnce {
			return
		}
	}
	clear(f.events[f.head : f.head+n])
	f.head, f.dropped = f.head+n, f.dropped+int64(n)
	if f.head*2 >= len(f.events) { // as many go as stay: each event is copied once
		kept := copy(f.events, f.events[f.head:])
		clear(f.events[kept:])
		f.events, f.head = shrink(f.events[:kept]), 0
	}
}

// record keeps event for the pods in flight.
func (f *inFlight) record(event fwk.ClusterEvent, oldObj, newObj any) {
	f.events = append(f.events, clusterEvent{event, oldObj, newObj})
}

// since returns the events from number from on.
func (f *inFlight) since(from int64) []clusterEvent { return f.events[f.head+int(from-f.dropped):] }

func (f *inFlight) clone() inFlight {
	c := *f
	c.byUID = f.byUID.Clone()
	c.events, c.head = slices.Clone(f.events[f.head:]), 0
	return c
}
