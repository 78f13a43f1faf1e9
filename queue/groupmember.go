package queue

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// What the queue's methods do with a pod that is queued with its group.

// failMember returns a pod of g after a failed attempt. The events of the attempt do not count: the group's
// own attempt decides when it is tried again. (addUnschedulablePodGroupMember.)
func (q *Queue) failMember(now int64, pod *v1.Pod, g *group, why Rejection) {
	i, popped := q.inFlight.byUID[pod.UID]
	if !popped {
		i = q.newEntry(now, pod)
	}
	q.entries.at(i).group = q.byGroup[g.key] + 1
	q.setPod(i, pod)
	q.fail(now, i, why)
	if popped {
		q.inFlight.remove(&q.entries, i)
		q.entries.at(i).tier = InFlight // where it comes from
	}
	q.addMember(now, i, g, ScheduleAttemptFailure)
}

// deleteMember takes a pod of g out of the queue. i is its entry, or none. (deletePodGroupMember.)
func (q *Queue) deleteMember(now int64, i int32, g *group, pod *v1.Pod) {
	if g.object == nil || g.entity == none {
		if i != none && q.drop(g, i) {
			q.forgetMember(now, i)
			return
		}
		q.deletedElsewhere(now, pod)
		return
	}
	hint := q.withdraw(g.entity)
	if i != none && q.drop(g, i) {
		q.forgetMember(now, i)
	} else {
		q.deletedElsewhere(now, pod)
	}
	if len(g.members) == 0 {
		q.entries.release(g.entity)
		g.entity = none
		return
	}
	q.requeue(now, g.entity, None, hint, unscheduledPodAdd)
}

// drop takes entry i off g's lists, and reports whether it was on one.
func (q *Queue) drop(g *group, i int32) bool {
	for _, list := range []*[]int32{&g.members, &g.incomplete, &g.pending} {
		if at := slices.Index(*list, i); at >= 0 {
			*list = slices.Delete(*list, at, at+1)
			return true
		}
	}
	return false
}

// forgetMember ends entry i, which is on no list any more.
func (q *Queue) forgetMember(now int64, i int32) {
	pod := q.entries.at(i).pod
	q.byName.remove(&q.entries, pod.Namespace, pod.Name)
	q.memberMoved(now, i, Deleted, "")
	q.entries.release(i)
}

// updateMember replaces a pod of g. i is its entry, or none. It reports false if the pod must be added.
// (Update.)
func (q *Queue) updateMember(now int64, i int32, g *group, oldPod, newPod *v1.Pod, events []fwk.ClusterEvent) bool {
	replace := func() {
		q.setPod(i, newPod)
		q.nominated.update(oldPod, newPod)
	}
	if g.object == nil {
		if i != none {
			replace()
		}
		return true
	}
	if _, ok := q.inFlight.byUID[newPod.UID]; ok {
		for _, ev := range events {
			q.inFlight.record(ev, oldPod, newPod)
		}
		return true
	}
	switch {
	case i == none:
		return false
	case !slices.Contains(g.members, i):
		replace() // it is pending
		return true
	case q.entries.at(i).pod.UID != newPod.UID:
		return false
	}
	replace()
	e := q.entries.at(g.entity)
	if e.tier == Active || e.tier == Backoff {
		q.heapOf(e).fix(&q.entries, int(e.pos))
		return true
	}
	for _, ev := range events {
		hint := q.groupWorthRequeuing(g, ev, oldPod, newPod)
		if q.requeue(now, g.entity, e.tier, hint, ev.Label()); e.tier == Active || e.tier == Backoff {
			return true
		}
	}
	return true
}

// activateMember moves the whole group of a pod to activeQ. (Activate.)
func (q *Queue) activateMember(now int64, g *group, pod *v1.Pod) bool {
	if g.object == nil {
		return false
	}
	if g.entity != none && q.entries.at(g.entity).tier != Active {
		from := q.entries.at(g.entity).tier
		if from == Backoff {
			q.detach(g.entity)
		}
		if q.moveToActiveQ(now, g.entity, from, ForceActivate) == Active {
			return true
		}
	}
	if _, ok := q.inFlight.byUID[pod.UID]; ok {
		q.inFlight.record(eventForceActivate, nil, pod)
	}
	return false
}

// standAlone takes entry i out of its group, because the real scheduler was seen to move the pod. What is
// left of the group stays where it is. It returns the tier that the pod was in.
func (q *Queue) standAlone(i int32) Tier {
	e := q.entries.at(i)
	g, from := &q.groups[e.group-1], e.tier
	if slices.Contains(g.members, i) {
		tier := q.detach(g.entity)
		q.drop(g, i)
		if len(g.members) == 0 {
			q.entries.release(g.entity)
			g.entity = none
		} else {
			q.attach(g.entity, tier)
		}
	} else {
		q.drop(g, i)
	}
	e.group = 0
	if from != InFlight {
		e.tier = None
	}
	return from
}
