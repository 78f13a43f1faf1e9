package queue

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Queue is a scheduling queue. It is not safe for concurrent use, except for NominatedPodsForNode.
type Queue struct {
	opts     Options
	rules    rules
	plugins  Plugins
	observer Observer

	entries pool
	byName  index // without hidden pods
	hidden  int   // number of pods in flight that are not in byName
	sets    pluginSets

	activeQ       heap
	backoffQ      heap
	errorBackoffQ heap
	unschedulable []int32        // includes gated entities
	pods          [tierCount]int // number of pods by tier
	scratch       []int32        // candidates of the current move request
	unregistered  []answer       // by pluginSet: whether none registered for the request's event

	groups     []*group // nil where freed
	freeGroups []int32
	byGroup    map[types.NamespacedName]int32
	lastPopped int32       // entry.group of the entity popped last
	spareUIDs  []types.UID // capacity for the next group.popped

	inFlight         inFlight
	schedulingCycle  int64
	moveRequestCycle int64 // the scheduling cycle of the last move request, or -1
	nominated        *nominatedPods
	incoming         incoming
}

// New returns an empty queue. A nil plugins means EveryEvent; observer may be nil.
func New(opts Options, plugins Plugins, observer Observer) *Queue {
	q := &Queue{
		opts: opts, rules: opts.Rules.resolve(),
		byName: newIndex(byName), sets: newPluginSets(), byGroup: map[types.NamespacedName]int32{},
		inFlight: newInFlight(), nominated: newNominatedPods(), incoming: newIncoming(),
		moveRequestCycle: -1,
	}
	q.setCallbacks(plugins, observer)
	q.activeQ.less, q.backoffQ.less, q.errorBackoffQ.less = byPriority, byExpiry, byExpiry
	if opts.PopFromBackoffQ {
		q.backoffQ.less = byExpiryThenPriority
	}
	return q
}

func (q *Queue) setCallbacks(plugins Plugins, observer Observer) {
	q.plugins, q.observer = plugins, observer
	if plugins == nil {
		q.plugins = EveryEvent{}
	}
	if observer == nil {
		q.observer = noObserver{}
	}
}

// Options returns the queue's options.
func (q *Queue) Options() Options { return q.opts }

// SchedulingCycle returns the number of entities popped so far.
func (q *Queue) SchedulingCycle() int64 { return q.schedulingCycle }

// Delete removes a waiting pod. As in upstream, a pod in flight stays in flight until Done. The Observer
// receives a transition to Deleted in any case.
func (q *Queue) Delete(now time.Time, pod *v1.Pod) {
	q.nominated.Delete(pod.UID)
	q.delete(now.UnixNano(), q.waitingPod(pod), pod)
}

// delete removes the waiting pod i or, if i is none, reports the deletion of pod. The rest of its group stays
// in its place, after another run of the PreEnqueue plugins. It models deletePod and
// deletePodGroupMember.
func (q *Queue) delete(now int64, i int32, pod *v1.Pod) {
	g, hint := q.groupOf(i, pod), queueSkip
	if g != nil && g.entity != none {
		hint = q.dequeue(g.entity)
	}
	if i != none {
		q.leave(i)
		q.move(now, i, Deleted, "")
		q.forget(i)
	} else {
		q.reportDeleted(now, pod)
	}
	if g != nil && g.entity != none && !q.dropIfEmpty(g) {
		q.requeue(now, g.entity, hint, unscheduledPodAdd)
	}
	q.freeGroup(g)
}

// reportDeleted reports the deletion of a pod that does not wait.
func (q *Queue) reportDeleted(now int64, pod *v1.Pod) {
	t := Transition{To: Deleted}
	if i := q.inFlight.Get(&q.entries, pod.UID); i != none {
		t.From = InFlight
		q.report(now, i, t)
		return
	}
	t.Pod, t.Time = pod, toTime(now)
	q.observer.Moved(t)
}

// AddNominatedPod nominates pod, which must exist and be unassigned, to run on node. An empty node ends its
// nomination.
func (q *Queue) AddNominatedPod(pod *v1.Pod, node string) { q.nominated.Add(pod, node) }

// DeleteNominatedPodIfExists ends the nomination of pod.
func (q *Queue) DeleteNominatedPodIfExists(pod *v1.Pod) { q.nominated.Delete(pod.UID) }

// NominatedPodsForNode returns the pods nominated to run on node, in the order of their nomination. The slice
// is immutable. It may be called concurrently with all other methods.
func (q *Queue) NominatedPodsForNode(node string) []*v1.Pod {
	return q.nominated.OnNode(node)
}

// NominatedNode returns the node that the pod with that UID is nominated to run on, or "".
func (q *Queue) NominatedNode(uid types.UID) string { return q.nominated.nodes[uid] }
