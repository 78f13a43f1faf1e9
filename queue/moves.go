package queue

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"

	fwk "k8s.io/kube-scheduler/framework"
)

// This file contains the operations that move pods between tiers, except pops and the ends of attempts,
// followed by the steps they share.

// Add adds an unassigned pod to activeQ, or to the gated pods if a PreEnqueue plugin rejects it. It replaces
// a waiting pod of that name, and records the nominated node in the pod's status.
func (q *Queue) Add(now time.Time, pod *v1.Pod) {
	q.nominated.Add(pod, pod.Status.NominatedNodeName)
	q.add(now.UnixNano(), pod)
}

func (q *Queue) add(now int64, pod *v1.Pod) {
	from := None
	if old := q.waitingPod(pod); old != none {
		if _, grouped := q.opts.GroupOf(pod); !grouped && q.entries.At(old).group == 0 { // reported as a move of one pod
			from = q.entries.At(old).tier
			q.remove(old)
			q.forget(old)
		} else {
			q.delete(now, old, pod)
		}
	}
	i := q.newPod(now, pod)
	if g := q.ensureGroupOf(pod); g != nil {
		q.addMember(now, i, g, unscheduledPodAdd)
		return
	}
	q.setTier(q.entries.At(i), from)
	q.moveToActiveQ(now, i, unscheduledPodAdd)
}

// Rejection is why an attempt failed. Without any plugin, the cause is an error or a cluster without nodes, and
// the pod goes to backoffQ's heap for errors.
type Rejection struct {
	UnschedulablePlugins []string
	PendingPlugins       []string
}

// AddUnschedulableIfNotPresent returns a pod to the queue after a failed attempt: to the unschedulable
// pods or, if an event during the attempt may make it schedulable, to backoffQ or activeQ. pod is the
// newest object, with the UID of the popped one. A pod of a group is pending until its group's attempt ends.
//
// It ends the attempt and returns an error if a pod of that name waits already. It reports a pod that was
// never popped to Observer.Failed and queues it. It models AddUnschedulablePodIfNotPresent in
// scheduling_queue.go.
func (q *Queue) AddUnschedulableIfNotPresent(now time.Time, pod *v1.Pod, why Rejection) error {
	t := now.UnixNano()
	if old := q.waitingPod(pod); old != none {
		q.Done(now, pod.UID)
		return fmt.Errorf("pod %s/%s is already present in the queue (%s)", pod.Namespace, pod.Name, q.entries.At(old).tier)
	}
	i := q.inFlight.Get(&q.entries, pod.UID)
	popped := i != none
	if popped && q.inFlightPod(pod) != i && q.entries.At(i).pod.Name != pod.Name {
		q.Done(now, pod.UID) // the attempt of a pod with another name
		popped = false
	}
	if !popped {
		i = q.newPod(t, pod)
	}
	e := q.entries.At(i)
	g := q.ensureGroupOf(e.pod)
	q.setPod(i, pod)
	q.fail(t, e, why)
	hint := queueSkip
	if g == nil {
		q.lastPopped = 0
		q.setExpiry(i)
		hint = q.rules.hintAfterAttempt(q, i, popped)
	}
	if popped {
		q.inFlight.remove(&q.entries, i)
		if q.hidden > 0 {
			q.byName.Put(&q.entries, i) // hides another pod in flight
		}
		e.group = 0
	}
	if g != nil {
		q.addMember(t, i, g, ScheduleAttemptFailure)
		return nil
	}
	q.requeue(t, i, hint, ScheduleAttemptFailure)
	return nil
}

// fail records a failed attempt of pod e.
func (q *Queue) fail(now int64, e *entry, why Rejection) {
	e.unschedulablePlugins = q.sets.Of(why.UnschedulablePlugins...)
	e.pendingPlugins = q.sets.Of(why.PendingPlugins...)
	e.timestamp, e.flushed = now, unset
	q.rules.countFailure(q, now, e, e.rejected())
}

// countFailure counts a failure of entity e, which is a rejection or an error.
func (q *Queue) countFailure(_ int64, e *entry, rejected bool) {
	if rejected {
		e.unschedulableCount++
		e.errorsCount = 0
	} else {
		e.errorsCount++
	}
	e.backoffExpiry = unset
}

// Update replaces the object of a pod. events describe the change: the result of upstream's
// PodSchedulingPropertiesChange(newPod, oldPod, true). An unschedulable or gated pod moves if a hint for an
// event returns Queue. If the pod is in flight, the events count when its attempt fails. A pod that the
// queue does not know, or that has another UID, is added.
func (q *Queue) Update(now time.Time, oldPod, newPod *v1.Pod, events []fwk.ClusterEvent) {
	i := q.waitingPod(newPod)
	g, entity := q.groupOf(i, oldPod), q.entityOf(i)
	isIncomplete := g != nil && g.object == nil
	if q.inFlight.Get(&q.entries, newPod.UID) != none && !isIncomplete && !q.rules.forgetsPopped {
		for _, ev := range events {
			q.inFlight.record(ev, oldPod, newPod)
		}
		return
	}
	if !isIncomplete && (i == none || entity != none && q.entries.At(i).pod.UID != newPod.UID) {
		q.Add(now, newPod)
		return
	}
	if i == none || isIncomplete && q.entries.At(i).tier != Incomplete { // upstream searches the incomplete pods only
		q.freeGroup(g)
		return
	}
	q.setPod(i, newPod)
	q.nominated.Update(oldPod, newPod)
	if entity != none {
		q.rules.updated(q, now.UnixNano(), entity, oldPod, newPod, events)
	}
}

// updated restores the heap's order after a pod of entity i changed, or asks the entity's hints about the
// change.
func (q *Queue) updated(now int64, i int32, oldPod, newPod *v1.Pod, events []fwk.ClusterEvent) {
	e := q.entries.At(i)
	if h := q.heapAt(e.place); h != nil {
		h.fix(&q.entries, int(e.pos))
		return
	}
	for _, ev := range events { // without PopFromBackoffQ, upstream continues after a move to backoffQ, and then holds the pod twice
		if e.place != inUnschedulable {
			return
		}
		q.requeue(now, i, q.worthRequeuing(i, ev, oldPod, newPod), ev.Label())
	}
}

// Activate moves a pod and its group to activeQ, regardless of the backoff, and reports whether the pod
// entered activeQ. A pod in flight returns to activeQ or backoffQ if its attempt fails. Any other pod is
// ignored.
func (q *Queue) Activate(now time.Time, pod *v1.Pod) bool {
	i := q.waitingPod(pod)
	entity := i
	if g := q.groupOf(i, pod); g != nil {
		if g.object == nil {
			q.freeGroup(g)
			return false
		}
		entity = g.entity
	}
	if entity != none && q.entries.At(entity).place != inActiveQ {
		move := q.moveToActiveQ
		if q.entries.At(entity).place.isBackoffQ() {
			move = q.moveOutOfBackoffQ
		}
		if move(now.UnixNano(), entity, ForceActivate) == Active {
			return true
		}
	}
	if q.inFlight.Get(&q.entries, pod.UID) != none {
		q.inFlight.record(eventForceActivate, nil, pod)
	}
	return false
}

// MoveAllToActiveOrBackoffQueue is a move request: it moves every unschedulable or gated pod that event may
// make schedulable to activeQ or, during its backoff, to backoffQ. The hints receive oldObj and newObj, the
// object before and after the event. If preCheck is not nil, only pods for which it returns true can move.
// For pods in flight, the event counts when their attempt fails.
func (q *Queue) MoveAllToActiveOrBackoffQueue(now time.Time, event fwk.ClusterEvent, oldObj, newObj any, preCheck func(*v1.Pod) bool) {
	if !q.rules.isOfInterest(q, event) {
		return
	}
	candidates := q.scratch[:0]
	for _, i := range q.unschedulable {
		for p := range q.podsOf(i) { // any member suffices
			if preCheck == nil || preCheck(q.entries.At(p).pod) {
				candidates = append(candidates, i)
				break
			}
		}
	}
	q.scratch = candidates
	q.moveAll(now.UnixNano(), candidates, event, oldObj, newObj)
}

// moveAll models moveEntitiesToActiveOrBackoffQueue.
func (q *Queue) moveAll(now int64, candidates []int32, event fwk.ClusterEvent, oldObj, newObj any) {
	label, byHints := event.Label(), q.opts.Rules.Waking == ByHints && !isWildCard(event)
	clear(q.unregistered)
	for _, i := range candidates {
		e := q.entries.At(i)
		if e.tier == Gated && q.rules.staysGated(q, e, event) {
			continue
		}
		if byHints && e.rejected() && q.noneRegistered(e.unschedulablePlugins, event) && q.noneRegistered(e.pendingPlugins, event) {
			continue // never a group: only its pods have rejectors
		}
		if hint := q.worthRequeuing(i, event, oldObj, newObj); hint != queueSkip {
			q.remove(i)
			q.requeue(now, i, hint, label)
		}
	}
	q.moveRequestCycle = q.schedulingCycle
	if q.inFlight.first != none && !q.rules.forgetsPopped {
		q.inFlight.record(event, oldObj, newObj)
	}
}

// FlushBackoffCompleted moves the pods whose backoff is over from backoffQ to activeQ. Upstream calls it
// every BackoffFlushInterval and, with PopFromBackoffQ, at whole seconds. It models flushBackoffQCompleted.
func (q *Queue) FlushBackoffCompleted(now time.Time) { q.FlushBackoffCompletedAsOf(now, now) }

// FlushBackoffCompletedAsOf runs at now a flush that happened at ran: it moves the pods whose backoff was over
// at ran.
func (q *Queue) FlushBackoffCompletedAsOf(now, ran time.Time) {
	t, asOf := now.UnixNano(), ran.UnixNano()
	completed := q.scratch[:0]
	for _, h := range []*heap{&q.backoffQ, &q.errorBackoffQ} {
		for len(h.items) > 0 && !q.backingOff(asOf, q.entries.At(h.items[0].entry)) {
			i := h.items[0].entry
			q.remove(i)
			completed = append(completed, i)
		}
	}
	q.scratch = shrink(completed)
	for _, i := range completed {
		q.moveOutOfBackoffQ(t, i, BackoffComplete)
	}
}

// FlushUnschedulableLeftover moves the pods that have been unschedulable or gated for longer than
// PodMaxInUnschedulablePods since their last failure or flush. Upstream calls it every
// LeftoverFlushInterval. It models flushUnschedulableEntitiesLeftover.
func (q *Queue) FlushUnschedulableLeftover(now time.Time) {
	t := now.UnixNano()
	left := q.scratch[:0]
	for _, i := range q.unschedulable {
		e := q.entries.At(i)
		if t-q.rules.leftoverSince(e) > int64(q.opts.PodMaxInUnschedulablePods) {
			e.flushed = t
			left = append(left, i)
		}
	}
	q.scratch = shrink(left)
	if len(left) > 0 {
		q.moveAll(t, left, eventUnschedulableTimeout, nil, nil)
	}
}

// requeue moves entity i according to hint, for an event with that label. It models
// requeueEntityWithQueueingStrategy in scheduling_queue.go.
func (q *Queue) requeue(now int64, i int32, hint strategy, event string) {
	e := q.entries.At(i)
	switch {
	case hint == queueSkip && e.place != noPlace:
	case hint == queueSkip:
		to := Unschedulable
		if e.gatingPlugin != 0 {
			to = Gated
		}
		q.insert(i, to)
		q.count(i, Unschedulable, event)
		q.moved(now, i, to, event)
	case hint == queueInBackoffQ, hint == queueAfterBackoff && q.backingOff(now, e):
		q.moveToBackoffQ(now, i, event)
	default:
		q.moveToActiveQ(now, i, event)
	}
}

// moveToActiveQ puts entity i into activeQ, or among the gated entities if a PreEnqueue plugin rejects it, and
// returns its new tier. The entity may still be unschedulable. It models moveToActiveQ in
// scheduling_queue.go.
func (q *Queue) moveToActiveQ(now int64, i int32, event string) Tier {
	q.runPreEnqueue(i)
	return q.enterActiveQ(now, i, event)
}

// moveOutOfBackoffQ is moveToActiveQ for an entity from backoffQ. With PopFromBackoffQ, PreEnqueue ran when
// the entity entered backoffQ.
func (q *Queue) moveOutOfBackoffQ(now int64, i int32, event string) Tier {
	if !q.opts.PopFromBackoffQ {
		q.runPreEnqueue(i)
	}
	return q.enterActiveQ(now, i, event)
}

func (q *Queue) enterActiveQ(now int64, i int32, event string) Tier {
	if q.entries.At(i).gatingPlugin != 0 {
		q.gate(now, i, event)
		return Gated
	}
	q.setInitialAttempt(i, now)
	for p := range q.podsOf(i) {
		q.setInitialAttempt(p, now)
	}
	q.remove(i)
	q.insert(i, Active)
	q.count(i, Active, event)
	q.moved(now, i, Active, event)
	return Active
}

// moveToBackoffQ puts entity i into backoffQ or, with PopFromBackoffQ, possibly among the gated entities. It
// models moveToBackoffQ in scheduling_queue.go.
func (q *Queue) moveToBackoffQ(now int64, i int32, event string) {
	if q.opts.PopFromBackoffQ {
		q.runPreEnqueue(i)
		if q.entries.At(i).gatingPlugin != 0 {
			q.gate(now, i, event)
			return
		}
	}
	q.remove(i)
	q.insert(i, Backoff)
	q.count(i, Backoff, event)
	q.moved(now, i, Backoff, event)
}

// gate puts entity i among the gated entities, unless it is there.
func (q *Queue) gate(now int64, i int32, event string) {
	e := q.entries.At(i)
	wasThere := e.place == inUnschedulable
	if wasThere && e.tier == Gated {
		return
	}
	q.remove(i)
	q.insert(i, Gated)
	if !wasThere {
		q.count(i, Unschedulable, event)
	}
	q.moved(now, i, Gated, event)
}

// runPreEnqueue runs the PreEnqueue plugins for the pods of entity i. One gated pod gates the entity. The plugin
// that gates a pod becomes one of its rejectors, so that the plugin's events reach it. It models
// runPreEnqueuePlugins.
func (q *Queue) runPreEnqueue(i int32) {
	if q.rules.noPreEnqueue {
		return
	}
	gating := pluginSet(0)
	for p := range q.podsOf(i) {
		e := q.entries.At(p)
		plugin := q.plugins.PreEnqueue(e.pod, q.sets.First(e.gatingPlugin))
		if e.gatingPlugin = 0; plugin != "" {
			e.gatingPlugin = q.sets.Of(plugin)
			e.unschedulablePlugins = q.sets.With(e.unschedulablePlugins, plugin)
			gating = e.gatingPlugin
		}
	}
	q.entries.At(i).gatingPlugin = gating
}

func (q *Queue) setInitialAttempt(i int32, now int64) {
	if e := q.entries.At(i); e.initialAttempt == unset {
		e.initialAttempt = now
	}
}
