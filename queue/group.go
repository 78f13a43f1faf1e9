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

// group is a pod group. With the feature gate GenericWorkload, the pods of a group are queued as one
// entity: they are popped together, and an event that wakes one wakes all. It models
// scheduling_queue.go, pod_group_member_pods.go and workload_forest.go, without composite pod groups.
type group struct {
	key    types.NamespacedName
	number int32                       // index in Queue.groups
	object *schedulingv1beta1.PodGroup // nil until observed

	// entity is the group's entry while the group is queued, and members are its pods in upstream's order.
	entity  int32
	members []int32
	// attempt is the group's entry from its pop to the end of the attempt. popped are the UIDs of the
	// pods popped with it: a pod may be deleted and created again meanwhile.
	attempt int32
	popped  []types.UID
	// incomplete are the pods that wait for the PodGroup, and pending those that arrived or failed while
	// the group is being scheduled.
	incomplete, pending []int32
}

func (g *group) clone() *group {
	c := *g
	c.members, c.popped = slices.Clone(g.members), slices.Clone(g.popped)
	c.incomplete, c.pending = slices.Clone(g.incomplete), slices.Clone(g.pending)
	return &c
}

// GroupOf returns the pod group that pod is queued with, and false if there is none or the feature gate is
// off. It models isPodGroupMember.
func (o Options) GroupOf(pod *v1.Pod) (types.NamespacedName, bool) {
	if !o.GenericWorkload || pod.Spec.SchedulingGroup == nil || pod.Spec.SchedulingGroup.PodGroupName == nil {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{Namespace: pod.Namespace, Name: *pod.Spec.SchedulingGroup.PodGroupName}, true
}

// ensureGroup returns the group of that name and creates it if necessary.
func (q *Queue) ensureGroup(key types.NamespacedName) *group {
	i, ok := q.byGroup[key]
	if !ok {
		if n := len(q.freeGroups); n > 0 {
			i, q.freeGroups = q.freeGroups[n-1], q.freeGroups[:n-1]
		} else {
			i = int32(len(q.groups))
			q.groups = append(q.groups, nil)
		}
		q.groups[i] = &group{key: key, number: i, entity: none, attempt: none}
		q.byGroup[key] = i
	}
	return q.groups[i]
}

// freeGroup frees g if it is not nil and has neither a PodGroup nor pods.
func (q *Queue) freeGroup(g *group) {
	if g != nil && g.object == nil && g.attempt == none && len(g.incomplete)+len(g.pending) == 0 {
		delete(q.byGroup, g.key)
		q.groups[g.number] = nil
		q.freeGroups = append(q.freeGroups, g.number)
	}
}

// ensureGroupOf returns the group that pod belongs to and creates it if necessary. It returns nil if pod is
// queued alone.
func (q *Queue) ensureGroupOf(pod *v1.Pod) *group {
	if key, ok := q.opts.GroupOf(pod); ok {
		return q.ensureGroup(key)
	}
	return nil
}

// groupOf returns the group of the waiting pod i or, if i is none, of the pod in flight with pod's UID, and
// nil without a group. If the queue does not know the pod, the caller's object determines the group.
func (q *Queue) groupOf(i int32, pod *v1.Pod) *group {
	if i != none {
		if number := q.entries.At(i).group; number != 0 {
			return q.groups[number-1]
		}
		return nil
	}
	if j := q.inFlight.Get(&q.entries, pod.UID); j != none {
		pod = q.entries.At(j).pod
	}
	return q.ensureGroupOf(pod)
}

// addMember adds the waiting pod i, which is in no place, to its group. It models addPodGroupMember.
func (q *Queue) addMember(now int64, i int32, g *group, event string) {
	e := q.entries.At(i)
	e.group = g.number + 1
	if e.tier == InFlight && g.object != nil { // further moves are the group's
		q.move(now, i, Pending, event)
	}
	switch {
	case g.object == nil:
		g.incomplete = append(g.incomplete, i)
		q.move(now, i, Incomplete, event)
	case g.entity != none:
		hint := q.dequeue(g.entity)
		q.join(g, i)
		q.requeue(now, g.entity, hint, unscheduledPodAdd)
	case q.lastPopped == e.group:
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

// newGroupEntity creates the entity of g, with the timestamps of its first pod.
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

// join inserts pod i into the members of g, in order. It models AddPod in framework/types.go.
func (q *Queue) join(g *group, i int32) {
	at, _ := slices.BinarySearchFunc(g.members, i, func(a, b int32) int { return q.compareMembers(q.entries.At(a), q.entries.At(b)) })
	g.members = slices.Insert(g.members, at, i)
}

// compareMembers models PodGroupMemberPodsOrderingFunc.
func (q *Queue) compareMembers(a, b *entry) int {
	return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(b.attempts, a.attempts),
		cmp.Compare(a.timestamp, b.timestamp), cmp.Compare(a.pod.Name, b.pod.Name))
}

// leave removes the waiting pod i from its place, or from the lists of its group. The caller has removed
// the group's entity from its place.
func (q *Queue) leave(i int32) {
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

// dropIfEmpty releases the entity of g, which is in no place, if it has no members, and reports whether it
// did.
func (q *Queue) dropIfEmpty(g *group) bool {
	if len(g.members) > 0 {
		return false
	}
	q.entries.Release(g.entity)
	g.entity = none
	return true
}

// popGroup puts the members of g's entity, which is in no place, in flight. It returns nil if all of them
// are in flight already. It models unlockedMoveEntityToInFlight.
func (q *Queue) popGroup(now int64, g *group) *GroupInfo {
	entity, members := g.entity, g.members
	root := q.entries.At(entity)
	root.attempts++
	if g.attempt != none {
		q.entries.Release(g.attempt) // the caller never ended it
		q.spareUIDs = g.popped[:0]
	}
	g.entity, g.members, g.attempt, g.popped = none, nil, none, nil
	popped := members[:0]
	for _, i := range members {
		if q.startAttempt(now, i) {
			popped = append(popped, i)
		}
	}
	if len(popped) == 0 {
		q.entries.Release(entity)
		return nil
	}
	q.schedulingCycle++
	g.attempt, root.tier = entity, InFlight
	info := q.groupInfo(g)
	info.Members = make([]PodInfo, len(popped))
	g.popped, q.spareUIDs = q.spareUIDs, nil
	for at, i := range popped {
		q.move(now, i, InFlight, "")
		info.Members[at] = q.info(i)
		g.popped = append(g.popped, info.Members[at].Pod.UID)
	}
	if g.pending == nil {
		g.pending = popped[:0] // usually, all of them return
	}
	return &info
}

// GroupOutcome is the result of a pod group's attempt.
type GroupOutcome uint8

// Outcomes, by the status of the pod group's scheduling cycle: Success, Unschedulable, Error.
const (
	GroupScheduled GroupOutcome = iota
	GroupRejected
	GroupFailed
)

// AddAttemptedPodGroupIfNeeded ends the attempt of the pod group that was popped last. Before, the caller
// must end the attempts of all its pods, with Bound, Done or AddUnschedulableIfNotPresent. Pods that are
// pending are requeued as a new entity: to activeQ after a success, otherwise to backoffQ. It fails if the
// group is queued already or was not popped. It models the function of that name in scheduling_queue.go.
func (q *Queue) AddAttemptedPodGroupIfNeeded(now time.Time, name types.NamespacedName, outcome GroupOutcome) error {
	t, g := now.UnixNano(), q.ensureGroup(name)
	if g.entity != none {
		return fmt.Errorf("pod group %s is already present in the queue (%s)", name, q.entries.At(g.entity).tier)
	}
	if g.attempt == none {
		q.freeGroup(g)
		return fmt.Errorf("pod group %s was never popped, or its attempt has ended", name)
	}
	q.lastPopped = 0
	defer q.freeGroup(g)
	entity, pending, popped := g.attempt, g.pending, g.popped
	g.attempt, g.pending, g.popped = none, nil, nil
	defer func() {
		clear(popped)
		q.spareUIDs = shrink(popped[:0])
	}()
	if len(pending) == 0 {
		q.entries.Release(entity)
		return nil
	}
	if g.object == nil {
		q.entries.Release(entity)
		q.makeIncomplete(t, g, pending, ScheduleAttemptFailure)
		return nil
	}
	e := q.entries.At(entity)
	e.priority, g.entity = groupPriority(g.object), entity
	g.members = pending[:0] // join never overtakes the loop below
	retried := false        // whether a pod of the attempt is pending
	for _, i := range pending {
		q.join(g, i)
		retried = retried || slices.Contains(popped, q.entries.At(i).pod.UID)
	}
	if outcome == GroupScheduled {
		e.errorsCount, e.unschedulableCount = 0, 0
	} else {
		q.countFailure(t, e, outcome == GroupRejected)
	}
	if outcome != GroupScheduled || !retried { // otherwise it keeps its position, to preempt at once
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

// makeIncomplete moves pods to the incomplete pods of g, which has no PodGroup.
func (q *Queue) makeIncomplete(now int64, g *group, pods []int32, event string) {
	g.incomplete = append(g.incomplete, pods...)
	for _, i := range pods {
		q.move(now, i, Incomplete, event)
	}
}

func nameOf(object *schedulingv1beta1.PodGroup) types.NamespacedName {
	return types.NamespacedName{Namespace: object.Namespace, Name: object.Name}
}

// AddPodGroup adds a PodGroup and queues the pods that waited for it. It models AddPodGroup in
// scheduling_queue.go.
func (q *Queue) AddPodGroup(now time.Time, object *schedulingv1beta1.PodGroup) {
	g := q.ensureGroup(nameOf(object))
	g.object = object
	waiting := g.incomplete
	g.incomplete = nil
	// Upstream iterates over a map. The first pod determines the group's position in activeQ.
	slices.SortFunc(waiting, func(a, b int32) int {
		x, y := q.entries.At(a), q.entries.At(b)
		return cmp.Or(cmp.Compare(x.timestamp, y.timestamp), cmp.Compare(x.pod.Name, y.pod.Name))
	})
	for _, i := range waiting {
		q.addMember(now.UnixNano(), i, g, unscheduledPodAdd)
	}
}

// UpdatePodGroup replaces a PodGroup. Like UpdatePodGroup in scheduling_queue.go, it does not restore the
// heap's order if the priority changed.
func (q *Queue) UpdatePodGroup(object *schedulingv1beta1.PodGroup) {
	g := q.ensureGroup(nameOf(object))
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

// DeletePodGroup deletes a PodGroup. Its pods that are not in flight become incomplete until a PodGroup of
// that name is added. It models DeletePodGroup in scheduling_queue.go.
func (q *Queue) DeletePodGroup(now time.Time, object *schedulingv1beta1.PodGroup) {
	g := q.ensureGroup(nameOf(object))
	g.object = nil
	var left []int32
	switch {
	case g.entity != none:
		q.remove(g.entity)
		left, g.members = g.members, nil
		q.dropIfEmpty(g)
	case q.lastPopped == g.number+1:
		left, g.pending = g.pending, nil
	}
	q.makeIncomplete(now.UnixNano(), g, left, "")
	q.freeGroup(g)
}

// GroupInfo is a copy of a pod group's state, upstream's QueuedPodGroupInfo.
type GroupInfo struct {
	Name   types.NamespacedName
	Object *schedulingv1beta1.PodGroup // nil until observed
	// Tier is the tier of the group's entity, and None without one.
	Tier Tier
	// The following fields are those of PodInfo, for the group instead of a pod.
	Attempts                int
	UnschedulableCount      int
	ConsecutiveErrorsCount  int
	Timestamp               time.Time
	InitialAttemptTimestamp time.Time
	BackoffExpiry           time.Time
	FlushTimestamp          time.Time
	GatingPlugin            string
	// Members are the pods of the entity, in the order in which they are scheduled.
	Members []PodInfo
}

// Group returns the state of the named pod group, and false if the queue does not know it.
func (q *Queue) Group(name types.NamespacedName) (GroupInfo, bool) {
	i, ok := q.byGroup[name]
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

// groupInfo returns the state of g, without its members.
func (q *Queue) groupInfo(g *group) GroupInfo {
	info := GroupInfo{Name: g.key, Object: g.object}
	entity := g.entity
	if entity == none {
		entity = g.attempt
	}
	if entity != none {
		e := q.entries.At(entity)
		info.Tier, info.Attempts = e.tier, int(e.attempts)
		info.UnschedulableCount, info.ConsecutiveErrorsCount = int(e.unschedulableCount), int(e.errorsCount)
		info.Timestamp, info.InitialAttemptTimestamp = toTime(e.timestamp), toTime(e.initialAttempt)
		info.BackoffExpiry, info.FlushTimestamp = toTime(e.backoffExpiry), toTime(e.flushed)
		info.GatingPlugin = q.sets.First(e.gatingPlugin)
	}
	return info
}
