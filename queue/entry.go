package queue

import (
	"math"
	"time"

	v1 "k8s.io/api/core/v1"
)

// none is the number of no entry.
const none int32 = -1

// unset stands for upstream's zero time.Time.
const unset int64 = math.MinInt64

// entry is a pod, upstream's QueuedPodInfo, or, without a pod, a queued pod group, upstream's
// QueuedPodGroupInfo. Times are Unix nanoseconds.
//
// An entry takes two cache lines. The fields that end an attempt, and those that it changes in the
// neighbours in flight, are in the first.
type entry struct {
	pod        *v1.Pod
	eventsFrom int64 // in flight: number of the first event after the pop
	prev, next int32 // in flight: neighbours in pop order

	hashes [indexKinds]uint32 // of the keys in the indexes
	pos    int32              // entity: position in its place
	group  int32              // number of its pod group plus 1; 0 for a pod without a group
	tier   Tier               // last tier reported to the Observer
	place  place              // entity: where it is

	unschedulablePlugins, pendingPlugins, gatingPlugin  pluginSet
	attempts, unschedulableCount, errorsCount, priority int32

	timestamp      int64 // when it was added or last failed
	initialAttempt int64 // when it first entered activeQ
	backoffExpiry  int64 // unset without a backoff
	flushed        int64 // when the leftover flush last moved it
	cycle          int64 // scheduling cycle of its last attempt
	_              [16]byte
}

// inUse reports whether e is a pod or a group, and not free.
func (e *entry) inUse() bool { return e.pod != nil || e.group != 0 }

// rejected reports whether any plugin rejected the last attempt.
func (e *entry) rejected() bool { return e.unschedulablePlugins != 0 || e.pendingPlugins != 0 }

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

// newPod allocates an entry for a waiting pod and indexes it. It models newQueuedPodInfo.
func (q *Queue) newPod(now int64, pod *v1.Pod) int32 {
	i := q.newEntry(entry{pod: pod, priority: priorityOf(pod), timestamp: now, initialAttempt: unset, backoffExpiry: unset, flushed: unset})
	q.indexWaiting(i)
	return i
}

func (q *Queue) newEntry(e entry) int32 {
	i := q.entries.Allocate()
	*q.entries.At(i) = e
	return i
}

// forget unindexes and releases pod i, which is in no place and not in flight.
func (q *Queue) forget(i int32) {
	q.unindex(i)
	q.release(i)
}

// release releases pod i, which is in no place, not in flight and not indexed.
func (q *Queue) release(i int32) {
	q.setTier(q.entries.At(i), None)
	q.entries.Release(i)
}

func (q *Queue) setPod(i int32, pod *v1.Pod) {
	q.entries.At(i).pod = pod
	q.entries.At(i).priority = priorityOf(pod)
}

func (q *Queue) setTier(e *entry, tier Tier) {
	q.pods[e.tier]--
	q.pods[tier]++
	e.tier = tier
}

// The name index contains the waiting pod of each name or, if none waits, the oldest one in flight.
// Further pods of the name in flight are hidden. They exist only if a pod was deleted during its
// attempt and another one was created under its name.

// waitingPod returns the entry of the pod with that name that is queued or waits for its group, or none.
func (q *Queue) waitingPod(pod *v1.Pod) int32 {
	if i := q.byName.Get(&q.entries, pod.Namespace, pod.Name); i != none && q.entries.At(i).tier != InFlight {
		return i
	}
	return none
}

// inFlightPod returns the oldest entry in flight with the pod's name, or none.
func (q *Queue) inFlightPod(pod *v1.Pod) int32 {
	i := q.byName.Get(&q.entries, pod.Namespace, pod.Name)
	if i == none || q.entries.At(i).tier == InFlight {
		return i
	}
	return q.hiddenPod(pod)
}

// hiddenPod returns the oldest entry in flight with the pod's name if any pod is hidden, or none.
func (q *Queue) hiddenPod(pod *v1.Pod) int32 {
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

// indexWaiting indexes the waiting pod i by name. It hides a pod in flight.
func (q *Queue) indexWaiting(i int32) {
	if q.byName.Put(&q.entries, i) != none {
		q.hidden++
	}
}

// indexInFlight indexes pod i, which is in flight, by name. If the name is taken, the pod is hidden.
func (q *Queue) indexInFlight(i int32) {
	if q.byName.Add(&q.entries, i) != none {
		q.hidden++
	}
}

// unindex removes pod i from the name index, in favour of the oldest hidden pod of the name.
func (q *Queue) unindex(i int32) {
	if !q.byName.Remove(&q.entries, i) {
		q.hidden--
	} else if other := q.hiddenPod(q.entries.At(i).pod); other != none {
		q.byName.Put(&q.entries, other)
		q.hidden--
	}
}
