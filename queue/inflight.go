package queue

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
)

// inFlight holds the popped pods, in the order of their popping, and the events that came while any of
// them was being scheduled. (active_queue.go, inFlightPods and inFlightEvents.)
type inFlight struct {
	byUID       map[types.UID]int32
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
	return inFlight{byUID: map[types.UID]int32{}, first: none, last: none}
}

func (f *inFlight) push(entries *pool, i int32) {
	e := entries.at(i)
	e.prev, e.next = f.last, none
	e.eventsFrom = f.dropped + int64(len(f.events)-f.head)
	if f.last == none {
		f.first = i
	} else {
		entries.at(f.last).next = i
	}
	f.last = i
	f.byUID[e.pod.UID] = i
}

// remove ends the attempt of entry i and lets go of the events that no attempt can ask for any more.
func (f *inFlight) remove(entries *pool, i int32) {
	e := entries.at(i)
	delete(f.byUID, e.pod.UID)
	if e.prev == none {
		f.first = e.next
	} else {
		entries.at(e.prev).next = e.next
	}
	if e.next == none {
		f.last = e.prev
	} else {
		entries.at(e.next).prev = e.prev
	}
	e.prev, e.next = none, none

	n := len(f.events) - f.head
	if f.first != none {
		n = int(entries.at(f.first).eventsFrom - f.dropped)
	}
	clear(f.events[f.head : f.head+n])
	f.head, f.dropped = f.head+n, f.dropped+int64(n)
	if f.head*2 >= len(f.events) { // as many go as stay: each event is copied once
		kept := copy(f.events, f.events[f.head:])
		clear(f.events[kept:])
		f.events, f.head = f.events[:kept], 0
		if cap(f.events) > minEvents && kept*8 < cap(f.events) {
			f.events = slices.Clone(f.events) // after a peak
		}
	}
}

// minEvents is a log of events that is too short to be shrunk.
const minEvents = 1024

// record keeps event for the pods in flight.
func (f *inFlight) record(event fwk.ClusterEvent, oldObj, newObj any) {
	f.events = append(f.events, clusterEvent{event, oldObj, newObj})
}

// since returns the events from number from on.
func (f *inFlight) since(from int64) []clusterEvent { return f.events[f.head+int(from-f.dropped):] }

func (f *inFlight) clone() inFlight {
	c := *f
	c.byUID = maps.Clone(f.byUID)
	c.events, c.head = slices.Clone(f.events[f.head:]), 0
	return c
}
