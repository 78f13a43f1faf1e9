package queue

import (
	"hash/maphash"
	"math"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
)

// The queue keeps its pods in a pool of entries and refers to them by index, so that a fork copies
// a few slices and not one object a pod, and a pod costs little beyond itself.

// none is the index of no entry.
const none int32 = -1

// unset is the absence of a time, which upstream writes as the zero time.Time.
const unset int64 = math.MinInt64

// entry is upstream's QueuedPodInfo. Times are Unix nanoseconds.
type entry struct {
	pod *v1.Pod

	timestamp      int64 // when it was added, or last failed
	initialAttempt int64 // when it first entered activeQ
	backoffExpiry  int64 // cached; unset until it is first asked for
	flushed        int64 // when the leftover flush last took it
	eventsFrom     int64 // in flight: the first in-flight event after its pop
	cycle          int64 // the scheduling cycle of its last attempt

	unschedulablePlugins setID
	pendingPlugins       setID
	gatingPlugin         setID

	attempts           int32
	unschedulableCount int32
	errorsCount        int32
	priority           int32

	pos        int32 // its place in the tier's heap or slice
	prev, next int32 // in flight: its neighbours in the order of popping
	group      int32 // 1 more than the index of its pod group, or 0; without a pod it is the group's entity

	tier       Tier
	indexed    bool // findable by its pod's name
	inErrors   bool // in backoffQ's heap for errors
	wasFlushed bool // woken by the leftover flush, and not attempted since
}

// priorityOf models corev1helpers.PodPriority.
func priorityOf(pod *v1.Pod) int32 {
	if pod.Spec.Priority != nil {
		return *pod.Spec.Priority
	}
	return 0
}

func toTime(ns int64) time.Time {
	if ns == unset {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}

// newEntry takes a free entry for pod. It models newQueuedPodInfo.
func (q *Queue) newEntry(now int64, pod *v1.Pod) int32 {
	e := entry{
		pod: pod, priority: priorityOf(pod),
		timestamp: now, initialAttempt: unset, backoffExpiry: unset, flushed: unset,
		prev: none, next: none,
	}
	i := q.entries.allocate()
	*q.entries.at(i) = e
	return i
}

func (q *Queue) setPod(i int32, pod *v1.Pod) {
	q.entries.at(i).pod = pod
	q.entries.at(i).priority = priorityOf(pod)
}

// index finds entries by their pod's namespace and name: an open-addressing hash table of entry
// indices, which a fork copies as one slice.
type index struct {
	seed  maphash.Seed
	slots []slot
	used  int
}

// slot holds an entry's index, or none, and the hash of its pod's name, so that most entries need not be
// looked at.
type slot struct {
	hash  uint32
	entry int32
}

const minSlots = 16

func newIndex() index {
	return index{seed: maphash.MakeSeed(), slots: slices.Repeat([]slot{{entry: none}}, minSlots)}
}

func (x *index) hash(namespace, name string) uint32 {
	h := maphash.String(x.seed, namespace)*0x9e3779b97f4a7c15 ^ maphash.String(x.seed, name)
	return uint32(h)
}

// find returns the place that holds the named pod, or the free one where it would go.
func (x *index) find(entries *pool, hash uint32, namespace, name string) int {
	mask := len(x.slots) - 1
	for at := int(hash) & mask; ; at = (at + 1) & mask {
		s := x.slots[at]
		if s.entry == none {
			return at
		}
		if s.hash == hash {
			if p := entries.at(s.entry).pod; p.Name == name && p.Namespace == namespace {
				return at
			}
		}
	}
}

func (x *index) get(entries *pool, namespace, name string) int32 {
	return x.slots[x.find(entries, x.hash(namespace, name), namespace, name)].entry
}

func (x *index) put(entries *pool, i int32) {
	if (x.used+1)*2 > len(x.slots) {
		x.grow()
	}
	p := entries.at(i).pod
	hash := x.hash(p.Namespace, p.Name)
	at := x.find(entries, hash, p.Namespace, p.Name)
	if x.slots[at].entry == none {
		x.used++
	}
	x.slots[at] = slot{hash, i}
	entries.at(i).indexed = true
}

func (x *index) grow() {
	old := x.slots
	x.slots = slices.Repeat([]slot{{entry: none}}, len(old)*2)
	mask := len(x.slots) - 1
	for _, s := range old {
		if s.entry == none {
			continue
		}
		at := int(s.hash) & mask
		for x.slots[at].entry != none {
			at = (at + 1) & mask
		}
		x.slots[at] = s
	}
}

// remove takes the named pod out and closes the gap behind it.
func (x *index) remove(entries *pool, namespace, name string) {
	hole := x.find(entries, x.hash(namespace, name), namespace, name)
	if x.slots[hole].entry == none {
		return
	}
	entries.at(x.slots[hole].entry).indexed = false
	x.used--
	mask := len(x.slots) - 1
	for at := hole; ; {
		x.slots[hole].entry = none
		for {
			at = (at + 1) & mask
			s := x.slots[at]
			if s.entry == none {
				return
			}
			// An entry may fill the hole if that is not before the place it hashes to.
			if home := int(s.hash) & mask; (at-home)&mask >= (at-hole)&mask {
				x.slots[hole] = s
				hole = at
				break
			}
		}
	}
}

func (x *index) clone() index {
	return index{seed: x.seed, slots: slices.Clone(x.slots), used: x.used}
}
