package queue

import schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

// Regroup adds PodGroups and queues observed pods with their pod groups. Each group's entity gets the tier of
// the first of its queued pods. Regroup does not call the Observer.
func (q *Queue) Regroup(objects []*schedulingv1beta1.PodGroup) {
	for _, object := range objects {
		q.ensureGroup(nameOf(object)).object = object
	}
	for i, e := range q.entries.All() {
		if e.pod == nil || e.group != 0 || e.tier == InFlight {
			continue
		}
		if g := q.ensureGroupOf(e.pod); g != nil {
			q.regroup(i, g)
		}
	}
}

// regroup adds pod i to g.
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
