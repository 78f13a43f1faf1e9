package queue

import (
	"math"
	"time"
)

// setExpiry works out when the backoff of the entity i ends, unless that is known.
func (q *Queue) setExpiry(i int32) {
	e := q.entries.At(i)
	if count := q.rules.failures(e); e.backoffExpiry == unset && count > 0 && q.opts.PodMaxBackoff > 0 {
		e.backoffExpiry = q.alignToWindow(e.timestamp + int64(q.opts.BackoffOf(int(count), q.size(i))))
	}
}

// backingOff reports whether e must still wait. With PopFromBackoffQ it is true to the end of the second
// in which the backoff expires. (backoff_queue.go, isEntityBackingoff and getBackoffTime.)
func (q *Queue) backingOff(now int64, e *entry) bool {
	return q.opts.PodMaxBackoff != 0 && q.rules.failures(e) > 0 && !q.rules.isOver(q, e.backoffExpiry, now)
}

// failures is what e's backoff is worked out from.
func (e *entry) failures() int32 {
	if e.errorsCount > 0 {
		return e.errorsCount
	}
	return e.unschedulableCount
}

// leftSince is what the leftover flush counts from.
func (e *entry) leftSince() int64 { return max(e.timestamp, e.flushed) }

// backOff counts a failure of e as v1.16 did: not during a backoff, and anew when the last one was long ago.
// (pod_backoff.go; scheduling_queue.go, backoffPod.)
func (q *Queue) backOff(now int64, e *entry, _ bool) {
	count, expiry := e.unschedulableCount, e.backoffExpiry
	if expiry >= now {
		return
	}
	if expiry-int64(q.opts.Backoff(int(count)))+2*int64(q.opts.PodMaxBackoff) < now {
		count = 0
	}
	count++
	e.unschedulableCount, e.backoffExpiry = count, now+int64(q.opts.Backoff(int(count)))
}

// alignToWindow cuts t to a whole second if backoffQ is ordered in windows.
func (q *Queue) alignToWindow(t int64) int64 {
	if !q.opts.PopFromBackoffQ {
		return t
	}
	return q.opts.WindowOf(toTime(t)).UnixNano()
}

// Realign takes in that the clock of the times that the queue is given is so far ahead of the scheduler's (see Options.ClockAhead). It
// works out anew when backoffs end; nobody moves. Of a backoff whose end was told, the second is known alone: it is taken to
// end in the middle of that.
func (q *Queue) Realign(ahead time.Duration) {
	before := q.opts
	q.opts.ClockAhead = ahead
	if ahead == before.ClockAhead || !q.opts.PopFromBackoffQ {
		return
	}
	for i, e := range q.entries.All() {
		if isReleased := e.pod == nil && e.group == 0; isReleased || e.backoffExpiry == unset {
			continue
		}
		end := toTime(e.timestamp).Add(q.opts.BackoffOf(int(q.rules.failures(e)), q.size(i)))
		if told := toTime(e.backoffExpiry); !before.WindowOf(end).Equal(told) {
			end = told.Add(BackoffFlushInterval / 2)
		}
		e.backoffExpiry = q.opts.WindowOf(end).UnixNano()
	}
	for _, h := range []*heap{&q.activeQ, &q.backoffQ, &q.errorBackoffQ} {
		h.restore(&q.entries)
	}
}

// Backoff returns how long a pod backs off after its count-th failure: PodInitialBackoff, doubled with
// each further one, at most PodMaxBackoff. (backoff_queue.go, calculateBackoffDuration.)
func (o Options) Backoff(count int) time.Duration { return o.BackoffOf(count, 1) }

// BackoffOf is Backoff for a pod group of so many pods: its maximum is longer by their square root.
func (o Options) BackoffOf(count, pods int) time.Duration {
	if count <= 0 {
		return 0
	}
	longest := o.PodMaxBackoff
	if pods > 1 {
		longest = time.Duration(float64(longest) * math.Sqrt(float64(pods)))
	}
	shift := min(count-1, math.MaxInt16)
	if o.PodInitialBackoff > longest>>shift {
		return longest
	}
	return o.PodInitialBackoff << shift
}
