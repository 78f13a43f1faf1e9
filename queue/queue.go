package queue

import (
	"fmt"
	"time"

	"github.com/schedq/schedq/queue/ebb"
	"github.com/schedq/schedq/queue/nominated"
	"github.com/schedq/schedq/queue/pluginset"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
)

// Queue holds the pods that wait to be scheduled. It is not safe for concurrent use.
type Queue struct {
	opts     Options
	rules    rules
	plugins  Plugins
	observer Observer

	entries pool
	byName  index // the pods, but those that are hidden
	hidden  int   // in flight, and not found by their names
	sets    pluginset.Table

	activeQ       heap
	backoffQ      heap
	errorBackoffQ heap
	unschedulable []int32        // gated entities too
	pods          [tierCount]int // how many are where
	scratch       []int32        // candidates of the present move request
	isDeaf        []answer       // by the set of plugins: whether none of them registered for its event

	groups     []*group // nil where one was freed
	freeGroups []int32
	byGroup    ebb.Map[types.NamespacedName, int32]
	popped     int32 // the entry.group of what was popped last: 0 if it was a pod alone

	inFlight         inFlight
	schedulingCycle  int64
	moveRequestCycle int64 // the scheduling cycle of the last move request, or -1
	nominated        nominated.Pods
	incoming         incoming
}

// New returns an empty queue. A nil plugins is EveryEvent; a nil observer does not look.
func New(opts Options, plugins Plugins, observer Observer) *Queue {
	q := &Queue{
		opts: opts, rules: opts.Rules.resolve(), plugins: plugins, observer: observer,
		byName: newIndex(), sets: pluginset.New(),
		inFlight: newInFlight(), nominated: nominated.New(), incoming: newIncoming(),
		moveRequestCycle: -1,
	}
	if plugins == nil {
		q.plugins = EveryEvent{}
	}
	if observer == nil {
		q.observer = discard{}
	}
	q.activeQ.less, q.backoffQ.less, q.errorBackoffQ.less = byPriority, byExpiry, byExpiry
	if opts.PopFromBackoffQ {
		q.backoffQ.less = byExpiryThenPriority
	}
	return q
}

// Options returns the options the queue was made with.
func (q *Queue) Options() Options { return q.opts }

// SchedulingCycle counts the pods popped so far.
func (q *Queue) SchedulingCycle() int64 { return q.schedulingCycle }

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

// Entity is what is popped: a pod, or a pod group if Group is not nil.
type Entity struct {
	Pod   PodInfo
	Group *GroupInfo
}

// Pop is PopEntity for a queue without pod groups. If it pops a group, all its pods are in flight, and the
// first of them is returned.
func (q *Queue) Pop(now time.Time) (PodInfo, bool) {
	entity, ok := q.PopEntity(now)
	if ok && entity.Group != nil {
		return entity.Group.Members[0], true
	}
	return entity.Pod, ok
}

// PopEntity takes the pod or pod group and makes it in flight; with PopFromBackoffQ, and if activeQ
// is empty, the head of backoffQ, whether its backoff is over or not. Pods that back off after an error
// are never taken early. It returns false if there is no pod to take.
//
// A popped pod stays in flight until Done, Bound or AddUnschedulableIfNotPresent; a pod group's attempt
// ends with AddAttemptedPodGroupIfNeeded, which must come before the next pop.
func (q *Queue) PopEntity(now time.Time) (Entity, bool) {
	for {
		var i int32
		switch {
		case len(q.activeQ.items) > 0:
			i = q.activeQ.items[0].entry
		case q.opts.PopFromBackoffQ && len(q.backoffQ.items) > 0:
			i = q.backoffQ.items[0].entry
			q.count(i, Active, PopFromBackoffQ)
		default:
			return Entity{}, false
		}
		q.remove(i)
		group := q.entries.At(i).group
		if group != 0 {
			if !q.popGroup(now.UnixNano(), q.groups[group-1]) {
				continue
			}
			q.popped = group
			return Entity{Group: q.poppedGroup(q.groups[group-1])}, true
		}
		if !q.takeOff(now.UnixNano(), i) {
			continue
		}
		q.popped = 0
		q.schedulingCycle++
		q.entries.At(i).cycle = q.schedulingCycle
		q.move(now.UnixNano(), i, InFlight, "")
		return Entity{Pod: q.info(i)}, true
	}
}

// takeOff makes the pod i, which was popped, in flight. It returns false if one of its UID already is: then the entry is dropped, as
// upstream's unlockedMoveEntityToInFlight does.
func (q *Queue) takeOff(now int64, i int32) bool {
	e := q.entries.At(i)
	e.attempts++
	if q.inFlight.with(e.pod.UID) != none {
		q.observer.Failed(fmt.Errorf("pod %s/%s was popped while its last attempt is still in flight: it is dropped", e.pod.Namespace, e.pod.Name))
		q.move(now, i, Deleted, "")
		q.forget(i)
		return false
	}
	q.inFlight.push(&q.entries, i)
	if other := q.firstInFlight(e.pod); other != none {
		q.byName.put(&q.entries, other) // i itself, if no older one is hidden
	}
	return true
}

// Done ends the attempt of the pod in flight with that UID without putting the pod back. Unknown UIDs
// are ignored.
func (q *Queue) Done(now time.Time, uid types.UID) { q.endFlight(now, uid, Deleted) }

// Bound is Done for a pod that was bound to its node.
func (q *Queue) Bound(now time.Time, uid types.UID) { q.endFlight(now, uid, Scheduled) }

// endFlight takes the pod with that UID out of flight, for good: it is Scheduled or Deleted.
func (q *Queue) endFlight(now time.Time, uid types.UID, to Tier) {
	if i := q.inFlight.with(uid); i != none {
		q.inFlight.remove(&q.entries, i, uid)
		q.move(now.UnixNano(), i, to, "")
		q.forget(i)
	}
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
	i := q.inFlight.with(pod.UID)
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
		q.inFlight.remove(&q.entries, i, pod.UID)
		if q.hidden > 0 {
			q.byName.put(&q.entries, i) // before another one in flight, which is hidden in its turn
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

// rejected reports whether any plugin rejected the last attempt.
func (e *entry) rejected() bool { return e.unschedulablePlugins != 0 || e.pendingPlugins != 0 }

// Delete takes a pod out of whichever tier it waits in. A pod in flight stays in flight until Done, as
// upstream's does; that it was deleted is told to the Observer in any case.
func (q *Queue) Delete(now time.Time, pod *v1.Pod) {
	q.nominated.Delete(pod.UID)
	q.delete(now.UnixNano(), q.waiting(pod), pod)
}

// delete takes the pod i out, or tells of one that waits nowhere, if i is none. What is left of its group stays where it is, and is
// asked for its gates. (deletePod, deletePodGroupMember.)
func (q *Queue) delete(now int64, i int32, pod *v1.Pod) {
	rest, stays := q.groupOf(i, pod), queueSkip
	if rest != nil && rest.entity != none {
		stays = q.withdraw(rest.entity)
	}
	if i != none {
		q.takeOut(i)
		q.move(now, i, Deleted, "")
		q.forget(i)
	} else {
		q.deletedElsewhere(now, pod)
	}
	if rest != nil && rest.entity != none && !q.dropIfEmpty(rest) {
		q.requeue(now, rest.entity, stays, unscheduledPodAdd)
	}
	q.freeGroup(rest)
}

// deletedElsewhere tells of the deletion of a pod that waits nowhere.
func (q *Queue) deletedElsewhere(now int64, pod *v1.Pod) {
	t := Transition{To: Deleted}
	if i := q.inFlight.with(pod.UID); i != none {
		t.From = InFlight
		q.tell(now, i, t)
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
	i := q.waiting(newPod)
	g, entity := q.groupOf(i, oldPod), q.entityOf(i)
	isIncomplete := g != nil && g.object == nil
	if q.inFlight.with(newPod.UID) != none && !isIncomplete && !q.rules.forgetsPopped {
		for _, ev := range events {
			q.inFlight.record(ev, oldPod, newPod)
		}
		return
	}
	if !isIncomplete && (i == none || entity != none && q.entries.At(i).pod.UID != newPod.UID) {
		q.Add(now, newPod)
		return
	}
	if i == none {
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
			q.remove(entity)
			move = q.moveOutOfBackoffQ
		}
		if move(now.UnixNano(), entity, ForceActivate) == Active {
			return true
		}
	}
	if q.inFlight.with(pod.UID) != none {
		q.inFlight.record(eventForceActivate, nil, pod)
	}
	return false
}

// AddNominatedPod nominates pod to run on node, as after a preemption; an empty node ends its
// nomination. The pod must exist and not be assigned.
func (q *Queue) AddNominatedPod(pod *v1.Pod, node string) { q.nominated.Add(pod, node) }

// DeleteNominatedPodIfExists ends the nomination of pod.
func (q *Queue) DeleteNominatedPodIfExists(pod *v1.Pod) { q.nominated.Delete(pod.UID) }

// NominatedPodsForNode returns the pods nominated to run on node, in the order of their nomination. The slice
// stays as it is, and must.
func (q *Queue) NominatedPodsForNode(node string) []*v1.Pod {
	return q.nominated.On(node)
}

// NominatedNode returns the node that the pod with that UID is nominated to run on, or "".
func (q *Queue) NominatedNode(uid types.UID) string { return q.nominated.Node(uid) }
