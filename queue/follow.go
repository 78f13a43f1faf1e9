package queue

import (
	"time"

	"github.com/schedq/schedq/queue/labels"
	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/types"
)

// Following a real scheduler: pods are put where it was seen to have them, whatever the queue itself would do. Two functions
// do that for all of it: seize takes a pod out of wherever it is, and put puts it somewhere else.

// Observation is a move that was seen in the real scheduler.
type Observation struct {
	// Pod is the pod's object. Where a source knows only the name, whoever observes makes up a UID.
	Pod *v1.Pod
	To  Tier
	// Event is upstream's label of the cause. ScheduleAttemptFailure means that an attempt ended.
	Event string
	// UnschedulablePlugins rejected the attempt that ended. None: an error, or no nodes.
	UnschedulablePlugins []string
	// GatingPlugin keeps the pod gated. Only if To is Gated.
	GatingPlugin string
	// BackoffExpiry is when the backoff ends, if that is known otherwise than by the pod's own failures: a pod
	// group's pods back off together.
	BackoffExpiry time.Time
	// Inferred means that the move itself was not seen, but something that follows from it.
	Inferred bool
	// Restated means that the scheduler said again where the pod is, and nothing moved.
	Restated bool
}

// Observe makes the queue follow what the real scheduler did, whether the model would have done it or
// not. Attempts, backoff and counts are kept as if it had. No hint and no plugin is asked. A pod that is followed is queued alone.
func (q *Queue) Observe(now time.Time, o Observation) {
	t := now.UnixNano()
	if o.Restated {
		q.restate(now, o)
		return
	}
	i := q.seizeObserved(t, o)
	e := q.entries.at(i)
	from := e.tier
	switch o.To {
	case InFlight:
		e.attempts++
		q.schedulingCycle++
		e.cycle = q.schedulingCycle
		if from == Backoff {
			q.count(i, Active, PopFromBackoffQ)
		}
	case Scheduled, Deleted:
		q.nominated.Delete(e.pod.UID)
	default:
		if o.Event == ScheduleAttemptFailure && from != Pending { // its group's attempt ended, and its own before
			q.fail(t, i, Rejection{UnschedulablePlugins: o.UnschedulablePlugins})
		}
		q.settle(t, i, o)
		if o.To.Queued() {
			q.count(i, min(o.To, Unschedulable), o.Event)
		}
	}
	q.put(i, o.To)
	q.tell(t, i, Transition{From: from, To: o.To, Event: o.Event, Observed: !o.Inferred})
	if o.To == Scheduled || o.To == Deleted {
		q.release(i)
	}
}

// seizeObserved takes the pod that o speaks of out of wherever it is; one that is not known gets an entry. An attempt that ends is
// that of the pod in flight, if another of its name waits.
func (q *Queue) seizeObserved(now int64, o Observation) int32 {
	waiting, flying := q.waiting(o.Pod), q.flying(o.Pod)
	if flying != none && labels.IsPodAdd(o.Event) {
		q.seize(flying) // a new pod of the same name: the old one's end was not seen
		q.release(flying)
		flying = none
	}
	i := waiting
	if flying != none && (waiting == none || o.Event == ScheduleAttemptFailure || o.To == Scheduled) {
		i = flying
	}
	from := None
	if i != none {
		q.seize(i)
		if from = q.entries.at(i).tier; labels.IsPodAdd(o.Event) && from != Incomplete && from != Pending {
			q.release(i) // this too is a new pod of the same name
			i = none
		}
	}
	if i == none {
		i = q.newEntry(entry{timestamp: now})
		q.setTier(q.entries.at(i), from)
	}
	q.setPod(i, o.Pod)
	return i
}

// settle sets what is known of the pod i where it waits from now on.
func (q *Queue) settle(now int64, i int32, o Observation) {
	e := q.entries.at(i)
	e.gatingPlugin = 0
	if o.To == Gated && o.GatingPlugin != "" {
		e.gatingPlugin = q.sets.Of(o.GatingPlugin)
		e.unschedulablePlugins = q.sets.With(e.unschedulablePlugins, o.GatingPlugin)
	}
	if o.Event == UnschedulableTimeout {
		e.flushed = now
	}
	if o.To == Active {
		q.setInitialAttempt(i, now)
	}
	q.setExpiry(i)
	if !o.BackoffExpiry.IsZero() {
		e.backoffExpiry = o.BackoffExpiry.UnixNano()
	}
}

// restate passes on a move that the scheduler reported twice.
func (q *Queue) restate(now time.Time, o Observation) {
	t := Transition{From: o.To, To: o.To, Event: o.Event, Observed: true}
	if i := q.waiting(o.Pod); i != none {
		q.tell(now.UnixNano(), i, t)
		return
	}
	t.Pod, t.Time = o.Pod, now
	q.observer.Moved(t)
}

// seize takes the pod i out of wherever it is, alone: what is left of its group stays where it is. It is found by nobody then.
func (q *Queue) seize(i int32) {
	e := q.entries.at(i)
	if e.tier == InFlight {
		q.inFlight.remove(&q.entries, i)
		q.unname(i)
		e.group = 0
		return
	}
	q.unname(i)
	entity, tier := q.entityOf(i), e.tier
	if entity != none {
		q.remove(entity)
	}
	q.takeOut(i)
	if e.group != 0 {
		g := q.groups[e.group-1]
		if entity != none && !q.dropIfEmpty(g) {
			q.insert(entity, tier)
		}
		q.freeGroup(g)
		e.group = 0
	}
}

// put puts the pod i, which was seized or is new, into tier. What had its name or UID there is let go: its end was not seen.
func (q *Queue) put(i int32, tier Tier) {
	e := q.entries.at(i)
	switch tier {
	case None, Scheduled, Deleted:
	case InFlight:
		q.letGo(e.pod.UID)
		q.inFlight.push(&q.entries, i)
		q.nameFlying(i)
	default:
		if old := q.waiting(e.pod); old != none {
			q.seize(old)
			q.release(old)
		}
		q.nameWaiting(i)
		q.insert(i, tier)
	}
	q.setTier(e, tier)
}

// letGo drops the pod in flight with that UID, the end of whose attempt was not seen.
func (q *Queue) letGo(uid types.UID) {
	if i, ok := q.inFlight.byUID[uid]; ok {
		q.seize(i)
		q.release(i)
	}
}

// Refresh replaces the object of a pod wherever it is, without asking what the change means. It reports
// whether the queue knows the pod.
func (q *Queue) Refresh(pod *v1.Pod) bool {
	i := q.waiting(pod)
	if i == none {
		if i = q.flying(pod); i == none {
			return false
		}
	}
	e := q.entries.at(i)
	q.nominated.Update(e.pod, pod)
	if e.tier == InFlight && e.pod.UID != pod.UID {
		q.letGo(pod.UID)
		delete(q.inFlight.byUID, e.pod.UID)
		q.inFlight.byUID[pod.UID] = i
	}
	q.setPod(i, pod)
	if h := q.heapAt(e.place); h != nil {
		h.fix(&q.entries, int(e.pos))
	}
	return true
}

// Restore puts a pod that is not queued into a queued tier, with the attempts, times and plugins of p, as
// one that has been there before: what is not known of p is its zero value. No plugin and no hint is
// asked, and the Observer is told of a move from no tier, without an event.
func (q *Queue) Restore(now time.Time, p PodInfo) {
	t := now.UnixNano()
	q.nominated.Add(p.Pod, p.Pod.Status.NominatedNodeName)
	i := q.newEntry(entry{
		pod: p.Pod, priority: priorityOf(p.Pod), timestamp: t,
		attempts: int32(p.Attempts), unschedulableCount: int32(p.UnschedulableCount), errorsCount: int32(p.ConsecutiveErrorsCount),
		unschedulablePlugins: q.sets.Of(p.UnschedulablePlugins...), pendingPlugins: q.sets.Of(p.PendingPlugins...),
	})
	e := q.entries.at(i)
	if !p.Timestamp.IsZero() {
		e.timestamp = p.Timestamp.UnixNano()
	}
	e.initialAttempt = e.timestamp
	if !p.InitialAttemptTimestamp.IsZero() {
		e.initialAttempt = p.InitialAttemptTimestamp.UnixNano()
	}
	q.setExpiry(i)
	q.put(i, p.Tier)
	q.tell(t, i, Transition{To: p.Tier})
}

// Unpop takes the last Pop of the pod in flight with that UID back, as if it had not been: the pod is in
// tier again, where it was popped from. The Observer is not told. Unknown UIDs are ignored.
func (q *Queue) Unpop(uid types.UID, tier Tier) {
	i, ok := q.inFlight.byUID[uid]
	if !ok || tier != Active && tier != Backoff || q.entries.at(i).group != 0 {
		return
	}
	q.seize(i)
	q.entries.at(i).attempts--
	q.schedulingCycle--
	if tier == Backoff {
		q.incoming.add(Incoming{Active, PopFromBackoffQ}, -1)
	}
	q.put(i, tier)
}

// Regroup puts pods that were followed one by one, by Observe, together with their pod groups, of which
// objects are the PodGroups. Each group is then where the first of its queued pods is. The Observer is not
// told.
func (q *Queue) Regroup(objects []*schedulingv1beta1.PodGroup) {
	for _, object := range objects {
		q.groupNamed(nameOf(object)).object = object
	}
	for i := range q.entries.used {
		e := q.entries.at(i)
		if e.pod == nil || e.group != 0 || e.tier == InFlight {
			continue
		}
		if g := q.groupNamedBy(e.pod); g != nil {
			q.regroup(i, g)
		}
	}
}

// regroup puts the pod i with g.
func (q *Queue) regroup(i int32, g *group) {
	e := q.entries.at(i)
	tier := e.tier
	q.remove(i)
	e.group = g.number + 1
	if g.object == nil || !tier.Queued() {
		q.setTier(e, Incomplete)
		g.incomplete = append(g.incomplete, i)
		return
	}
	if g.entity == none {
		q.newGroupEntity(g, e)
		root := q.entries.at(g.entity)
		root.attempts, root.unschedulableCount, root.errorsCount = e.attempts, e.unschedulableCount, e.errorsCount
		root.backoffExpiry, root.gatingPlugin, root.tier = e.backoffExpiry, e.gatingPlugin, tier
	}
	root := q.entries.at(g.entity)
	q.remove(g.entity)
	e.backoffExpiry = unset
	q.setTier(e, root.tier)
	q.join(g, i)
	q.insert(g.entity, root.tier)
}
