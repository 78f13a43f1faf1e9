package queue

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"

	fwk "k8s.io/kube-scheduler/framework"
)

// What brings a pod from one tier to another, but for its pop and its end: the operations, and below them the few ways that all of
// them go. One who follows a pod alone needs no other file: what is called beyond is a step whose name says it, such as to
// remove an entity from its place, or to ask the hints whether an event is worth requeuing it.

// Add puts a new pod into activeQ, or among the gated pods if a PreEnqueue plugin says so. A pod of that name that waits already
// is replaced. The node that its status names is where it is nominated to run: the caller vouches that it is not assigned.
func (q *Queue) Add(now time.Time, pod *v1.Pod) {
	q.nominated.Add(pod, pod.Status.NominatedNodeName)
	q.add(now.UnixNano(), pod)
}

func (q *Queue) add(now int64, pod *v1.Pod) {
	told := None
	if old := q.waiting(pod); old != none {
		if _, grouped := q.opts.GroupOf(pod); !grouped && q.entries.At(old).group == 0 { // the new one goes on from where the old one was
			told = q.entries.At(old).tier
			q.remove(old)
			q.forget(old)
		} else {
			q.delete(now, old, pod)
		}
	}
	i := q.newPod(now, pod)
	if g := q.groupNamedBy(pod); g != nil {
		q.addMember(now, i, g, unscheduledPodAdd)
		return
	}
	q.setTier(q.entries.At(i), told)
	q.moveToActiveQ(now, i, unscheduledPodAdd)
}

// Rejection says why an attempt failed. Without any plugin it was an error, or the cluster had no nodes:
// such a pod always goes to backoffQ's heap for errors.
type Rejection struct {
	UnschedulablePlugins []string
	PendingPlugins       []string
}

// AddUnschedulableIfNotPresent returns a pod to the queue after a failed attempt: to the unschedulable
// pods, or, if an event that came during the attempt may have helped, to backoffQ or activeQ. pod is its
// newest object, with the UID of the one that was popped. A pod of a group waits for what its group's own attempt comes to.
//
// It fails if a pod of that name waits already; the attempt has ended nevertheless. A pod that was
// never popped is queued, and the Observer told. (scheduling_queue.go, AddUnschedulablePodIfNotPresent.)
func (q *Queue) AddUnschedulableIfNotPresent(now time.Time, pod *v1.Pod, why Rejection) error {
	t := now.UnixNano()
	if old := q.waiting(pod); old != none {
		q.Done(now, pod.UID)
		return fmt.Errorf("pod %s/%s is already present in the queue (%s)", pod.Namespace, pod.Name, q.entries.At(old).tier)
	}
	i := q.inFlight.with(&q.entries, pod.UID)
	popped := i != none
	if popped && q.flying(pod) != i && q.entries.At(i).pod.Name != pod.Name {
		q.Done(now, pod.UID) // it was the attempt of a pod of another name
		popped = false
	}
	if !popped {
		i = q.newPod(t, pod)
	}
	e := q.entries.At(i)
	g := q.groupNamedBy(e.pod)
	q.setPod(i, pod)
	q.fail(t, e, why)
	hint := queueSkip
	if g == nil {
		q.popped = 0
		q.setExpiry(i)
		hint = q.rules.hintAfterAttempt(q, i, popped)
	}
	if popped {
		q.inFlight.remove(&q.entries, i)
		if q.hidden > 0 {
			q.byName.Put(&q.entries, i) // before another one in flight, which is hidden in its turn
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

// fail counts a failed attempt of the pod e and forgets what belonged to the one before.
func (q *Queue) fail(now int64, e *entry, why Rejection) {
	e.unschedulablePlugins = q.sets.Of(why.UnschedulablePlugins...)
	e.pendingPlugins = q.sets.Of(why.PendingPlugins...)
	e.timestamp, e.flushed = now, unset
	q.rules.countFailure(q, now, e, e.rejected())
}

// countFailure counts one failure more of the entity e, by plugins or by an error.
func (q *Queue) countFailure(_ int64, e *entry, rejected bool) {
	if rejected {
		e.unschedulableCount++
		e.errorsCount = 0
	} else {
		e.errorsCount++
	}
	e.backoffExpiry = unset
}

// Update tells the queue that a pod changed. events are what the change means to plugins: the result of
// upstream's PodSchedulingPropertiesChange(newPod, oldPod, true). In activeQ and backoffQ the pod is
// replaced; a pod in flight has the events replayed if its attempt fails; an unschedulable or gated pod
// moves if a hint says so. A pod that the queue does not know is added, and so is another pod of the name.
func (q *Queue) Update(now time.Time, oldPod, newPod *v1.Pod, events []fwk.ClusterEvent) {
	i := q.waiting(newPod)
	g, entity := q.groupOf(i, oldPod), q.entityOf(i)
	isIncomplete := g != nil && g.object == nil
	if q.inFlight.with(&q.entries, newPod.UID) != none && !isIncomplete && !q.rules.forgetsPopped {
		for _, ev := range events {
			q.inFlight.record(ev, oldPod, newPod)
		}
		return
	}
	if !isIncomplete && (i == none || entity != none && q.entries.At(i).pod.UID != newPod.UID) {
		q.Add(now, newPod)
		return
	}
	if i == none || isIncomplete && q.entries.At(i).tier != Incomplete { // upstream looks among the incomplete alone
		q.freeGroup(g)
		return
	}
	q.setPod(i, newPod)
	q.nominated.Update(oldPod, newPod)
	if entity != none {
		q.rules.updated(q, now.UnixNano(), entity, oldPod, newPod, events)
	}
}

// updated puts the entity i, a pod of which has changed, at its place in its heap, or asks its hints whether it moves.
func (q *Queue) updated(now int64, i int32, oldPod, newPod *v1.Pod, events []fwk.ClusterEvent) {
	e := q.entries.At(i)
	if h := q.heapAt(e.place); h != nil {
		h.fix(&q.entries, int(e.pos))
		return
	}
	for _, ev := range events { // upstream goes on after backoffQ, unless it pops from there, and then holds the pod twice
		if e.place != inUnschedulable {
			return
		}
		q.requeue(now, i, q.worthRequeuing(i, ev, oldPod, newPod), ev.Label())
	}
}

// Activate moves a pod to activeQ at once, whatever its backoff, with its group. A pod in flight returns to activeQ or
// backoffQ if its attempt fails. Any other pod is ignored. It reports whether the pod entered activeQ.
func (q *Queue) Activate(now time.Time, pod *v1.Pod) bool {
	i := q.waiting(pod)
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
	if q.inFlight.with(&q.entries, pod.UID) != none {
		q.inFlight.record(eventForceActivate, nil, pod)
	}
	return false
}

// MoveAllToActiveOrBackoffQueue is a move request: event happened, and every unschedulable or gated pod
// that it may help moves to activeQ or, while it backs off, to backoffQ. oldObj and newObj are the object
// before and after, for the hints. preCheck, unless nil, leaves pods out. Pods in flight are checked
// against the event when their attempt fails.
func (q *Queue) MoveAllToActiveOrBackoffQueue(now time.Time, event fwk.ClusterEvent, oldObj, newObj any, preCheck func(*v1.Pod) bool) {
	if !q.rules.isOfInterest(q, event) {
		return
	}
	candidates := q.scratch[:0]
	for _, i := range q.unschedulable {
		for p := range q.podsOf(i) { // any of a group
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
	clear(q.isDeaf)
	for _, i := range candidates {
		e := q.entries.At(i)
		if e.tier == Gated && q.rules.staysGated(q, e, event) {
			continue
		}
		if byHints && e.rejected() && q.areDeaf(e.unschedulablePlugins, event) && q.areDeaf(e.pendingPlugins, event) {
			continue // a group has no rejectors of its own
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

// FlushBackoffCompleted moves the pods whose backoff is over from backoffQ to activeQ. Upstream does it
// every BackoffFlushInterval; with PopFromBackoffQ, at whole seconds. (flushBackoffQCompleted.)
func (q *Queue) FlushBackoffCompleted(now time.Time) { q.FlushBackoffCompletedAsOf(now, now) }

// FlushBackoffCompletedAsOf is a FlushBackoffCompleted that ran at that moment, and is heard of only now: pods whose backoff was over
// by then have moved.
func (q *Queue) FlushBackoffCompletedAsOf(now, ran time.Time) {
	t, by := now.UnixNano(), ran.UnixNano()
	completed := q.scratch[:0]
	for _, h := range []*heap{&q.backoffQ, &q.errorBackoffQ} {
		for len(h.items) > 0 && !q.backingOff(by, q.entries.At(h.items[0].entry)) {
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
// PodMaxInUnschedulablePods, counted from their last failure or their last flush. Upstream does it every
// LeftoverFlushInterval. (flushUnschedulableEntitiesLeftover.)
func (q *Queue) FlushUnschedulableLeftover(now time.Time) {
	t := now.UnixNano()
	left := q.scratch[:0]
	for _, i := range q.unschedulable {
		e := q.entries.At(i)
		if t-q.rules.leftSince(e) > int64(q.opts.PodMaxInUnschedulablePods) {
			e.flushed = t
			left = append(left, i)
		}
	}
	q.scratch = shrink(left)
	if len(left) > 0 {
		q.moveAll(t, left, eventUnschedulableTimeout, nil, nil)
	}
}

// requeue sends the entity i where hint says; event is the label of the cause. (scheduling_queue.go,
// requeueEntityWithQueueingStrategy.)
func (q *Queue) requeue(now int64, i int32, hint strategy, event string) {
	e := q.entries.At(i)
	switch {
	case hint == queueSkip && e.place != nowhere:
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

// moveToActiveQ puts the entity i into activeQ, or among the gated ones if a PreEnqueue plugin keeps it out, and returns where it
// went. It may lie among the unschedulable still. (scheduling_queue.go, moveToActiveQ.)
func (q *Queue) moveToActiveQ(now int64, i int32, event string) Tier {
	q.runPreEnqueue(i)
	return q.enterActiveQ(now, i, event)
}

// moveOutOfBackoffQ is moveToActiveQ for what was in backoffQ: with PopFromBackoffQ, PreEnqueue ran when it came there.
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

// moveToBackoffQ puts the entity i into backoffQ; with PopFromBackoffQ it may be gated instead.
// (scheduling_queue.go, moveToBackoffQ.)
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

// gate keeps the entity i out of activeQ. One that is gated and was not taken out does not move.
func (q *Queue) gate(now int64, i int32, event string) {
	e := q.entries.At(i)
	stayed := e.place == inUnschedulable
	if stayed && e.tier == Gated {
		return
	}
	q.remove(i)
	q.insert(i, Gated)
	if !stayed {
		q.count(i, Unschedulable, event)
	}
	q.moved(now, i, Gated, event)
}

// runPreEnqueue asks the PreEnqueue plugins about the pods of the entity i: one that is gated gates all. The plugin that gates a
// pod becomes one of its rejectors, so that the plugin's events reach it. (runPreEnqueuePlugins.)
func (q *Queue) runPreEnqueue(i int32) {
	if q.rules.noPreEnqueue {
		return
	}
	gating := pluginSet(0)
	for p := range q.podsOf(i) {
		e := q.entries.At(p)
		plugin := q.plugins.PreEnqueue(e.pod, q.sets.Only(e.gatingPlugin))
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
