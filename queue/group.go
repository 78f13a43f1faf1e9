package queue

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/types"
)

// With the gate GenericWorkload, the pods of a pod group are queued as one entity: they are popped together,
// and what wakes one wakes all. A pod whose PodGroup was not observed is Incomplete; one that comes, or
// comes back, while its group is being scheduled is Pending until the group is requeued.
// (scheduling_queue.go, pod_group_member_pods.go and workload_forest.go; without composite pod groups.)

// group is what the queue knows of a pod group.
type group struct {
	key    types.NamespacedName
	number int32                       // in Queue.groups
	object *schedulingv1beta1.PodGroup // nil until it was observed
	// entity is the group's entry while it is in a tier of the queue, with members in upstream's order.
	entity  int32
	members []int32
	// flight is the group's entry after its pop until the attempt ends, and flown who was popped: by their UIDs, as one that was
	// deleted meanwhile may come again.
	flight int32
	flown  []types.UID

	incomplete, pending []int32
}

func (g *group) clone() *group {
	c := *g
	c.members, c.flown = slices.Clone(g.members), slices.Clone(g.flown)
	c.incomplete, c.pending = slices.Clone(g.incomplete), slices.Clone(g.pending)
	return &c
}

// GroupOf returns the name of the pod group that pod is queued with, if the gate is on. (isPodGroupMember.)
func (o Options) GroupOf(pod *v1.Pod) (types.NamespacedName, bool) {
	if !o.GenericWorkload || pod.Spec.SchedulingGroup == nil || pod.Spec.SchedulingGroup.PodGroupName == nil {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{Namespace: pod.Namespace, Name: *pod.Spec.SchedulingGroup.PodGroupName}, true
}

// groupNamed returns the group of that name, which it makes if need be.
func (q *Queue) groupNamed(key types.NamespacedName) *group {
	i, ok := q.byGroup.Get(key)
	if !ok {
		if n := len(q.freeGroups); n > 0 {
			i, q.freeGroups = q.freeGroups[n-1], q.freeGroups[:n-1]
		} else {
			i = int32(len(q.groups))
			q.groups = append(q.groups, nil)
		}
		q.groups[i] = &group{key: key, number: i, entity: none, flight: none}
		q.byGroup.Set(key, i)
	}
	return q.groups[i]
}

// freeGroup lets go of g, unless it is nil, if nothing is known of it any more.
func (q *Queue) freeGroup(g *group) {
	if g != nil && g.object == nil && g.flight == none && len(g.incomplete)+len(g.pending) == 0 {
		q.byGroup.Delete(g.key)
		q.groups[g.number] = nil
		q.freeGroups = append(q.freeGroups, g.number)
	}
}

// groupNamedBy returns the group that pod says it is of, or nil if it is queued alone.
func (q *Queue) groupNamedBy(pod *v1.Pod) *group {
	if key, ok := q.opts.GroupOf(pod); ok {
		return q.groupNamed(key)
	}
	return nil
}

// groupOf returns the group of the waiting pod i; if i is none, of the one in flight with pod's UID; nil if that is alone. Only of
// a pod that the queue does not know does it matter what the caller's object says.
func (q *Queue) groupOf(i int32, pod *v1.Pod) *group {
	if i != none {
		if number := q.entries.At(i).group; number != 0 {
			return q.groups[number-1]
		}
		return nil
	}
	if flying := q.inFlight.with(&q.entries, pod.UID); flying != none {
		pod = q.entries.At(flying).pod
	}
	return q.groupNamedBy(pod)
}

// addMember puts the waiting pod i, which lies nowhere, with its group, wherever that is. (addPodGroupMember.)
func (q *Queue) addMember(now int64, i int32, g *group, event string) {
	e := q.entries.At(i)
	e.group = g.number + 1
	if e.tier == InFlight && g.object != nil { // what follows is the group's doing
		q.move(now, i, Pending, event)
	}
	switch {
	case g.object == nil:
		g.incomplete = append(g.incomplete, i)
		q.move(now, i, Incomplete, event)
	case g.entity != none:
		hint := q.withdraw(g.entity)
		q.join(g, i)
		q.requeue(now, g.entity, hint, unscheduledPodAdd)
	case q.popped == e.group:
		g.pending = append(g.pending, i)
		if e.tier != Pending {
			q.move(now, i, Pending, event)
		}
	default:
		q.newGroupEntity(g, e)
		q.join(g, i)
		q.moveToActiveQ(now, g.entity, unscheduledPodAdd)
	}
}

// newGroupEntity gives g an entity, as old as its first pod is.
func (q *Queue) newGroupEntity(g *group, first *entry) {
	g.entity = q.newEntry(entry{
		group: g.number + 1, priority: groupPriority(g.object),
		timestamp: first.timestamp, initialAttempt: first.initialAttempt, backoffExpiry: unset, flushed: unset,
	})
}

// groupPriority models schedutil.PodGroupPriority.
func groupPriority(object *schedulingv1beta1.PodGroup) int32 {
	if object.Spec.Priority != nil {
		return *object.Spec.Priority
	}
	return 0
}

// join makes the pod i a member of g's entity, at its place. (framework/types.go, AddPod.)
func (q *Queue) join(g *group, i int32) {
	at, _ := slices.BinarySearchFunc(g.members, i, func(a, b int32) int { return q.compareMembers(q.entries.At(a), q.entries.At(b)) })
	g.members = slices.Insert(g.members, at, i)
}

// compareMembers models PodGroupMemberPodsOrderingFunc.
func (q *Queue) compareMembers(a, b *entry) int {
	return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(b.attempts, a.attempts),
		cmp.Compare(a.timestamp, b.timestamp), cmp.Compare(a.pod.Name, b.pod.Name))
}

// takeOut takes the waiting pod i out of its place, or off its group's lists. Its group's entity, if it has one, lies nowhere.
func (q *Queue) takeOut(i int32) {
	e := q.entries.At(i)
	if e.group == 0 {
		q.remove(i)
		return
	}
	g := q.groups[e.group-1]
	for _, list := range []*[]int32{&g.members, &g.incomplete, &g.pending} {
		if at := slices.Index(*list, i); at >= 0 {
			*list = slices.Delete(*list, at, at+1)
			return
		}
	}
}

// dropIfEmpty lets go of the entity of g, which lies nowhere, if it has no members, and reports whether it had none.
func (q *Queue) dropIfEmpty(g *group) bool {
	if len(g.members) > 0 {
		return false
	}
	q.entries.Release(g.entity)
	g.entity = none
	return true
}

// popGroup makes the members of g's entity in flight, which lies nowhere, and returns what is known of it; nil if all of
// them are already. (unlockedMoveEntityToInFlight.)
func (q *Queue) popGroup(now int64, g *group) *GroupInfo {
	entity, members := g.entity, g.members
	root := q.entries.At(entity)
	root.attempts++
	if g.flight != none {
		q.entries.Release(g.flight) // its attempt was never ended
		q.spareUIDs = g.flown[:0]
	}
	g.entity, g.members, g.flight, g.flown = none, nil, none, nil
	popped := members[:0]
	for _, i := range members {
		if q.takeOff(now, i) {
			popped = append(popped, i)
		}
	}
	if len(popped) == 0 {
		q.entries.Release(entity)
		return nil
	}
	q.schedulingCycle++
	g.flight, root.tier = entity, InFlight
	info := q.groupInfo(g)
	info.Members = make([]PodInfo, len(popped))
	g.flown, q.spareUIDs = q.spareUIDs, nil
	for at, i := range popped {
		q.move(now, i, InFlight, "")
		info.Members[at] = q.info(i)
		g.flown = append(g.flown, info.Members[at].Pod.UID)
	}
	if g.pending == nil {
		g.pending = popped[:0] // most often they all wait again
	}
	return &info
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
	t, g := now.UnixNano(), q.groupNamed(name)
	if g.entity != none {
		return fmt.Errorf("pod group %s is already present in the queue (%s)", name, q.entries.At(g.entity).tier)
	}
	if g.flight == none {
		q.freeGroup(g)
		return fmt.Errorf("pod group %s was never popped, or its attempt has ended", name)
	}
	q.popped = 0
	defer q.freeGroup(g)
	entity, pending, flown := g.flight, g.pending, g.flown
	g.flight, g.pending, g.flown = none, nil, nil
	defer func() {
		clear(flown)
		q.spareUIDs = shrink(flown[:0])
	}()
	if len(pending) == 0 {
		q.entries.Release(entity)
		return nil
	}
	if g.object == nil {
		q.entries.Release(entity)
		q.scatter(t, g, pending, ScheduleAttemptFailure)
		return nil
	}
	e := q.entries.At(entity)
	e.priority, g.entity = groupPriority(g.object), entity
	g.members = pending[:0] // each finds its place among those before it
	again := false          // one that was tried waits again
	for _, i := range pending {
		q.join(g, i)
		again = again || slices.Contains(flown, q.entries.At(i).pod.UID)
	}
	if outcome == GroupScheduled {
		e.errorsCount, e.unschedulableCount = 0, 0
	} else {
		q.countFailure(t, e, outcome == GroupRejected)
	}
	if outcome != GroupScheduled || !again { // else it keeps its turn, to preempt at once
		e.timestamp = t
	}
	e.flushed = unset
	q.setExpiry(entity)
	hint := queueAfterBackoff
	if outcome == GroupScheduled {
		hint = queueImmediately
	}
	q.requeue(t, entity, hint, ScheduleAttemptFailure)
	return nil
}

// scatter makes pods of g, whose PodGroup is not there, wait for another.
func (q *Queue) scatter(now int64, g *group, pods []int32, event string) {
	g.incomplete = append(g.incomplete, pods...)
	for _, i := range pods {
		q.move(now, i, Incomplete, event)
	}
}

// PodGroup objects, which say that a group is there to be scheduled.

func nameOf(object *schedulingv1beta1.PodGroup) types.NamespacedName {
	return types.NamespacedName{Namespace: object.Namespace, Name: object.Name}
}

// AddPodGroup tells the queue that a PodGroup was observed: the pods that waited for it are queued.
// (scheduling_queue.go, AddPodGroup.)
func (q *Queue) AddPodGroup(now time.Time, object *schedulingv1beta1.PodGroup) {
	g := q.groupNamed(nameOf(object))
	g.object = object
	waiting := g.incomplete
	g.incomplete = nil
	// Upstream takes them in the order of a map. The group's place in activeQ is that of the first.
	slices.SortFunc(waiting, func(a, b int32) int {
		x, y := q.entries.At(a), q.entries.At(b)
		return cmp.Or(cmp.Compare(x.timestamp, y.timestamp), cmp.Compare(x.pod.Name, y.pod.Name))
	})
	for _, i := range waiting {
		q.addMember(now.UnixNano(), i, g, unscheduledPodAdd)
	}
}

// UpdatePodGroup replaces a PodGroup. As upstream's, it does not sort activeQ anew if the priority changed.
// (scheduling_queue.go, UpdatePodGroup.)
func (q *Queue) UpdatePodGroup(object *schedulingv1beta1.PodGroup) {
	g := q.groupNamed(nameOf(object))
	g.object = object
	if g.entity == none {
		return
	}
	e := q.entries.At(g.entity)
	e.priority = groupPriority(object)
	if h := q.heapAt(e.place); h != nil {
		h.items[e.pos].priority = e.priority
	}
}

// DeletePodGroup tells the queue that a PodGroup is gone. Its pods, but those in flight, wait for another of
// that name. (scheduling_queue.go, DeletePodGroup.)
func (q *Queue) DeletePodGroup(now time.Time, object *schedulingv1beta1.PodGroup) {
	g := q.groupNamed(nameOf(object))
	g.object = nil
	var left []int32
	switch {
	case g.entity != none:
		q.remove(g.entity)
		left, g.members = g.members, nil
		q.dropIfEmpty(g)
	case q.popped == g.number+1:
		left, g.pending = g.pending, nil
	}
	q.scatter(now.UnixNano(), g, left, "")
	q.freeGroup(g)
}

// GroupInfo is all that the queue knows of a pod group: upstream's QueuedPodGroupInfo. It is a copy.
type GroupInfo struct {
	Name   types.NamespacedName
	Object *schedulingv1beta1.PodGroup // nil if it was not observed
	// Tier is where the group as a whole is; None if no pod of it is queued or being tried.
	Tier Tier
	// Attempts and the rest are the group's own, apart from its pods': see PodInfo.
	Attempts                int
	UnschedulableCount      int
	ConsecutiveErrorsCount  int
	Timestamp               time.Time
	InitialAttemptTimestamp time.Time
	BackoffExpiry           time.Time
	FlushTimestamp          time.Time
	GatingPlugin            string
	// Members are the pods that are queued together, in the order in which they are tried.
	Members []PodInfo
}

// Group returns what the queue knows of the named pod group.
func (q *Queue) Group(name types.NamespacedName) (GroupInfo, bool) {
	i, ok := q.byGroup.Get(name)
	if !ok {
		return GroupInfo{}, false
	}
	g := q.groups[i]
	info := q.groupInfo(g)
	for _, member := range g.members {
		info.Members = append(info.Members, q.info(member))
	}
	return info, true
}

// groupInfo is what is known of g, without its members.
func (q *Queue) groupInfo(g *group) GroupInfo {
	info := GroupInfo{Name: g.key, Object: g.object}
	entity := g.entity
	if entity == none {
		entity = g.flight
	}
	if entity != none {
		e := q.entries.At(entity)
		info.Tier, info.Attempts = e.tier, int(e.attempts)
		info.UnschedulableCount, info.ConsecutiveErrorsCount = int(e.unschedulableCount), int(e.errorsCount)
		info.Timestamp, info.InitialAttemptTimestamp = toTime(e.timestamp), toTime(e.initialAttempt)
		info.BackoffExpiry, info.FlushTimestamp = toTime(e.backoffExpiry), toTime(e.flushed)
		info.GatingPlugin = q.sets.Only(e.gatingPlugin)
	}
	return info
}
