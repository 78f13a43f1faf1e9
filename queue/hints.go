package queue

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// strategy models queueingStrategy: what a hint means for a pod.
type strategy uint8

const (
	queueSkip         strategy = iota // do not move
	queueAfterBackoff                 // to backoffQ, or to activeQ if the backoff is over
	queueImmediately                  // to activeQ
	queueInBackoffQ                   // to backoffQ regardless of the backoff; before v1.32
)

// isOfInterest models isEventOfInterest.
func (q *Queue) isOfInterest(event fwk.ClusterEvent) bool {
	return isWildCard(event) || q.plugins.Interested(event)
}

// WouldWake reports whether the named pod is unschedulable and MoveAllToActiveOrBackoffQueue for event,
// without a preCheck, would move it. It changes nothing.
func (q *Queue) WouldWake(namespace, name string, event fwk.ClusterEvent, oldObj, newObj any) bool {
	i := q.byName.Get(&q.entries, namespace, name)
	if i == none || q.entries.At(i).tier != Unschedulable || !q.rules.isOfInterest(q, event) {
		return false
	}
	return q.worthRequeuing(q.entityOf(i), event, oldObj, newObj) != queueSkip
}

// answer is a cached answer to a yes-or-no question.
type answer uint8

const (
	unknown answer = iota
	no
	yes
)

// noneRegistered reports whether no plugin in the set registered for event, which must be the event of the
// current move request. It asks once per set and request.
func (q *Queue) noneRegistered(set pluginSet, event fwk.ClusterEvent) bool {
	if n := q.sets.Len(); len(q.unregistered) < n {
		q.unregistered = append(q.unregistered, make([]answer, n-len(q.unregistered))...)
	}
	if q.unregistered[set] == unknown {
		q.unregistered[set] = yes
		if slices.ContainsFunc(q.sets.Names(set), func(plugin string) bool { return q.plugins.Registered(plugin, event) }) {
			q.unregistered[set] = no
		}
	}
	return q.unregistered[set] == yes
}

// staysGated reports whether the event of the current move request cannot ungate entity e.
func (q *Queue) staysGated(e *entry, event fwk.ClusterEvent) bool {
	return !isWildCard(event) && q.noneRegistered(e.gatingPlugin, event)
}

// worthRequeuing returns the best strategy for any pod of entity i. It models isEntityWorthRequeuing.
func (q *Queue) worthRequeuing(i int32, event fwk.ClusterEvent, oldObj, newObj any) strategy {
	best := queueSkip
	for p := range q.podsOf(i) {
		if best = max(best, q.rules.podWorthRequeuing(q, q.entries.At(p), event, oldObj, newObj)); best == queueImmediately {
			break
		}
	}
	return best
}

// podWorthRequeuing asks the hints of the plugins that rejected pod e about event. It models
// isPodWorthRequeuing in scheduling_queue.go.
func (q *Queue) podWorthRequeuing(e *entry, event fwk.ClusterEvent, oldObj, newObj any) strategy {
	if !e.rejected() {
		return queueAfterBackoff
	}
	if isWildCard(event) {
		return wildcardStrategy(e, newObj)
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

// wildcardStrategy returns the strategy for pod e and a wildcard event. If the event's object is a pod, the
// event concerns that pod only.
func wildcardStrategy(e *entry, newObj any) strategy {
	if newObj != nil {
		if pod, ok := newObj.(*v1.Pod); !ok || pod.UID != e.pod.UID {
			return queueSkip
		}
	}
	return queueAfterBackoff
}

// hintSaysQueue reports whether the plugin's hint for pod and event returns Queue or an error.
func (q *Queue) hintSaysQueue(plugin string, pod *v1.Pod, event fwk.ClusterEvent, oldObj, newObj any) bool {
	hint, err := q.plugins.Hint(plugin, pod, event, oldObj, newObj)
	if err != nil {
		q.observer.Failed(fmt.Errorf("queueing hint of %s failed for pod %s/%s and event %s, requeueing the pod: %w",
			plugin, pod.Namespace, pod.Name, event.Label(), err))
		return true
	}
	return hint == fwk.Queue
}

// hintAfterAttempt asks the hints of the plugins that rejected pod i about the events during its attempt.
// It models determineSchedulingHintForInFlightPod in scheduling_queue.go.
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
