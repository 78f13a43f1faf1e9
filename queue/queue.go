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
	unschedulable []int32       // gated pods too
	pods          [InFlight]int // by tier, those of groups too
	scratch       []int32       // candidates of the present move request

	groups  []group
	byGroup map[types.NamespacedName]int32
	popped  int32 // 1 more than the index of the group that was popped last, or 0 if it was a pod

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
	q.byGroup = map[types.NamespacedName]int32{}
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
	g := q.groupOf(pod)
	if old := q.byName.get(&q.entries, pod.Namespace, pod.Name); old != none {
		if stored := q.storedGroup(old, pod); stored != nil {
			q.deleteMember(now, old, stored, pod)
		} else {
			from = q.detach(old)
			q.byName.remove(&q.entries, pod.Namespace, pod.Name)
			if g != nil {
				q.moved(now, old, from, Deleted, "")
			}
			q.entries.release(old)
		}
	}
	i := q.newEntry(now, pod)
	if g != nil {
		q.entries.at(i).group = q.byGroup[g.key] + 1
		q.addMember(now, i, g, unscheduledPodAdd)
		return
	}
	if from == Backoff && q.opts.PopFromBackoffQ {
		q.runPreEnqueue(i) // it ran for the pod that this one replaces
	}
	q.moveToActiveQ(now, i, from, unscheduledPodAdd)
}

// Entity is what is popped: a pod, or a pod group if Group is not nil.
type Entity struct {
	Pod   PodInfo
	Group *GroupInfo
}

// Pop is PopEntity for a queue without pod groups. If it pops a group, all its pods are in flight, and the
// first of them is returned.
func (q *Queue) Pop(now time.Time) (PodInfo, bool) {
	i, ok := q.popHead(now)
	if !ok {
		return PodInfo{}, false
	}
	if e := q.entries.at(i); e.isGroup() {
		return q.info(q.inFlight.byUID[q.entityGroup(e).flown[0]]), true
	}
	return q.info(i), true
}

// PopEntity takes the pod or pod group and makes it in flight; with PopFromBackoffQ, and if activeQ
// is empty, the head of backoffQ, whether its backoff is over or not. Pods that back off after an error
// are never taken early. It returns false if there is no pod to take.
//
// A popped pod stays in flight until Done, Bound or AddUnschedulableIfNotPresent; a pod group's attempt
// ends with AddAttemptedPodGroupIfNeeded, which must come before the next pop.
func (q *Queue) PopEntity(now time.Time) (Entity, bool) {
	i, ok := q.popHead(now)
	if !ok {
		return Entity{}, false
	}
	e := q.entries.at(i)
	if !e.isGroup() {
		return Entity{Pod: q.info(i)}, true
	}
	g := q.entityGroup(e)
	info, _ := q.Group(g.key)
	for _, uid := range g.flown {
		info.Members = append(info.Members, q.info(q.inFlight.byUID[uid]))
	}
	return Entity{Group: &info}, true
}

// popHead pops an entity and returns its entry.
func (q *Queue) popHead(now time.Time) (int32, bool) {
	for {
		var i int32
		switch {
		case len(q.activeQ.items) > 0:
			i = q.activeQ.items[0].entry
		case q.opts.PopFromBackoffQ && len(q.backoffQ.items) > 0:
			i = q.backoffQ.items[0].entry
			q.count(q.entries.at(i), Active, PopFromBackoffQ)
		default:
			return none, false
		}
		if q.pop(now.UnixNano(), i) {
			return i, true
		}
	}
}

// pop makes the queued entry i in flight. It returns false if a pod of the same UID already is: then
// the entry is dropped, as upstream's unlockedMoveEntityToInFlight does.
func (q *Queue) pop(now int64, i int32) bool {
	e := q.entries.at(i)
	from := q.detach(i)
	if e.isGroup() {
		group := e.group
		if !q.popGroup(now, q.entityGroup(e)) {
			return false
		}
		q.popped = group
		return true
	}
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
	q.popped = 0
	q.moved(now, i, from, InFlight, "")
	return true
}

// Unpop takes the last Pop of the pod in flight with that UID back, as if it had not been: the pod is in
// tier again, where it was popped from. The Observer is not told. Unknown UIDs are ignored.
func (q *Queue) Unpop(uid types.UID, tier Tier) {
	i, ok := q.inFlight.byUID[uid]
	if !ok || tier != Active && tier != Backoff || q.entries.at(i).group != 0 {
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
func (q *Queue) Done(now time.Time, uid types.UID) { q.endFlight(now, uid, Deleted) }

// Bound is Done for a pod that was bound to its node.
func (q *Queue) Bound(now time.Time, uid types.UID) { q.endFlight(now, uid, Scheduled) }

// endFlight takes the pod with that UID out of flight, for good: it is Scheduled or Deleted.
func (q *Queue) endFlight(now time.Time, uid types.UID, to Tier) {
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
	if g := q.storedGroup(none, pod); g != nil {
		q.failMember(t, pod, g, why)
		return nil
	}
	q.popped = 0
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
	e.unschedulablePlugins = q.sets.idOf(why.UnschedulablePlugins...)
	e.pendingPlugins = q.sets.idOf(why.PendingPlugins...)
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
	i := q.byName.get(&q.entries, pod.Namespace, pod.Name)
	if g := q.storedGroup(i, pod); g != nil {
		q.deleteMember(t, i, g, pod)
		return
	}
	if i == none {
		q.deletedElsewhere(t, pod)
		return
	}
	from := q.detach(i)
	q.byName.remove(&q.entries, pod.Namespace, pod.Name)
	q.moved(t, i, from, Deleted, "")
	q.entries.release(i)
}

// deletedElsewhere tells of the deletion of a pod that waits nowhere.
func (q *Queue) deletedElsewhere(now int64, pod *v1.Pod) {
	t := Transition{To: Deleted}
	if i, ok := q.inFlight.byUID[pod.UID]; ok {
		t.From = InFlight
		q.tellObserver(now, i, t)
		return
	}
	t.Pod, t.Time = pod, toTime(now)
	q.observer.Moved(t)
}

// Update tells the queue that a pod changed. events are what the change means to plugins: the result of
// upstream's PodSchedulingPropertiesChange(newPod, oldPod, true). In activeQ and backoffQ the pod is
// replaced; a pod in flight has the events replayed if its attempt fails; an unschedulable or gated pod
// moves if a hint says so. A pod that the queue does not know is added, and so is another pod of the name.
func (q *Queue) Update(now time.Time, oldPod, newPod *v1.Pod, events []fwk.ClusterEvent) {
	t := now.UnixNano()
	i := q.byName.get(&q.entries, oldPod.Namespace, oldPod.Name)
	if g := q.storedGroup(i, oldPod); g != nil {
		if !q.updateMember(t, i, g, oldPod, newPod, events) {
			q.Add(now, newPod)
		}
		return
	}
	if _, ok := q.inFlight.byUID[newPod.UID]; ok && !q.opts.Rules.MoveRequestCycle {
		for _, ev := range events {
			q.inFlight.record(ev, oldPod, newPod)
		}
		return
	}
	if i == none || q.entries.at(i).pod.UID != newPod.UID {
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
	if g := q.storedGroup(i, pod); g != nil {
		return q.activateMember(now.UnixNano(), g, pod)
	}
	if i != none && q.entries.at(i).tier != Active {
		from := q.entries.at(i).tier
		if from == Backoff {
			q.detach(i)
		}
		if q.moveToActiveQ(now.UnixNano(), i, from, ForceActivate) == Active {
			return true
		}
	}
	if _, ok := q.inFlight.byUID[pod.UID]; ok {
		q.inFlight.record(eventForceActivate, nil, pod)
	}
	return false
}

// moved tells the observer that entry i went from one tier to another.
func (q *Queue) moved(now int64, i int32, from, to Tier, event string) {
	if e := q.entries.at(i); e.isGroup() {
		q.groupMoved(now, q.entityGroup(e), to, event)
		return
	}
	q.tellObserver(now, i, Transition{From: from, To: to, Event: q.opts.Rules.Labels.Of(event)})
}

// tellObserver hands t to the observer, filled in with what is known of entry i.
func (q *Queue) tellObserver(now int64, i int32, t Transition) {
	e := q.entries.at(i)
	t.Pod, t.Time, t.Attempts = e.pod, toTime(now), int(e.attempts)
	t.BackoffExpiry = toTime(q.rootOf(e).backoffExpiry)
	t.UnschedulablePlugins = q.sets.members[e.unschedulablePlugins]
	t.PendingPlugins = q.sets.members[e.pendingPlugins]
	t.GatingPlugin = q.sets.onlyName(e.gatingPlugin)
	q.observer.Moved(t)
}

// rootOf returns the entry whose backoff and flushes are e's: its group's, if it is queued with one.
func (q *Queue) rootOf(e *entry) *entry {
	if e.group != 0 && e.tier.Queued() {
		if entity := q.groups[e.group-1].entity; entity != none {
			return q.entries.at(entity)
		}
	}
	return e
}
