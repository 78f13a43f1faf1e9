package queue

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
)

// With the gate GenericWorkload, the pods of a pod group are queued as one entity: they are popped together,
// and what wakes one wakes all. A pod whose PodGroup was not observed is Incomplete; one that comes, or
// comes back, while its group is being scheduled is Pending until the group is requeued.
// (scheduling_queue.go, pod_group_member_pods.go and workload_forest.go; without composite pod groups.)

// group is what the queue knows of a pod group.
type group struct {
	key    types.NamespacedName
	object *schedulingv1beta1.PodGroup // nil until it was observed
	// entity is the group's entry while it is in a tier of the queue, with members in upstream's order.
	entity  int32
	members []int32
	// flight is the group's entry after its pop until the attempt ends, and flown who was popped.
	flight int32
	flown  []types.UID

	incomplete, pending []int32
}

func (g *group) clone() group {
	c := *g
	c.members, c.flown = slices.Clone(g.members), slices.Clone(g.flown)
	c.incomplete, c.pending = slices.Clone(g.incomplete), slices.Clone(g.pending)
	return c
}

// GroupOf returns the name of the pod group that pod is queued with, if the gate is on. (isPodGroupMember.)
func (o Options) GroupOf(pod *v1.Pod) (types.NamespacedName, bool) {
	if !o.GenericWorkload || pod.Spec.SchedulingGroup == nil || pod.Spec.SchedulingGroup.PodGroupName == nil {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{Namespace: pod.Namespace, Name: *pod.Spec.SchedulingGroup.PodGroupName}, true
}

// groupNamed returns the index in q.groups of the group of that name, which it makes if need be.
func (q *Queue) groupNamed(key types.NamespacedName) int32 {
	i, ok := q.byGroup[key]
	if !ok {
		i = int32(len(q.groups))
		q.groups = append(q.groups, group{key: key, entity: none, flight: none})
		q.byGroup[key] = i
	}
	return i
}

// groupOf returns the group of pod, or nil if it is queued alone.
func (q *Queue) groupOf(pod *v1.Pod) *group {
	if key, ok := q.opts.GroupOf(pod); ok {
		return &q.groups[q.groupNamed(key)]
	}
	return nil
}

// storedGroup returns the group of the pod that is queued as entry i or, if i is none, is in flight with pod's UID; nil if
// that is queued alone. What the caller's pod says of its group matters only if the queue does not know it.
func (q *Queue) storedGroup(i int32, pod *v1.Pod) *group {
	if i == none {
		if flying, ok := q.inFlight.byUID[pod.UID]; ok {
			pod = q.entries.at(flying).pod
		}
		return q.groupOf(pod)
	}
	if at := q.entries.at(i).group; at != 0 {
		return &q.groups[at-1]
	}
	return nil
}

// isGroup reports whether e is the entity of a group, and not a pod.
func (e *entry) isGroup() bool { return e.pod == nil && e.group != 0 }

// entityGroup returns the group of an entity.
func (q *Queue) entityGroup(e *entry) *group { return &q.groups[e.group-1] }

// size is how many pods the entity e is.
func (q *Queue) size(e *entry) int {
	if e.isGroup() {
		return len(q.entityGroup(e).members)
	}
	return 1
}

// addMember puts the detached entry i with its group, wherever that is. (addPodGroupMember.)
func (q *Queue) addMember(now int64, i int32, g *group, event string) {
	e := q.entries.at(i)
	if !e.indexed {
		q.byName.put(&q.entries, i)
	}
	if e.tier == InFlight && g.object != nil { // what follows is the group's doing
		q.memberMoved(now, i, Pending, event)
	}
	switch {
	case g.object == nil:
		g.incomplete = append(g.incomplete, i)
		q.memberMoved(now, i, Incomplete, event)
	case g.entity != none:
		hint := q.withdraw(g.entity)
		q.join(g, i)
		q.requeue(now, g.entity, None, hint, unscheduledPodAdd)
	case q.popped == e.group:
		g.pending = append(g.pending, i)
		if e.tier != Pending {
			q.memberMoved(now, i, Pending, event)
		}
	default:
		entity := q.newGroupEntity(g)
		root := q.entries.at(entity)
		root.timestamp, root.initialAttempt = e.timestamp, e.initialAttempt
		g.entity = entity
		q.join(g, i)
		q.moveToActiveQ(now, entity, None, unscheduledPodAdd)
	}
}

// newGroupEntity takes a free entry for the group as a whole.
func (q *Queue) newGroupEntity(g *group) int32 {
	i := q.entries.allocate()
	*q.entries.at(i) = entry{
		group: q.byGroup[g.key] + 1, priority: groupPriority(g.object),
		initialAttempt: unset, backoffExpiry: unset, flushed: unset, prev: none, next: none,
	}
	return i
}

// groupPriority models schedutil.PodGroupPriority.
func groupPriority(object *schedulingv1beta1.PodGroup) int32 {
	if object.Spec.Priority != nil {
		return *object.Spec.Priority
	}
	return 0
}

// join makes entry i a member of g's entity, at its place. (framework/types.go, AddPod.)
func (q *Queue) join(g *group, i int32) {
	at, _ := slices.BinarySearchFunc(g.members, i, func(a, b int32) int { return q.compareMembers(q.entries.at(a), q.entries.at(b)) })
	g.members = slices.Insert(g.members, at, i)
}

// compareMembers models PodGroupMemberPodsOrderingFunc.
func (q *Queue) compareMembers(a, b *entry) int {
	return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(b.attempts, a.attempts),
		cmp.Compare(a.timestamp, b.timestamp), cmp.Compare(a.pod.Name, b.pod.Name))
}

// withdraw takes a group's entity out of its tier, and returns what would have it requeued there.
// (deleteFromAnyQueue.)
func (q *Queue) withdraw(entity int32) strategy {
	switch q.detach(entity) {
	case Active:
		return queueImmediately
	case Backoff:
		return queueAfterBackoff
	}
	return queueSkip
}

// memberMoved puts the member i where to says, and tells the observer.
func (q *Queue) memberMoved(now int64, i int32, to Tier, event string) {
	e := q.entries.at(i)
	from := e.tier
	e.tier = to
	q.tellObserver(now, i, Transition{From: from, To: to, Event: event})
}

// groupMoved tells of the members of g's entity, which is now in tier to.
func (q *Queue) groupMoved(now int64, g *group, to Tier, event string) {
	for _, i := range g.members {
		if e := q.entries.at(i); e.tier != to || to == Gated && event != unscheduledPodAdd {
			q.memberMoved(now, i, to, event)
		}
	}
}

// popGroup makes the members of g's entity in flight, which is out of its tier. It returns false if all of
// them are already. (unlockedMoveEntityToInFlight.)
func (q *Queue) popGroup(now int64, g *group) bool {
	root := q.entries.at(g.entity)
	root.attempts++
	if g.flight != none {
		q.entries.release(g.flight) // its attempt was never ended
	}
	g.flown = g.flown[:0]
	var flying []int32
	for _, i := range g.members {
		e := q.entries.at(i)
		e.attempts++
		q.byName.remove(&q.entries, e.pod.Namespace, e.pod.Name)
		if _, ok := q.inFlight.byUID[e.pod.UID]; ok {
			q.observer.Failed(fmt.Errorf("pod %s/%s was popped while its last attempt is still in flight: it is dropped", e.pod.Namespace, e.pod.Name))
			q.memberMoved(now, i, Deleted, "")
			q.entries.release(i)
			continue
		}
		q.inFlight.push(&q.entries, i)
		flying = append(flying, i)
		g.flown = append(g.flown, e.pod.UID)
	}
	entity := g.entity
	g.entity, g.members, g.flight = none, nil, none
	if len(flying) == 0 {
		q.entries.release(entity)
		return false
	}
	q.schedulingCycle++
	g.flight, root.tier = entity, InFlight
	for _, i := range flying {
		q.entries.at(i).cycle = q.schedulingCycle
		q.memberMoved(now, i, InFlight, "")
	}
	return true
}

// GroupOutcome is what an attempt of a pod group came to.
type GroupOutcome uint8

// The outcomes, by the status of the pod group's scheduling cycle: Success, Rejected (Unschedulable), Error.
const (
	GroupScheduled GroupOutcome = iota
	GroupRejected
	GroupFailed
)

// AddAttemptedPodGroupIfNeeded ends the attempt of the pod group that was popped last, after every pod of it
// was bound, given back by AddUnschedulableIfNotPresent, or done with. Those that wait for the group are
// requeued as a new entity: to activeQ if the attempt succeeded for others, else to backoffQ. It fails if
// the group is queued already, or was not popped. (scheduling_queue.go, function of that name.)
func (q *Queue) AddAttemptedPodGroupIfNeeded(now time.Time, name types.NamespacedName, outcome GroupOutcome) error {
	g := &q.groups[q.groupNamed(name)]
	if g.entity != none {
		return fmt.Errorf("pod group %s is already present in the queue (%s)", name, q.entries.at(g.entity).tier)
	}
	if g.flight == none {
		return fmt.Errorf("pod group %s was never popped, or its attempt has ended", name)
	}
	q.popped = 0
	entity, pending := g.flight, g.pending
	g.flight, g.pending = none, nil
	if len(pending) == 0 {
		q.entries.release(entity)
		return nil
	}
	if g.object == nil {
		q.entries.release(entity)
		g.incomplete = append(g.incomplete, pending...)
		for _, i := range pending {
			q.memberMoved(now.UnixNano(), i, Incomplete, ScheduleAttemptFailure)
		}
		return nil
	}
	e := q.entries.at(entity)
	e.tier, e.priority = None, groupPriority(g.object)
	g.entity = entity
	again := false // one that was tried waits again
	for _, i := range pending {
		q.join(g, i)
		again = again || slices.Contains(g.flown, q.entries.at(i).pod.UID)
	}
	switch outcome {
	case GroupScheduled:
		e.errorsCount, e.unschedulableCount = 0, 0
	case GroupRejected:
		e.unschedulableCount++
		e.errorsCount, e.backoffExpiry = 0, unset
	default:
		e.errorsCount++
		e.backoffExpiry = unset
	}
	if outcome != GroupScheduled || !again { // else it keeps its turn, to preempt at once
		e.timestamp = now.UnixNano()
	}
	e.wasFlushed, e.flushed = false, unset
	if t := now.UnixNano(); outcome != GroupScheduled && q.backingOff(t, e) {
		q.moveToBackoffQ(t, entity, None, ScheduleAttemptFailure)
	} else {
		q.moveToActiveQ(t, entity, None, ScheduleAttemptFailure)
	}
	return nil
}

// preChecked reports whether check lets e through: for a group, any of its pods.
func (q *Queue) preChecked(e *entry, check func(*v1.Pod) bool) bool {
	if !e.isGroup() {
		return check(e.pod)
	}
	return slices.ContainsFunc(q.entityGroup(e).members, func(i int32) bool { return check(q.entries.at(i).pod) })
}

// groupWorthRequeuing asks for each pod of g, and takes the best. (isEntityWorthRequeuing.)
func (q *Queue) groupWorthRequeuing(g *group, event fwk.ClusterEvent, oldObj, newObj any) strategy {
	best := queueSkip
	for _, i := range g.members {
		if best = max(best, q.worthRequeuing(i, event, oldObj, newObj)); best == queueImmediately {
			break
		}
	}
	return best
}

// runGroupPreEnqueue asks about each pod of the group's entity e: one that is gated gates all.
func (q *Queue) runGroupPreEnqueue(e *entry) {
	e.gatingPlugin = 0
	for _, i := range q.entityGroup(e).members {
		q.runPreEnqueue(i)
		if by := q.entries.at(i).gatingPlugin; by != 0 {
			e.gatingPlugin = by
		}
	}
}
