package queue

import "time"

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
			q.each(i, func(e *entry) { e.wasFlushed = true })
			e.flushed = t
			left = append(left, i)
		}
	}
	q.scratch = left
	if len(left) > 0 {
		q.moveAll(t, left, eventUnschedulableTimeout, nil, nil)
	}
}
