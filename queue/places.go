package queue

import "iter"

// place is the data structure that an entity is in.
type place uint8

const (
	noPlace place = iota
	inActiveQ
	inBackoffQ
	inErrorBackoffQ
	inUnschedulable // includes gated entities
)

func (p place) isBackoffQ() bool { return p == inBackoffQ || p == inErrorBackoffQ }

// heapAt returns the heap of p, or nil if p is not a heap.
func (q *Queue) heapAt(p place) *heap {
	switch p {
	case inActiveQ:
		return &q.activeQ
	case inBackoffQ:
		return &q.backoffQ
	case inErrorBackoffQ:
		return &q.errorBackoffQ
	}
	return nil
}

// placeOf returns the place of entity e in tier.
func (q *Queue) placeOf(e *entry, tier Tier) place {
	switch tier {
	case Active:
		return inActiveQ
	case Backoff:
		if e.rejected() || q.rules.oneBackoffQ {
			return inBackoffQ
		}
		return inErrorBackoffQ
	case Unschedulable, Gated:
		return inUnschedulable
	}
	return noPlace
}

// insert puts entity i, which is in no place, into its place in tier.
func (q *Queue) insert(i int32, tier Tier) {
	e := q.entries.At(i)
	e.place = q.placeOf(e, tier)
	if h := q.heapAt(e.place); h != nil {
		h.push(&q.entries, i)
	} else if e.place == inUnschedulable {
		e.pos = int32(len(q.unschedulable))
		q.unschedulable = append(q.unschedulable, i)
	}
}

// remove removes entity i from its place, if it is in one.
func (q *Queue) remove(i int32) {
	e := q.entries.At(i)
	if h := q.heapAt(e.place); h != nil {
		h.remove(&q.entries, int(e.pos))
	} else if e.place == inUnschedulable {
		last := q.unschedulable[len(q.unschedulable)-1]
		q.unschedulable[e.pos] = last
		q.entries.At(last).pos = e.pos
		q.unschedulable = shrink(q.unschedulable[:len(q.unschedulable)-1])
	}
	e.place = noPlace
}

// dequeue removes entity i from its place and returns the strategy that requeues it there. It models
// deleteFromAnyQueue.
func (q *Queue) dequeue(i int32) strategy {
	from := q.entries.At(i).place
	q.remove(i)
	switch {
	case from == inActiveQ:
		return queueImmediately
	case from.isBackoffQ():
		return queueAfterBackoff
	}
	return queueSkip
}

// podsOf yields the pods of entity i: itself, or the members of its group.
func (q *Queue) podsOf(i int32) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		if e := q.entries.At(i); e.pod == nil {
			for _, member := range q.groups[e.group-1].members {
				if !yield(member) {
					return
				}
			}
			return
		}
		yield(i)
	}
}

// size returns the number of pods of entity i.
func (q *Queue) size(i int32) int {
	if e := q.entries.At(i); e.pod == nil {
		return len(q.groups[e.group-1].members)
	}
	return 1
}

// entityOf returns the entity of the waiting pod i, or none if the pod is incomplete or pending, or i is
// none.
func (q *Queue) entityOf(i int32) int32 {
	if i == none || q.entries.At(i).group == 0 {
		return i
	}
	if e := q.entries.At(i); e.tier.Queued() {
		return q.groups[e.group-1].entity
	}
	return none
}

// moved records and reports that the pods of entity i are in tier to. When a member joined or left a group,
// it does not report the others if they stay in their tier.
func (q *Queue) moved(now int64, i int32, to Tier, event string) {
	if e := q.entries.At(i); e.pod == nil {
		e.tier = to
	}
	for p := range q.podsOf(i) {
		if e := q.entries.At(p); e.group == 0 || e.tier != to || event != unscheduledPodAdd {
			q.move(now, p, to, event)
		}
	}
}

// move records and reports that pod i is in tier to.
func (q *Queue) move(now int64, i int32, to Tier, event string) {
	e := q.entries.At(i)
	from := e.tier
	q.setTier(e, to)
	q.report(now, i, Transition{From: from, To: to, Event: q.opts.Rules.Labels.Of(event)})
}

// report completes t from the state of pod i and passes it to the Observer.
func (q *Queue) report(now int64, i int32, t Transition) {
	e := q.entries.At(i)
	t.Pod, t.Time, t.Attempts = e.pod, toTime(now), int(e.attempts)
	t.BackoffExpiry = toTime(q.backoffOf(i).backoffExpiry)
	t.UnschedulablePlugins = q.sets.Names(e.unschedulablePlugins)
	t.PendingPlugins = q.sets.Names(e.pendingPlugins)
	t.GatingPlugin = q.sets.First(e.gatingPlugin)
	q.observer.Moved(t)
}

// backoffOf returns the entry with the backoff and flush of pod i: its entity's entry if it is queued.
func (q *Queue) backoffOf(i int32) *entry {
	if entity := q.entityOf(i); entity != none {
		i = entity
	}
	return q.entries.At(i)
}
