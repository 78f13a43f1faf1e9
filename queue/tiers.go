package queue

import "time"

// Putting entries into tiers and taking them out. A queued entry is in exactly one place: a heap, or
// the slice of unschedulable pods.

// heapOf returns the heap that the active or backing-off entry e is in.
func (q *Queue) heapOf(e *entry) *heap {
	switch {
	case e.tier == Active:
		return &q.activeQ
	case e.inErrors:
		return &q.errorBackoffQ
	default:
		return &q.backoffQ
	}
}

// detach takes entry i out of its tier and returns that. The entry stays findable by its name.
func (q *Queue) detach(i int32) Tier {
	e := q.entries.at(i)
	from := e.tier
	if from.Queued() {
		q.pods[from] -= q.size(e)
	}
	switch from {
	case Active, Backoff:
		q.heapOf(e).remove(&q.entries, int(e.pos))
	case Unschedulable, Gated:
		last := q.unschedulable[len(q.unschedulable)-1]
		q.unschedulable[e.pos] = last
		q.entries.at(last).pos = e.pos
		q.unschedulable = q.unschedulable[:len(q.unschedulable)-1]
	}
	e.tier = None
	return from
}

// attach puts the detached entry i into tier.
func (q *Queue) attach(i int32, tier Tier) {
	e := q.entries.at(i)
	e.tier = tier
	if tier.Queued() {
		q.pods[tier] += q.size(e)
	}
	if !e.indexed && !e.isGroup() {
		q.byName.put(&q.entries, i)
	}
	switch tier {
	case Active:
		q.activeQ.push(&q.entries, i)
	case Backoff:
		e.inErrors = !e.rejected() && !q.opts.Rules.OneBackoffQ
		q.heapOf(e).push(&q.entries, i)
	case Unschedulable, Gated:
		e.pos = int32(len(q.unschedulable))
		q.unschedulable = append(q.unschedulable, i)
	}
}

// eachEntry calls do with the entity i and, if it is a group, with each of its pods.
func (q *Queue) eachEntry(i int32, do func(*entry)) {
	e := q.entries.at(i)
	do(e)
	if e.isGroup() {
		for _, member := range q.entityGroup(e).members {
			do(q.entries.at(member))
		}
	}
}

// runPreEnqueue asks the PreEnqueue plugins about entry i. The plugin that gates it becomes one of its
// rejectors, so that the plugin's events reach the pod.
func (q *Queue) runPreEnqueue(i int32) {
	e := q.entries.at(i)
	if e.isGroup() {
		q.runGroupPreEnqueue(e)
		return
	}
	if q.opts.Rules.NoPreEnqueue {
		return
	}
	plugin := q.plugins.PreEnqueue(e.pod, q.sets.onlyName(e.gatingPlugin))
	if plugin == "" {
		e.gatingPlugin = 0
		return
	}
	e.gatingPlugin = q.sets.idOf(plugin)
	e.unschedulablePlugins = q.sets.withName(e.unschedulablePlugins, plugin)
}

// moveToActiveQ puts entry i into activeQ, or among the gated pods if a PreEnqueue plugin keeps it out,
// and returns where it went. from is where it comes from. An entry out of backoffQ must be detached; one
// out of the unschedulable pods may be. (scheduling_queue.go, moveToActiveQ.)
func (q *Queue) moveToActiveQ(now int64, i int32, from Tier, event string) Tier {
	// With PopFromBackoffQ, PreEnqueue ran when the pod entered backoffQ.
	if !q.opts.PopFromBackoffQ || from != Backoff {
		q.runPreEnqueue(i)
	}
	e := q.entries.at(i)
	if e.gatingPlugin != 0 {
		q.gate(now, i, from, event)
		return Gated
	}
	q.eachEntry(i, func(e *entry) {
		if e.initialAttempt == unset {
			e.initialAttempt = now
		}
	})
	q.detach(i)
	q.attach(i, Active)
	q.count(e, Active, event)
	q.moved(now, i, from, Active, event)
	return Active
}

// moveToBackoffQ puts entry i into backoffQ; with PopFromBackoffQ it may be gated instead.
// (scheduling_queue.go, moveToBackoffQ.)
func (q *Queue) moveToBackoffQ(now int64, i int32, from Tier, event string) Tier {
	if q.opts.PopFromBackoffQ {
		q.runPreEnqueue(i)
		if q.entries.at(i).gatingPlugin != 0 {
			q.gate(now, i, from, event)
			return Gated
		}
	}
	q.detach(i)
	q.attach(i, Backoff)
	q.count(q.entries.at(i), Backoff, event)
	q.moved(now, i, from, Backoff, event)
	return Backoff
}

// gate keeps entry i out of activeQ. A pod that was gated and was not taken out has not moved.
func (q *Queue) gate(now int64, i int32, from Tier, event string) {
	e := q.entries.at(i)
	// Clearing it is the business of a failed attempt, which a gated pod never has.
	q.eachEntry(i, func(e *entry) { e.wasFlushed = false })
	stayed := e.tier == Unschedulable || e.tier == Gated
	if stayed && e.tier == Gated {
		return
	}
	q.detach(i)
	q.attach(i, Gated)
	if !stayed {
		q.count(e, Unschedulable, event)
	}
	q.moved(now, i, from, Gated, event)
}

// FlushBackoffCompleted moves the pods whose backoff is over from backoffQ to activeQ. Upstream does it
// every BackoffFlushInterval; with PopFromBackoffQ, at whole seconds. (flushBackoffQCompleted.)
func (q *Queue) FlushBackoffCompleted(now time.Time) {
	t := now.UnixNano()
	completed := q.scratch[:0]
	for _, h := range []*heap{&q.backoffQ, &q.errorBackoffQ} {
		for len(h.items) > 0 && !q.backingOff(t, q.entries.at(h.items[0].entry)) {
			i := h.items[0].entry
			q.detach(i)
			completed = append(completed, i)
		}
	}
	q.scratch = completed
	for _, i := range completed {
		q.moveToActiveQ(t, i, Backoff, BackoffComplete)
	}
}

// FlushUnschedulableLeftover moves the pods that have been unschedulable or gated for longer than
// PodMaxInUnschedulablePods, counted from their last failure or their last flush. Upstream does it every
// LeftoverFlushInterval. (flushUnschedulableEntitiesLeftover.)
func (q *Queue) FlushUnschedulableLeftover(now time.Time) {
	t := now.UnixNano()
	left := q.scratch[:0]
	for _, i := range q.unschedulable {
		e := q.entries.at(i)
		since := e.timestamp
		if q.opts.Rules.Gating == GatingEventsAndFlush {
			since = max(since, e.flushed)
		}
		if t-since > int64(q.opts.PodMaxInUnschedulablePods) {
			q.eachEntry(i, func(e *entry) { e.wasFlushed = true })
			e.flushed = t
			left = append(left, i)
		}
	}
	q.scratch = left
	if len(left) > 0 {
		q.moveAll(t, left, eventUnschedulableTimeout, nil, nil)
	}
}
