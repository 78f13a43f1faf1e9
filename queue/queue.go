// Package queue is the scheduling queue of kube-scheduler v1.37 as a pure state machine: activeQ,
// backoffQ, unschedulable pods, gated pods and pods in flight.
//
// It models k8s.io/kubernetes/pkg/scheduler/backend/queue. Unlike upstream it has no goroutine, no lock
// and no clock: every method takes the time, and whoever owns the queue calls the two flushes when they
// are due. The same calls give the same result. Every move is handed to an Observer as a value.
package queue

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
)

// Queue holds the pods that wait to be scheduled. It is not safe for concurrent use.
type Queue struct {
	opts     Options
	plugins  Plugins
	observer Observer

	entries pool
	byName  index // pods in a tier of the queue
	sets    pluginSets

	activeQ       heap
	backoffQ      heap
	errorBackoffQ heap
	unschedulable []int32 // gated pods too
	gated         int
	scratch       []int32 // candidates of the present move request

	inFlight         inFlight
	schedulingCycle  int64
	moveRequestCycle int64 // the scheduling cycle of the last move request, or -1
	nominated        nominator
	incoming         incoming
}

// New returns an empty queue. A nil plugins is EveryEvent; a nil observer does not look.
func New(opts Options, plugins Plugins, observer Observer) *Queue {
	q := &Queue{
		opts: opts, plugins: plugins, observer: observer,
		byName: newIndex(), sets: newPluginSets(),
		inFlight: newInFlight(), nominated: newNominator(),
		incoming: newIncoming(),
	}
	if plugins == nil {
		q.plugins = EveryEvent{}
	}
	if observer == nil {
		q.observer = discard{}
	}
	q.activeQ.less = byPriority
	q.errorBackoffQ.less = byExpiry
	q.backoffQ.less = byExpiry
	if opts.PopFromBackoffQ {
		q.backoffQ.less = byExpiryThenPriority
	}
	q.moveRequestCycle = -1
	return q
}

// Options returns the options the queue was made with.
func (q *Queue) Options() Options { return q.opts }

// SchedulingCycle counts the pods popped so far.
func (q *Queue) SchedulingCycle() int64 { return q.schedulingCycle }

// Add puts a new pod into activeQ, or among the gated pods if a PreEnqueue plugin says so. A pod of that
// name that is already queued is replaced.
func (q *Queue) Add(now time.Time, pod *v1.Pod) {
	q.nominated.add(pod, pod.Status.NominatedNodeName)
	q.add(now.UnixNano(), pod)
}

func (q *Queue) add(now int64, pod *v1.Pod) {
	from := None
	if old := q.byName.get(&q.entries, pod.Namespace, pod.Name); old != none {
		from = q.detach(old)
		q.byName.remove(&q.entries, pod.Namespace, pod.Name)
		q.entries.release(old)
	}
	i := q.newEntry(now, pod)
	q.moveToActiveQ(now, i, from, unscheduledPodAdd)
}

// Pop takes the pod at the head of activeQ and makes it in flight; with PopFromBackoffQ, and if activeQ
// is empty, the head of backoffQ, whether its backoff is over or not. Pods that back off after an error
// are never taken early. It returns false if there is no pod to take.
//
// A popped pod stays in flight until Done, Bound or AddUnschedulableIfNotPresent.
func (q *Queue) Pop(now time.Time) (PodInfo, bool) {
	for {
		var i int32
		switch {
		case len(q.activeQ.items) > 0:
			i = q.activeQ.items[0].entry
		case q.opts.PopFromBackoffQ && len(q.backoffQ.items) > 0:
			i = q.backoffQ.items[0].entry
			q.count(Active, PopFromBackoffQ)
		default:
			return PodInfo{}, false
		}
		if q.pop(now.UnixNano(), i) {
			return q.info(i), true
		}
	}
}

// pop makes the queued entry i in flight. It returns false if a pod of the same UID already is: then
// the entry is dropped, as upstream's unlockedMoveEntityToInFlight does.
func (q *Queue) pop(now int64, i int32) bool {
	e := q.entries.at(i)
	from := q.detach(i)
	q.byName.remove(&q.entries, e.pod.Namespace, e.pod.Name)
	e.attempts++
	if _, ok := q.inFlight.byUID[e.pod.UID]; ok {
		q.observer.Failed(fmt.Errorf("pod %s/%s was popped while its last attempt is still in flight: it is dropped", e.pod.Namespace, e.pod.Name))
		q.moved(now, i, from, Deleted, "")
		q.entries.release(i)
		return false
	}
	q.inFlight.push(&q.entries, i)
	e.tier = InFlight
	q.schedulingCycle++
	e.cycle = q.schedulingCycle
	q.moved(now, i, from, InFlight, "")
	return true
}

// Unpop takes the last Pop of the pod in flight with that UID back, as if it had not been: the pod is in
// tier again, where it was popped from. The Observer is not told. Unknown UIDs are ignored.
func (q *Queue) Unpop(uid types.UID, tier Tier) {
	i, ok := q.inFlight.byUID[uid]
	if !ok || tier != Active && tier != Backoff {
		return
	}
	q.inFlight.remove(&q.entries, i)
	q.entries.at(i).attempts--
	q.schedulingCycle--
	if tier == Backoff {
		q.incoming.add(Incoming{Active, PopFromBackoffQ}, -1)
	}
	q.attach(i, tier)
}

// Done ends the attempt of the pod in flight with that UID without putting the pod back. Unknown UIDs
// are ignored.
func (q *Queue) Done(now time.Time, uid types.UID) { q.leave(now, uid, Deleted) }

// Bound is Done for a pod that was bound to its node.
func (q *Queue) Bound(now time.Time, uid types.UID) { q.leave(now, uid, Scheduled) }

func (q *Queue) leave(now time.Time, uid types.UID, to Tier) {
	i, ok := q.inFlight.byUID[uid]
	if !ok {
		return
	}
	q.inFlight.remove(&q.entries, i)
	q.moved(now.UnixNano(), i, InFlight, to, "")
	q.entries.release(i)
}

// Rejection says why an attempt failed. Without any plugin it was an error, or the cluster had no nodes:
// such a pod always goes to backoffQ's heap for errors.
type Rejection struct {
	UnschedulablePlugins []string
	PendingPlugins       []string
}

// AddUnschedulableIfNotPresent returns a pod to the queue after a failed attempt: to the unschedulable
// pods, or, if an event that came during the attempt may have helped, to backoffQ or activeQ. pod is its
// newest object, with the UID of the one that was popped.
//
// It fails if a pod of that name is already queued; the attempt has ended nevertheless. A pod that was
// never popped is queued, and the Observer told. (scheduling_queue.go, AddUnschedulablePodIfNotPresent.)
func (q *Queue) AddUnschedulableIfNotPresent(now time.Time, pod *v1.Pod, why Rejection) error {
	t := now.UnixNano()
	i, popped := q.inFlight.byUID[pod.UID]
	if old := q.byName.get(&q.entries, pod.Namespace, pod.Name); old != none {
		q.Done(now, pod.UID)
		return fmt.Errorf("pod %s/%s is already present in the queue (%s)", pod.Namespace, pod.Name, q.entries.at(old).tier)
	}
	if !popped {
		i = q.newEntry(t, pod)
	}
	q.setPod(i, pod)
	q.fail(t, i, why)

	hint := q.hintForInFlight(i, popped)
	from := None
	if popped {
		from = InFlight
		q.inFlight.remove(&q.entries, i)
	}
	if q.opts.Rules.MoveRequestCycle && hint != queueSkip {
		q.backingOff(t, q.entries.at(i)) // for the expiry that the observer is told
		q.moveToBackoffQ(t, i, from, ScheduleAttemptFailure)
		return nil
	}
	q.requeue(t, i, from, hint, ScheduleAttemptFailure)
	return nil
}

// fail counts a failed attempt of entry i and forgets what belonged to the one before.
func (q *Queue) fail(now int64, i int32, why Rejection) {
	e := q.entries.at(i)
	e.unschedulablePlugins = q.sets.of(why.UnschedulablePlugins...)
	e.pendingPlugins = q.sets.of(why.PendingPlugins...)
	e.timestamp = now
	switch {
	case q.opts.Rules.ForgetsBackoff:
		q.backOff(now, e)
	case e.rejected():
		e.unschedulableCount++
		e.errorsCount = 0
		e.backoffExpiry = unset
	default:
		e.errorsCount++
		e.backoffExpiry = unset
	}
	e.wasFlushed = false
	e.flushed = unset
}

// rejected reports whether any plugin rejected the last attempt.
func (e *entry) rejected() bool { return e.unschedulablePlugins != 0 || e.pendingPlugins != 0 }

// Delete takes a pod out of whichever tier it waits in. A pod in flight stays in flight until Done, as
// upstream's does; that it was deleted is told to the Observer in any case.
func (q *Queue) Delete(now time.Time, pod *v1.Pod) {
	q.nominated.delete(pod.UID)
	t := now.UnixNano()
	if i := q.byName.get(&q.entries, pod.Namespace, pod.Name); i != none {
		from := q.detach(i)
		q.byName.remove(&q.entries, pod.Namespace, pod.Name)
		q.moved(t, i, from, Deleted, "")
		q.entries.release(i)
		return
	}
	if i, ok := q.inFlight.byUID[pod.UID]; ok {
		q.moved(t, i, InFlight, Deleted, "")
		return
	}
	q.observer.Moved(Transition{Pod: pod, To: Deleted, Time: now})
}

// Update tells the queue that a pod changed. events are what the change means to plugins: the result of
// upstream's PodSchedulingPropertiesChange(newPod, oldPod, true). In activeQ and backoffQ the pod is
// replaced; a pod in flight has the events replayed if its attempt fails; an unschedulable or gated pod
// moves if a hint says so. A pod that the queue does not know is added.
func (q *Queue) Update(now time.Time, oldPod, newPod *v1.Pod, events []fwk.ClusterEvent) {
	t := now.UnixNano()
	if _, ok := q.inFlight.byUID[newPod.UID]; ok && !q.opts.Rules.MoveRequestCycle {
		for _, ev := range events {
			q.inFlight.record(ev, oldPod, newPod)
		}
		return
	}
	i := q.byName.get(&q.entries, oldPod.Namespace, oldPod.Name)
	if i == none {
		q.Add(now, newPod)
		return
	}
	q.setPod(i, newPod)
	q.nominated.update(oldPod, newPod)
	e := q.entries.at(i)
	switch {
	case e.tier == Backoff && q.opts.Rules.Updating == UpdateActivates:
		q.moveToActiveQ(t, i, Backoff, unscheduledPodUpdate)
	case e.tier == Active || e.tier == Backoff:
		q.heapOf(e).fix(&q.entries, int(e.pos))
	case q.opts.Rules.Updating == UpdateAsksHints:
		for _, ev := range events {
			hint := q.worthRequeuing(i, ev, oldPod, newPod)
			if q.requeue(t, i, e.tier, hint, ev.Label()); e.tier == Active || e.tier == Backoff {
				return
			}
		}
	case podUpdated(oldPod, newPod):
		q.requeueUpdated(t, i)
	}
}

// requeueUpdated requeues the unschedulable entry i because its pod changed, as releases without hints do.
func (q *Queue) requeueUpdated(now int64, i int32) {
	e := q.entries.at(i)
	hint := queueAfterBackoff
	if q.opts.Rules.Updating == UpdateActivates {
		hint = queueImmediately
	}
	if q.opts.Rules.ForgetsBackoff {
		e.unschedulableCount, e.backoffExpiry = 0, unset
	}
	q.requeue(now, i, e.tier, hint, unscheduledPodUpdate)
}

// Activate moves a pod to activeQ at once, whatever its backoff. A pod in flight returns to activeQ or
// backoffQ if its attempt fails. Any other pod is ignored. It reports whether the pod entered activeQ.
func (q *Queue) Activate(now time.Time, pod *v1.Pod) bool {
	i := q.byName.get(&q.entries, pod.Namespace, pod.Name)
	if i != none && q.entries.at(i).tier != Active {
		from := q.entries.at(i).tier
		if from == Backoff {
			q.detach(i)
		}
		return q.moveToActiveQ(now.UnixNano(), i, from, ForceActivate) == Active
	}
	if _, ok := q.inFlight.byUID[pod.UID]; ok {
		q.inFlight.record(eventForceActivate, nil, pod)
	}
	return false
}

// moved tells the observer that entry i went from one tier to another.
func (q *Queue) moved(now int64, i int32, from, to Tier, event string) {
	q.tell(now, i, Transition{From: from, To: to, Event: event})
}

func (q *Queue) tell(now int64, i int32, t Transition) {
	e := q.entries.at(i)
	t.Pod, t.Time, t.Attempts = e.pod, toTime(now), int(e.attempts)
	t.BackoffExpiry = toTime(e.backoffExpiry)
	t.UnschedulablePlugins = q.sets.members[e.unschedulablePlugins]
	t.PendingPlugins = q.sets.members[e.pendingPlugins]
	t.GatingPlugin = q.sets.name(e.gatingPlugin)
	q.observer.Moved(t)
}
