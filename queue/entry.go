package queue

import (
	"hash/maphash"
	"math"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
)

// The queue keeps its pods in one slice of entries and refers to them by index, so that a fork copies
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

	unschedulablePlugins setID
	pendingPlugins       setID
	gatingPlugin         setID

	attempts           int32
	unschedulableCount int32
	errorsCount        int32
	priority           int32

	pos        int32 // its place in the tier's heap or slice
	prev, next int32 // in flight: its neighbours in the order of popping

	tier       Tier
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
	if n := len(q.free); n > 0 {
		i := q.free[n-1]
		q.free = q.free[:n-1]
		q.entries[i] = e
		return i
	}
	q.entries = append(q.entries, e)
	return int32(len(q.entries) - 1)
}

// release gives entry i back. It must be in no tier.
func (q *Queue) release(i int32) {
	q.entries[i] = entry{}
	q.free = append(q.free, i)
}

func (q *Queue) setPod(i int32, pod *v1.Pod) {
	q.entries[i].pod = pod
	q.entries[i].priority = priorityOf(pod)
}

// index finds entries by their pod's namespace and name: an open-addressing hash table of entry
// indices, which a fork copies as one slice.
type index struct {
	seed  maphash.Seed
	slots []int32 // none, or an entry's index
	used  int
}

const minSlots = 16

func newIndex() index {
	return index{seed: maphash.MakeSeed(), slots: slices.Repeat([]int32{none}, minSlots)}
}

func (x *index) hash(namespace, name string) int {
	h := maphash.String(x.seed, namespace)*0x9e3779b97f4a7c15 ^ maphash.String(x.seed, name)
	return int(h & uint64(len(x.slots)-1))
}

// find returns the slot that holds the named pod, or the free one where it would go.
func (x *index) find(entries []entry, namespace, name string) int {
	for s := x.hash(namespace, name); ; s = (s + 1) & (len(x.slots) - 1) {
		i := x.slots[s]
		if i == none {
			return s
		}
		if p := entries[i].pod; p.Name == name && p.Namespace == namespace {
			return s
		}
	}
}

func (x *index) get(entries []entry, namespace, name string) int32 {
	return x.slots[x.find(entries, namespace, name)]
}

func (x *index) put(entries []entry, i int32) {
	if (x.used+1)*2 > len(x.slots) {
		old := x.slots
		x.slots = slices.Repeat([]int32{none}, len(old)*2)
		for _, j := range old {
			if j != none {
				x.slots[x.find(entries, entries[j].pod.Namespace, entries[j].pod.Name)] = j
			}
		}
	}
	s := x.find(entries, entries[i].pod.Namespace, entries[i].pod.Name)
	if x.slots[s] == none {
		x.used++
	}
	x.slots[s] = i
}

// remove takes the named pod out and closes the gap behind it.
func (x *index) remove(entries []entry, namespace, name string) {
	s := x.find(entries, namespace, name)
	if x.slots[s] == none {
		return
	}
	x.used--
	mask := len(x.slots) - 1
	for hole := s; ; {
		x.slots[hole] = none
		for s = (hole + 1) & mask; ; s = (s + 1) & mask {
			i := x.slots[s]
			if i == none {
				return
			}
			// An entry may fill the hole if that is not before the slot it hashes to.
			home := x.hash(entries[i].pod.Namespace, entries[i].pod.Name)
			if (s-home)&mask >= (s-hole)&mask {
				x.slots[hole] = i
				hole = s
				break
			}
		}
	}
}

func (x *index) clone() index {
	return index{seed: x.seed, slots: slices.Clone(x.slots), used: x.used}
}
