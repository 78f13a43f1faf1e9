package queue

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/schedq/schedq/queue/ebb"
)

// inFlight holds the popped pods, in the order of their popping, and the events that came while any of
// them was being scheduled. (active_queue.go, inFlightPods and inFlightEvents.)
type inFlight struct {
	byUID       ebb.Map[types.UID, int32]
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
	return inFlight{first: none, last: none}
}

// with returns the entry of the pod with that UID, or none.
func (f *inFlight) with(uid types.UID) int32 {
	if i, ok := f.byUID.Get(uid); ok {
		return i
	}
	return none
}

func (f *inFlight) push(entries *pool, i int32) {
	e := entries.At(i)
	e.prev, e.next = f.last, none
	e.eventsFrom = f.dropped + int64(len(f.events)-f.head)
	if f.last == none {
		f.first = i
	} else {
		entries.At(f.last).next = i
	}
	f.last = i
	f.byUID.Set(e.pod.UID, i)
}

// remove ends the attempt of entry i, whose pod has that UID, and lets go of the events that no attempt can ask for any more.
func (f *inFlight) remove(entries *pool, i int32, uid types.UID) {
	e := entries.At(i)
	f.byUID.Delete(uid)
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
	e.prev, e.next = none, none

	n := len(f.events) - f.head
	if f.first != none {
		n = int(entries.At(f.first).eventsFrom - f.dropped)
	}
	clear(f.events[f.head : f.head+n])
	f.head, f.dropped = f.head+n, f.dropped+int64(n)
	if f.head*2 >= len(f.events) { // as many go as stay: each event is copied once
		kept := copy(f.events, f.events[f.head:])
		clear(f.events[kept:])
		f.events, f.head = ebb.Slice(f.events[:kept]), 0
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
