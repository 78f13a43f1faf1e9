package queue

import (
	"iter"
	"time"

	"github.com/schedq/schedq/queue/ebb"
	"github.com/schedq/schedq/queue/pluginset"
)

// Where entities lie, and how they move from one place to another.

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
		q.unschedulable = ebb.Slice(q.unschedulable[:len(q.unschedulable)-1])
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

// runPreEnqueue asks the PreEnqueue plugins about the pods of the entity i: one that is gated gates all. The plugin that gates a
// pod becomes one of its rejectors, so that the plugin's events reach it. (runPreEnqueuePlugins.)
func (q *Queue) runPreEnqueue(i int32) {
	if q.rules.noPreEnqueue {
		return
	}
	gating := pluginset.ID(0)
	for p := range q.podsOf(i) {
		e := q.entries.At(p)
		plugin := q.plugins.PreEnqueue(e.pod, q.sets.Only(e.gatingPlugin))
		if e.gatingPlugin = 0; plugin != "" {
			e.gatingPlugin = q.sets.Of(plugin)
			e.unschedulablePlugins = q.sets.With(e.unschedulablePlugins, plugin)
			gating = e.gatingPlugin
		}
	}
	q.entries.At(i).gatingPlugin = gating
}

// moveToActiveQ puts the entity i into activeQ, or among the gated ones if a PreEnqueue plugin keeps it out, and returns where it
// went. It may lie among the unschedulable still. (scheduling_queue.go, moveToActiveQ.)
func (q *Queue) moveToActiveQ(now int64, i int32, event string) Tier {
	q.runPreEnqueue(i)
	return q.enterActiveQ(now, i, event)
}

// moveOutOfBackoffQ is moveToActiveQ for what was in backoffQ: with PopFromBackoffQ, PreEnqueue ran when it came there.
func (q *Queue) moveOutOfBackoffQ(now int64, i int32, event string) Tier {
	if !q.opts.PopFromBackoffQ {
		q.runPreEnqueue(i)
	}
	return q.enterActiveQ(now, i, event)
}

func (q *Queue) enterActiveQ(now int64, i int32, event string) Tier {
	if q.entries.At(i).gatingPlugin != 0 {
		q.gate(now, i, event)
		return Gated
	}
	q.setInitialAttempt(i, now)
	for p := range q.podsOf(i) {
		q.setInitialAttempt(p, now)
	}
	q.remove(i)
	q.insert(i, Active)
	q.count(i, Active, event)
	q.moved(now, i, Active, event)
	return Active
}

func (q *Queue) setInitialAttempt(i int32, now int64) {
	if e := q.entries.At(i); e.initialAttempt == unset {
		e.initialAttempt = now
	}
}

// moveToBackoffQ puts the entity i into backoffQ; with PopFromBackoffQ it may be gated instead.
// (scheduling_queue.go, moveToBackoffQ.)
func (q *Queue) moveToBackoffQ(now int64, i int32, event string) {
	if q.opts.PopFromBackoffQ {
		q.runPreEnqueue(i)
		if q.entries.At(i).gatingPlugin != 0 {
			q.gate(now, i, event)
			return
		}
	}
	q.remove(i)
	q.insert(i, Backoff)
	q.count(i, Backoff, event)
	q.moved(now, i, Backoff, event)
}

// gate keeps the entity i out of activeQ. One that is gated and was not taken out does not move.
func (q *Queue) gate(now int64, i int32, event string) {
	e := q.entries.At(i)
	stayed := e.place == inUnschedulable
	if stayed && e.tier == Gated {
		return
	}
	q.remove(i)
	q.insert(i, Gated)
	if !stayed {
		q.count(i, Unschedulable, event)
	}
	q.moved(now, i, Gated, event)
}

// requeue sends the entity i where hint says; event is the label of the cause. (scheduling_queue.go,
// requeueEntityWithQueueingStrategy.)
func (q *Queue) requeue(now int64, i int32, hint strategy, event string) {
	e := q.entries.At(i)
	switch {
	case hint == queueSkip && e.place != nowhere:
	case hint == queueSkip:
		to := Unschedulable
		if e.gatingPlugin != 0 {
			to = Gated
		}
		q.insert(i, to)
		q.count(i, Unschedulable, event)
		q.moved(now, i, to, event)
	case hint == queueInBackoffQ, hint == queueAfterBackoff && q.backingOff(now, e):
		q.moveToBackoffQ(now, i, event)
	default:
		q.moveToActiveQ(now, i, event)
	}
}

// FlushBackoffCompleted moves the pods whose backoff is over from backoffQ to activeQ. Upstream does it
// every BackoffFlushInterval; with PopFromBackoffQ, at whole seconds. (flushBackoffQCompleted.)
func (q *Queue) FlushBackoffCompleted(now time.Time) {
	t := now.UnixNano()
	completed := q.scratch[:0]
	for _, h := range []*heap{&q.backoffQ, &q.errorBackoffQ} {
		for len(h.items) > 0 && !q.backingOff(t, q.entries.At(h.items[0].entry)) {
			i := h.items[0].entry
			q.remove(i)
			completed = append(completed, i)
		}
	}
	q.scratch = ebb.Slice(completed)
	for _, i := range completed {
		q.moveOutOfBackoffQ(t, i, BackoffComplete)
	}
}

// FlushUnschedulableLeftover moves the pods that have been unschedulable or gated for longer than
// PodMaxInUnschedulablePods, counted from their last failure or their last flush. Upstream does it every
// LeftoverFlushInterval. (flushUnschedulableEntitiesLeftover.)
func (q *Queue) FlushUnschedulableLeftover(now time.Time) {
	t := now.UnixNano()
	left := q.scratch[:0]
	for _, i := range q.unschedulable {
		e := q.entries.At(i)
		if t-q.rules.leftSince(e) > int64(q.opts.PodMaxInUnschedulablePods) {
			e.flushed = t
			left = append(left, i)
		}
	}
	q.scratch = ebb.Slice(left)
	if len(left) > 0 {
		q.moveAll(t, left, eventUnschedulableTimeout, nil, nil)
	}
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
