package queue

import schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

// Regroup puts pods that were followed one by one, by Observe, together with their pod groups, of which
// objects are the PodGroups. Each group is then where the first of its queued pods is. The Observer is not
// told.
func (q *Queue) Regroup(objects []*schedulingv1beta1.PodGroup) {
	for _, object := range objects {
		q.groupNamed(nameOf(object)).object = object
	}
	for i, e := range q.entries.All() {
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
	e := q.entries.At(i)
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
		root := q.entries.At(g.entity)
		root.attempts, root.unschedulableCount, root.errorsCount = e.attempts, e.unschedulableCount, e.errorsCount
		root.backoffExpiry, root.gatingPlugin, root.tier = e.backoffExpiry, e.gatingPlugin, tier
	}
	root := q.entries.At(g.entity)
	q.remove(g.entity)
	e.backoffExpiry = unset
	q.setTier(e, root.tier)
	q.join(g, i)
	q.insert(g.entity, root.tier)
}
