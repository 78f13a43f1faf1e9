package queue

import (
	"iter"
)

// Where entities lie, and how the Observer is told that they moved.

// place is where an entity lies.
type place uint8

const (
	nowhere place = iota
	inActiveQ
	inBackoffQ
	inErrorBackoffQ
	inUnschedulable // gated entities too
)

func (p place) isBackoffQ() bool { return p == inBackoffQ || p == inErrorBackoffQ }

// heapAt returns the heap of p, or nil if that is none.
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

// placeOf returns the place of tier for the entity e.
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
	return nowhere
}

// insert puts the entity i, which lies nowhere, to its place in tier.
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

// remove takes the entity i out of its place, if it lies in one.
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
	e.place = nowhere
}

// withdraw takes the entity i out of its place, and returns what would have it requeued there. (deleteFromAnyQueue.)
func (q *Queue) withdraw(i int32) strategy {
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

// podsOf yields the pods of the entity i: itself, or the members of the group that it is.
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

// size is how many pods the entity i is.
func (q *Queue) size(i int32) int {
	if e := q.entries.At(i); e.pod == nil {
		return len(q.groups[e.group-1].members)
	}
	return 1
}

// entityOf returns the entity that the waiting pod i is queued as, or none if it waits for its group, or i is none.
func (q *Queue) entityOf(i int32) int32 {
	if i == none || q.entries.At(i).group == 0 {
		return i
	}
	if e := q.entries.At(i); e.tier.Queued() {
		return q.groups[e.group-1].entity
	}
	return none
}

// moved notes that the pods of the entity i are in tier to now, and tells of each. One of a group is not told of where it stays if
// another came or went.
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

// move notes that the pod i is in tier to now, and tells the Observer.
func (q *Queue) move(now int64, i int32, to Tier, event string) {
	e := q.entries.At(i)
	from := e.tier
	q.setTier(e, to)
	q.tell(now, i, Transition{From: from, To: to, Event: q.opts.Rules.Labels.Of(event)})
}

// tell hands t to the Observer, filled in with what is known of the pod i.
func (q *Queue) tell(now int64, i int32, t Transition) {
	e := q.entries.At(i)
	t.Pod, t.Time, t.Attempts = e.pod, toTime(now), int(e.attempts)
	t.BackoffExpiry = toTime(q.backoffOf(i).backoffExpiry)
	t.UnschedulablePlugins = q.sets.Names(e.unschedulablePlugins)
	t.PendingPlugins = q.sets.Names(e.pendingPlugins)
	t.GatingPlugin = q.sets.Only(e.gatingPlugin)
	q.observer.Moved(t)
}

// backoffOf returns the entry whose backoff and flushes are those of the pod i: its entity's, if it is queued.
func (q *Queue) backoffOf(i int32) *entry {
	if entity := q.entityOf(i); entity != none {
		i = entity
	}
	return q.entries.At(i)
}
