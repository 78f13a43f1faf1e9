package queue

import (
	"math"
	"time"

	v1 "k8s.io/api/core/v1"
)

// The queue keeps its pods in a pool of entries and refers to them by index, so that a fork copies
// a few slices and not one object a pod, and a pod costs little beyond itself.

// none is the index of no entry.
const none int32 = -1

// unset is the absence of a time, which upstream writes as the zero time.Time.
const unset int64 = math.MinInt64

// entry is a pod: upstream's QueuedPodInfo. Without a pod it is a pod group, as that is queued: QueuedPodGroupInfo. Times are
// Unix nanoseconds.
//
// It takes two cache lines. What its attempt's end and that of the one before look at is in the first.
type entry struct {
	pod        *v1.Pod
	eventsFrom int64 // in flight: the first in-flight event after its pop
	prev, next int32 // in flight: its neighbours in the order of popping

	hashes [2]uint32 // of what indices find it by
	pos    int32     // an entity's index in its place
	group  int32     // 1 more than the number of the pod group that it is queued with, or is; 0 if it is a pod alone
	tier   Tier      // where the Observer was told that it is
	place  place     // where an entity lies

	unschedulablePlugins, pendingPlugins, gatingPlugin  pluginSet
	attempts, unschedulableCount, errorsCount, priority int32

	timestamp      int64 // when it was added, or last failed
	initialAttempt int64 // when it first entered activeQ
	backoffExpiry  int64 // unset if it has no backoff
	flushed        int64 // when the leftover flush last took it
	cycle          int64 // the scheduling cycle of its last attempt
	_              [16]byte
}

// priorityOf models corev1helpers.PodPriority.
func priorityOf(pod *v1.Pod) int32 {
	if pod.Spec.Priority != nil {
		return *pod.Spec.Priority
	}
	return 0
}

func fromTime(t time.Time) int64 {
	if t.IsZero() {
		return unset
	}
	return t.UnixNano()
}

func toTime(ns int64) time.Time {
	if ns == unset {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}

// newPod takes a free entry for pod, which is found by its name from now on. It models newQueuedPodInfo.
func (q *Queue) newPod(now int64, pod *v1.Pod) int32 {
	i := q.newEntry(entry{pod: pod, priority: priorityOf(pod), timestamp: now, initialAttempt: unset, backoffExpiry: unset, flushed: unset})
	q.nameWaiting(i)
	return i
}

func (q *Queue) newEntry(e entry) int32 {
	i := q.entries.Allocate()
	*q.entries.At(i) = e
	return i
}

// forget lets go of the pod i, which was taken out of its place, or of flight.
func (q *Queue) forget(i int32) {
	q.unname(i)
	q.release(i)
}

// release lets go of the pod i, which is nowhere any more, and is found by no name.
func (q *Queue) release(i int32) {
	q.setTier(q.entries.At(i), None)
	q.entries.Release(i)
}

func (q *Queue) setPod(i int32, pod *v1.Pod) {
	q.entries.At(i).pod = pod
	q.entries.At(i).priority = priorityOf(pod)
}

// setTier notes where the pod e is.
func (q *Queue) setTier(e *entry, tier Tier) {
	q.pods[e.tier]--
	q.pods[tier]++
	e.tier = tier
}

// A name finds the pod that waits or, if none does, the first one in flight. Others in flight are hidden: there are any only if a
// pod was deleted during its attempt, and another of its name came.

// waiting returns the entry of the pod of that name that is queued or waits for its group, or none.
func (q *Queue) waiting(pod *v1.Pod) int32 {
	if i := q.byName.Get(&q.entries, pod.Namespace, pod.Name); i != none && q.entries.At(i).tier != InFlight {
		return i
	}
	return none
}

// flying returns the entry of the first pod of that name in flight, or none.
func (q *Queue) flying(pod *v1.Pod) int32 {
	i := q.byName.Get(&q.entries, pod.Namespace, pod.Name)
	if i == none || q.entries.At(i).tier == InFlight {
		return i
	}
	return q.firstInFlight(pod)
}

// firstInFlight is flying for a name that finds another pod.
func (q *Queue) firstInFlight(pod *v1.Pod) int32 {
	if q.hidden == 0 {
		return none
	}
	for i := q.inFlight.first; i != none; i = q.entries.At(i).next {
		if p := q.entries.At(i).pod; p.Name == pod.Name && p.Namespace == pod.Namespace {
			return i
		}
	}
	return none
}

// nameWaiting has its name find the pod i, which waits, and no other that waits: one that it found was in flight.
func (q *Queue) nameWaiting(i int32) {
	if q.byName.Put(&q.entries, i) != none {
		q.hidden++
	}
}

// nameFlying has its name find the pod i, which is in flight, unless it finds another.
func (q *Queue) nameFlying(i int32) {
	if q.byName.Add(&q.entries, i) != none {
		q.hidden++
	}
}

// unname has the name of the pod i, which is going, find the first one of that name in flight, if there is one.
func (q *Queue) unname(i int32) {
	if !q.byName.Remove(&q.entries, i) {
		q.hidden--
	} else if other := q.firstInFlight(q.entries.At(i).pod); other != none {
		q.byName.Put(&q.entries, other)
		q.hidden--
	}
}

// pool holds the queue's entries, and index finds them by what names their pods.
type (
	pool  = chunkedPool[entry]
	index = nameIndex[entry]
)

// The indices: of all pods by their names, and of those in flight by their UIDs.
func byName() index {
	return newNameIndex(func(e *entry) (string, string) { return e.pod.Namespace, e.pod.Name }, func(e *entry) *uint32 { return &e.hashes[0] })
}

func byUID() index {
	return newNameIndex(func(e *entry) (string, string) { return "", string(e.pod.UID) }, func(e *entry) *uint32 { return &e.hashes[1] })
}

// rejected reports whether any plugin rejected the last attempt.
func (e *entry) rejected() bool { return e.unschedulablePlugins != 0 || e.pendingPlugins != 0 }
