package queue

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// strategy is where a hint sends a pod: upstream's queueingStrategy.
type strategy uint8

const (
	queueSkip         strategy = iota // it stays
	queueAfterBackoff                 // to backoffQ, or to activeQ if its backoff is over
	queueImmediately                  // to activeQ
	queueInBackoffQ                   // to backoffQ in any case; before v1.32
)

// isOfInterest models isEventOfInterest.
func (q *Queue) isOfInterest(event fwk.ClusterEvent) bool {
	return isWildCard(event) || q.plugins.Interested(event)
}

// WouldWake reports whether a move request for event would move the named pod if it sleeps: MoveAllToActiveOrBackoffQueue without a preCheck,
// which changes nothing. oldObj and newObj are the object before and after.
func (q *Queue) WouldWake(namespace, name string, event fwk.ClusterEvent, oldObj, newObj any) bool {
	i := q.byName.Get(&q.entries, namespace, name)
	if i == none || q.entries.At(i).tier != Unschedulable || !q.rules.isOfInterest(q, event) {
		return false
	}
	return q.worthRequeuing(q.entityOf(i), event, oldObj, newObj) != queueSkip
}

// answer is what was found out, if it was.
type answer uint8

const (
	unknown answer = iota
	no
	yes
)

// areDeaf reports whether no plugin of the set registered for event, that of the present move request: then none of their hints
// is asked, for any pod.
func (q *Queue) areDeaf(set pluginSet, event fwk.ClusterEvent) bool {
	if n := q.sets.Len(); len(q.isDeaf) < n {
		q.isDeaf = append(q.isDeaf, make([]answer, n-len(q.isDeaf))...)
	}
	if q.isDeaf[set] == unknown {
		q.isDeaf[set] = yes
		if slices.ContainsFunc(q.sets.Names(set), func(plugin string) bool { return q.plugins.Registered(plugin, event) }) {
			q.isDeaf[set] = no
		}
	}
	return q.isDeaf[set] == yes
}

// staysGated reports whether event, that of the present move request, is no reason to look again at the gated entity e.
func (q *Queue) staysGated(e *entry, event fwk.ClusterEvent) bool {
	return !isWildCard(event) && q.areDeaf(e.gatingPlugin, event)
}

// worthRequeuing asks for each pod of the entity i, and takes the best. (isEntityWorthRequeuing.)
func (q *Queue) worthRequeuing(i int32, event fwk.ClusterEvent, oldObj, newObj any) strategy {
	best := queueSkip
	for p := range q.podsOf(i) {
		if best = max(best, q.rules.podWorthRequeuing(q, q.entries.At(p), event, oldObj, newObj)); best == queueImmediately {
			break
		}
	}
	return best
}

// podWorthRequeuing asks the hints of the plugins that rejected the pod e, and only those, whether event may
// help it. (scheduling_queue.go, isPodWorthRequeuing.)
func (q *Queue) podWorthRequeuing(e *entry, event fwk.ClusterEvent, oldObj, newObj any) strategy {
	if !e.rejected() {
		return queueAfterBackoff
	}
	if isWildCard(event) {
		return forPod(e, newObj)
	}
	for _, plugin := range q.sets.Names(e.pendingPlugins) {
		if q.hintSaysQueue(plugin, e.pod, event, oldObj, newObj) {
			return queueImmediately
		}
	}
	for _, plugin := range q.sets.Names(e.unschedulablePlugins) {
		if q.hintSaysQueue(plugin, e.pod, event, oldObj, newObj) {
			return queueAfterBackoff
		}
	}
	return queueSkip
}

// forPod returns what a wildcard event means for the pod e: with a pod as its object, it is for that pod alone.
func forPod(e *entry, newObj any) strategy {
	if newObj != nil {
		if pod, ok := newObj.(*v1.Pod); !ok || pod.UID != e.pod.UID {
			return queueSkip
		}
	}
	return queueAfterBackoff
}

// hintSaysQueue reports whether the plugin's hint for event is to queue pod. A hint that fails counts as one.
func (q *Queue) hintSaysQueue(plugin string, pod *v1.Pod, event fwk.ClusterEvent, oldObj, newObj any) bool {
	hint, err := q.plugins.Hint(plugin, pod, event, oldObj, newObj)
	if err != nil {
		q.observer.Failed(fmt.Errorf("the queueing hint of %s failed for pod %s/%s and event %s, so the pod is queued: %w",
			plugin, pod.Namespace, pod.Name, event.Label(), err))
		return true
	}
	return hint == fwk.Queue
}

// hintAfterAttempt replays the events of the attempt of the pod i through the hints of the plugins that now
// rejected it. (scheduling_queue.go, determineSchedulingHintForInFlightPod.)
func (q *Queue) hintAfterAttempt(i int32, popped bool) strategy {
	e := q.entries.At(i)
	if !e.rejected() {
		return queueAfterBackoff
	}
	if !popped {
		q.observer.Failed(fmt.Errorf("pod %s/%s failed an attempt but was never popped", e.pod.Namespace, e.pod.Name))
		return queueAfterBackoff
	}
	best := queueSkip
	for _, ev := range q.inFlight.since(e.eventsFrom) {
		best = max(best, q.podWorthRequeuing(e, ev.event, ev.oldObj, ev.newObj))
		if best == queueImmediately || best == queueAfterBackoff && e.pendingPlugins == 0 {
			break
		}
	}
	return best
}
