package queue

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// strategy is where a hint sends a pod: upstream's queueingStrategy.
type strategy uint8

const (
	queueSkip         strategy = iota // it stays
	queueAfterBackoff                 // to backoffQ, or to activeQ if its backoff is over
	queueImmediately                  // to activeQ
)

// MoveAllToActiveOrBackoffQueue is a move request: event happened, and every unschedulable or gated pod
// that it may help moves to activeQ or, while it backs off, to backoffQ. oldObj and newObj are the object
// before and after, for the hints. preCheck, unless nil, leaves pods out. Pods in flight are checked
// against the event when their attempt fails.
func (q *Queue) MoveAllToActiveOrBackoffQueue(now time.Time, event fwk.ClusterEvent, oldObj, newObj any, preCheck func(*v1.Pod) bool) {
	if !q.interested(event) {
		return
	}
	candidates, near := q.scratch[:0], q.topologyPreCheck(event, newObj)
	for _, i := range q.unschedulable {
		e := q.entries.at(i)
		if (preCheck == nil || q.preChecked(e, preCheck)) && (near == nil || near(e)) {
			candidates = append(candidates, i)
		}
	}
	q.scratch = candidates
	q.moveAll(now.UnixNano(), candidates, event, oldObj, newObj)
}

// interested models isEventOfInterest.
func (q *Queue) interested(event fwk.ClusterEvent) bool {
	return q.opts.Rules.HearsAllEvents || isWildCard(event) || q.plugins.Interested(event)
}

// moveAll models moveEntitiesToActiveOrBackoffQueue.
func (q *Queue) moveAll(now int64, candidates []int32, event fwk.ClusterEvent, oldObj, newObj any) {
	label := event.Label()
	for _, i := range candidates {
		e := q.entries.at(i)
		if e.tier == Gated && q.staysGated(e, event) {
			continue
		}
		hint := q.worthRequeuing(i, event, oldObj, newObj)
		if hint == queueSkip {
			continue
		}
		from := q.detach(i)
		q.requeue(now, i, from, hint, label)
	}
	q.moveRequestCycle = q.schedulingCycle
	if len(q.inFlight.byUID) > 0 && !q.opts.Rules.MoveRequestCycle {
		q.inFlight.record(event, oldObj, newObj)
	}
}

// staysGated reports whether event is no reason to look again at the gated entry e.
func (q *Queue) staysGated(e *entry, event fwk.ClusterEvent) bool {
	if q.opts.Rules.Gating == NotBySchedulingGates {
		return slices.Contains(q.sets.members[e.unschedulablePlugins], SchedulingGates)
	}
	if isWildCard(event) && q.opts.Rules.Gating == GatingEventsAndFlush {
		return false
	}
	return !q.plugins.Registered(q.sets.onlyName(e.gatingPlugin), event)
}

// requeue sends entry i where hint says; event is the label of the cause. (scheduling_queue.go,
// requeueEntityWithQueueingStrategy.)
func (q *Queue) requeue(now int64, i int32, from Tier, hint strategy, event string) {
	e := q.entries.at(i)
	switch {
	case hint == queueSkip:
		if e.tier == None || e.tier == InFlight {
			to := Unschedulable
			if e.gatingPlugin != 0 {
				to = Gated
			}
			q.attach(i, to)
			q.count(e, Unschedulable, event)
			q.backingOff(now, e) // for the expiry that the observer is told
			q.moved(now, i, from, to, event)
		}
	case hint == queueAfterBackoff && q.backingOff(now, e):
		q.moveToBackoffQ(now, i, from, event)
	default:
		q.moveToActiveQ(now, i, from, event)
	}
}

// worthRequeuing asks the hints of the plugins that rejected entry i, and only those, whether event may
// help it. (scheduling_queue.go, isPodWorthRequeuing.)
func (q *Queue) worthRequeuing(i int32, event fwk.ClusterEvent, oldObj, newObj any) strategy {
	e := q.entries.at(i)
	if e.isGroup() {
		return q.groupWorthRequeuing(q.entityGroup(e), event, oldObj, newObj)
	}
	if !e.rejected() || q.opts.Rules.Waking == ByEveryEvent {
		return queueAfterBackoff
	}
	if isWildCard(event) {
		// With a pod as its object, a wildcard event is for that pod alone.
		if newObj != nil {
			if pod, ok := newObj.(*v1.Pod); !ok || pod.UID != e.pod.UID {
				return queueSkip
			}
		}
		return queueAfterBackoff
	}
	if q.opts.Rules.Waking == ByRegisteredEvents {
		return q.registrationHint(e, event)
	}
	for _, plugin := range q.sets.members[e.pendingPlugins] {
		if q.hintSaysQueue(plugin, e.pod, event, oldObj, newObj) {
			return queueImmediately
		}
	}
	for _, plugin := range q.sets.members[e.unschedulablePlugins] {
		if q.hintSaysQueue(plugin, e.pod, event, oldObj, newObj) {
			return queueAfterBackoff
		}
	}
	return queueSkip
}

// registrationHint models podMatchesEvent: any plugin that rejected e registered for event.
func (q *Queue) registrationHint(e *entry, event fwk.ClusterEvent) strategy {
	for _, id := range []setID{e.pendingPlugins, e.unschedulablePlugins} {
		for _, plugin := range q.sets.members[id] {
			if q.plugins.Registered(plugin, event) {
				return queueAfterBackoff
			}
		}
	}
	return queueSkip
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

// hintForInFlight replays the events of entry i's attempt through the hints of the plugins that now
// rejected it. (scheduling_queue.go, determineSchedulingHintForInFlightPod.)
func (q *Queue) hintForInFlight(i int32, popped bool) strategy {
	e := q.entries.at(i)
	if q.opts.Rules.MoveRequestCycle {
		if q.moveRequestCycle >= e.cycle {
			return queueAfterBackoff
		}
		return queueSkip
	}
	if !e.rejected() {
		return queueAfterBackoff
	}
	if !popped {
		q.observer.Failed(fmt.Errorf("pod %s/%s failed an attempt but was never popped", e.pod.Namespace, e.pod.Name))
		return queueAfterBackoff
	}
	best := queueSkip
	for _, ev := range q.inFlight.since(e.eventsFrom) {
		best = max(best, q.worthRequeuing(i, ev.event, ev.oldObj, ev.newObj))
		if best == queueImmediately || best == queueAfterBackoff && e.pendingPlugins == 0 {
			break
		}
	}
	return best
}

// podTopologySpread is a plugin's name.
const podTopologySpread = "PodTopologySpread"

// topologyPreCheck returns, in a release without hints, the check that a waiting pod must pass to be moved by a pod that
// got a node or changed on it: that it has a required affinity to that pod or, with the rules of v1.31, that
// PodTopologySpread rejected it in the same namespace. It is nil if all pods are moved. (scheduling_queue.go, AssignedPodAdded,
// AssignedPodUpdated and getUnschedulablePodsWithCrossTopologyTerm, which was ...WithMatchingAffinityTerm before.)
func (q *Queue) topologyPreCheck(event fwk.ClusterEvent, newObj any) func(waiting *entry) bool {
	pod, ok := newObj.(*v1.Pod)
	if !ok || q.opts.Rules.Waking == ByHints || event.Resource != fwk.AssignedPod || event.ActionType == fwk.Delete {
		return nil
	}
	return func(waiting *entry) bool {
		spread := !q.opts.Rules.AffinityOnly && waiting.pod.Namespace == pod.Namespace &&
			slices.Contains(q.sets.members[waiting.unschedulablePlugins], podTopologySpread)
		return spread || q.affinityMatches(waiting.pod, pod)
	}
}

// affinityMatches reports whether a required pod affinity term of waiting matches pod. The labels of namespaces are
// not known: a namespace selector matches only if it is empty.
func (q *Queue) affinityMatches(waiting, pod *v1.Pod) bool {
	terms, err := fwk.GetAffinityTerms(waiting, fwk.GetPodAffinityTerms(waiting.Spec.Affinity))
	if err != nil {
		q.observer.Failed(fmt.Errorf("pod %s/%s is not moved by what happened to %s/%s, because its affinity cannot be read: %w",
			waiting.Namespace, waiting.Name, pod.Namespace, pod.Name, err))
		return false
	}
	return slices.ContainsFunc(terms, func(term fwk.AffinityTerm) bool { return term.Matches(pod, nil) })
}
