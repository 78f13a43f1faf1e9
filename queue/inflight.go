package queue

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	fwk "k8s.io/kube-scheduler/framework"
)

// Entity is a popped pod, or a popped pod group if Group is not nil.
type Entity struct {
	Pod   PodInfo
	Group *GroupInfo
}

// Pop pops an entity as PopEntity does, for a queue without pod groups. If it pops a group, it returns
// the first pod, and all of them are in flight.
func (q *Queue) Pop(now time.Time) (PodInfo, bool) {
	entity, ok := q.PopEntity(now)
	if ok && entity.Group != nil {
		return entity.Group.Members[0], true
	}
	return entity.Pod, ok
}

// PopEntity removes the head of activeQ and puts its pods in flight. If activeQ is empty, with
// PopFromBackoffQ, it takes the head of backoffQ instead, even before the backoff expires; pods that
// back off after an error are never popped early. It returns false if there is nothing to pop.
//
// A popped pod stays in flight until Done, Bound or AddUnschedulableIfNotPresent. A pod group's attempt
// ends with AddAttemptedPodGroupIfNeeded, which the caller must call before the next pop.
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
		q.lastPopped = 0
		group := q.entries.At(i).group
		if group != 0 {
			info := q.popGroup(now.UnixNano(), q.groups[group-1])
			if info == nil {
				continue
			}
			q.lastPopped = group
			return Entity{Group: info}, true
		}
		if !q.startAttempt(now.UnixNano(), i) {
			continue
		}
		q.schedulingCycle++
		q.entries.At(i).cycle = q.schedulingCycle
		q.move(now.UnixNano(), i, InFlight, "")
		return Entity{Pod: q.info(i)}, true
	}
}

// startAttempt puts the popped pod i in flight. If a pod with its UID is in flight already, it drops i
// and returns false, as upstream's unlockedMoveEntityToInFlight does.
func (q *Queue) startAttempt(now int64, i int32) bool {
	e := q.entries.At(i)
	e.attempts++
	if !q.inFlight.push(&q.entries, i) {
		q.observer.Failed(fmt.Errorf("dropped pod %s/%s: it was popped while its previous attempt is still in flight", e.pod.Namespace, e.pod.Name))
		q.move(now, i, Deleted, "")
		q.forget(i)
		return false
	}
	if other := q.hiddenPod(e.pod); other != none {
		q.byName.Put(&q.entries, other) // i itself, unless an older one is in flight
	}
	return true
}

// Done ends the attempt of the pod in flight with that UID and forgets the pod. It ignores unknown UIDs.
func (q *Queue) Done(now time.Time, uid types.UID) { q.endAttempt(now, uid, Deleted) }

// Bound is Done for a pod that was bound to its node.
func (q *Queue) Bound(now time.Time, uid types.UID) { q.endAttempt(now, uid, Scheduled) }

// endAttempt forgets the pod in flight with that UID and reports it as Scheduled or Deleted.
func (q *Queue) endAttempt(now time.Time, uid types.UID, to Tier) {
	if i := q.inFlight.Get(&q.entries, uid); i != none {
		q.inFlight.remove(&q.entries, i)
		q.move(now.UnixNano(), i, to, "")
		q.forget(i)
	}
}

// inFlight holds the pods in flight in pop order, and the events that occurred during their attempts.
// It models inFlightPods and inFlightEvents in active_queue.go.
type inFlight struct {
	byUID       index
	first, last int32
	events      []clusterEvent
	head        int   // events[:head] were dropped
	dropped     int64 // number of events dropped so far
}

type clusterEvent struct {
	event          fwk.ClusterEvent
	oldObj, newObj any
}

func newInFlight() inFlight {
	return inFlight{byUID: newIndex(byUID), first: none, last: none}
}

// Get returns the entry of the pod with that UID, or none.
func (f *inFlight) Get(entries *pool, uid types.UID) int32 {
	return f.byUID.Get(entries, "", string(uid))
}

// push appends entry i and returns true, unless a pod with its UID is in flight already.
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

// eventBatch is the least number of events to drop at once while pods are in flight: the events are
// adjacent in memory, but far from everything else.
const eventBatch = 32

// remove removes entry i and drops the events that no pod in flight needs any longer.
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
		if n = int(entries.At(f.first).eventsFrom - f.dropped); n < eventBatch {
			return
		}
	}
	clear(f.events[f.head : f.head+n])
	f.head, f.dropped = f.head+n, f.dropped+int64(n)
	if f.head*2 >= len(f.events) { // at most half remains, so each event is copied once on average
		kept := copy(f.events, f.events[f.head:])
		clear(f.events[kept:])
		f.events, f.head = shrink(f.events[:kept]), 0
	}
}

// record stores an event for the pods in flight.
func (f *inFlight) record(event fwk.ClusterEvent, oldObj, newObj any) {
	f.events = append(f.events, clusterEvent{event, oldObj, newObj})
}

// since returns the events from the given number on.
func (f *inFlight) since(from int64) []clusterEvent { return f.events[f.head+int(from-f.dropped):] }

func (f *inFlight) clone() inFlight {
	c := *f
	c.byUID = f.byUID.Clone()
	c.events, c.head = slices.Clone(f.events[f.head:]), 0
	return c
}
