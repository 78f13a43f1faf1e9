package queue

import (
	"cmp"
	"slices"
	"time"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/types"
)

// PodGroup objects, which say that a group is there to be scheduled.

func nameOf(object *schedulingv1beta1.PodGroup) types.NamespacedName {
	return types.NamespacedName{Namespace: object.Namespace, Name: object.Name}
}

// AddPodGroup tells the queue that a PodGroup was observed: the pods that waited for it are queued.
// (scheduling_queue.go, AddPodGroup.)
func (q *Queue) AddPodGroup(now time.Time, object *schedulingv1beta1.PodGroup) {
	g := &q.groups[q.groupNamed(nameOf(object))]
	g.object = object
	waiting := g.incomplete
	g.incomplete = nil
	// Upstream takes them in the order of a map. The group's place in activeQ is that of the first.
	slices.SortFunc(waiting, func(a, b int32) int {
		x, y := q.entries.at(a), q.entries.at(b)
		return cmp.Or(cmp.Compare(x.timestamp, y.timestamp), cmp.Compare(x.pod.Name, y.pod.Name))
	})
	for _, i := range waiting {
		q.addMember(now.UnixNano(), i, g, unscheduledPodAdd)
	}
}

// UpdatePodGroup replaces a PodGroup. As upstream's, it does not sort activeQ anew if the priority changed.
// (scheduling_queue.go, UpdatePodGroup.)
func (q *Queue) UpdatePodGroup(object *schedulingv1beta1.PodGroup) {
	g := &q.groups[q.groupNamed(nameOf(object))]
	g.object = object
	if g.entity == none {
		return
	}
	e := q.entries.at(g.entity)
	e.priority = groupPriority(object)
	if e.tier == Active || e.tier == Backoff {
		q.heapOf(e).items[e.pos].priority = e.priority
	}
}

// DeletePodGroup tells the queue that a PodGroup is gone. Its pods, but those in flight, wait for another of
// that name. (scheduling_queue.go, DeletePodGroup.)
func (q *Queue) DeletePodGroup(now time.Time, object *schedulingv1beta1.PodGroup) {
	i := q.groupNamed(nameOf(object))
	g := &q.groups[i]
	if g.object == nil {
		return
	}
	g.object = nil
	var left []int32
	switch {
	case g.entity != none:
		q.detach(g.entity)
		q.entries.release(g.entity)
		left, g.members, g.entity = g.members, nil, none
	case q.popped == i+1:
		left, g.pending = g.pending, nil
	}
	for _, member := range left {
		g.incomplete = append(g.incomplete, member)
		q.memberMoved(now.UnixNano(), member, Incomplete, "")
	}
}

// Regroup puts pods that were followed one by one, by Observe, together with their pod groups, of which
// objects are the PodGroups. Each group is then where the first of its queued pods is. The Observer is not
// told.
func (q *Queue) Regroup(objects []*schedulingv1beta1.PodGroup) {
	for _, object := range objects {
		q.groups[q.groupNamed(nameOf(object))].object = object
	}
	for i := range q.entries.used {
		e := q.entries.at(i)
		if e.pod == nil || e.group != 0 || e.tier == InFlight {
			continue
		}
		if g := q.groupOf(e.pod); g != nil {
			q.regroup(i, g)
		}
	}
}

// regroup puts the pod i with g.
func (q *Queue) regroup(i int32, g *group) {
	e := q.entries.at(i)
	tier := q.detach(i)
	e.group = q.byGroup[g.key] + 1
	switch {
	case g.object == nil || !tier.Queued():
		e.tier = Incomplete
		g.incomplete = append(g.incomplete, i)
		return
	case g.entity == none:
		g.entity = q.newGroupEntity(g)
		root := q.entries.at(g.entity)
		root.timestamp, root.initialAttempt, root.attempts = e.timestamp, e.initialAttempt, e.attempts
		root.unschedulableCount, root.errorsCount = e.unschedulableCount, e.errorsCount
		root.backoffExpiry, root.gatingPlugin = e.backoffExpiry, e.gatingPlugin
	default:
		tier = q.detach(g.entity)
	}
	e.backoffExpiry = unset
	q.join(g, i)
	q.attach(g.entity, tier)
	for _, member := range g.members {
		q.entries.at(member).tier = tier
	}
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
	i, ok := q.byGroup[name]
	if !ok {
		return GroupInfo{}, false
	}
	g := &q.groups[i]
	info := GroupInfo{Name: name, Object: g.object}
	entity := g.entity
	if entity == none {
		entity = g.flight
	}
	if entity != none {
		e := q.entries.at(entity)
		info.Tier, info.Attempts = e.tier, int(e.attempts)
		info.UnschedulableCount, info.ConsecutiveErrorsCount = int(e.unschedulableCount), int(e.errorsCount)
		info.Timestamp, info.InitialAttemptTimestamp = toTime(e.timestamp), toTime(e.initialAttempt)
		info.BackoffExpiry, info.FlushTimestamp = toTime(e.backoffExpiry), toTime(e.flushed)
		info.GatingPlugin = q.sets.onlyName(e.gatingPlugin)
	}
	for _, member := range g.members {
		info.Members = append(info.Members, q.info(member))
	}
	return info, true
}

// Popped returns the pod group that was popped last, while its attempt has not ended.
func (q *Queue) Popped() (types.NamespacedName, bool) {
	if q.popped == 0 || q.groups[q.popped-1].flight == none {
		return types.NamespacedName{}, false
	}
	return q.groups[q.popped-1].key, true
}
