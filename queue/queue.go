package queue

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Queue holds the pods that wait to be scheduled. It is not safe for concurrent use, but for NominatedPodsForNode.
type Queue struct {
	opts     Options
	rules    rules
	plugins  Plugins
	observer Observer

	entries pool
	byName  index // the pods, but those that are hidden
	hidden  int   // in flight, and not found by their names
	sets    pluginSets

	activeQ       heap
	backoffQ      heap
	errorBackoffQ heap
	unschedulable []int32        // gated entities too
	pods          [tierCount]int // how many are where
	scratch       []int32        // candidates of the present move request
	isDeaf        []answer       // by the set of plugins: whether none of them registered for its event

	groups     []*group // nil where one was freed
	freeGroups []int32
	byGroup    shrinkingMap[types.NamespacedName, int32]
	popped     int32       // the entry.group of what was popped last: 0 if it was a pod alone
	spareUIDs  []types.UID // room for the next group.flown

	inFlight         inFlight
	schedulingCycle  int64
	moveRequestCycle int64 // the scheduling cycle of the last move request, or -1
	nominated        *nominatedPods
	incoming         incoming
}

// New returns an empty queue. A nil plugins is EveryEvent; a nil observer does not look.
func New(opts Options, plugins Plugins, observer Observer) *Queue {
	q := &Queue{
		opts: opts, rules: opts.Rules.resolve(), plugins: plugins, observer: observer,
		byName: byName(), sets: newPluginSets(),
		inFlight: newInFlight(), nominated: &nominatedPods{}, incoming: newIncoming(),
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
	if i := q.inFlight.with(&q.entries, pod.UID); i != none {
		t.From = InFlight
		q.tell(now, i, t)
		return
	}
	t.Pod, t.Time = pod, toTime(now)
	q.observer.Moved(t)
}

// AddNominatedPod nominates pod to run on node, as after a preemption; an empty node ends its
// nomination. The pod must exist and not be assigned.
func (q *Queue) AddNominatedPod(pod *v1.Pod, node string) { q.nominated.Add(pod, node) }

// DeleteNominatedPodIfExists ends the nomination of pod.
func (q *Queue) DeleteNominatedPodIfExists(pod *v1.Pod) { q.nominated.Delete(pod.UID) }

// NominatedPodsForNode returns the pods nominated to run on node, in the order of their nomination. The slice
// stays as it is, and must. It may be called beside all other methods.
func (q *Queue) NominatedPodsForNode(node string) []*v1.Pod {
	return q.nominated.On(node)
}

// NominatedNode returns the node that the pod with that UID is nominated to run on, or "".
func (q *Queue) NominatedNode(uid types.UID) string { return q.nominated.Node(uid) }
