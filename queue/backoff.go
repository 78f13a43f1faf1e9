package queue

import (
	"math"
	"time"
)

// setExpiry computes when the backoff of entity i ends, unless that is known.
func (q *Queue) setExpiry(i int32) {
	e := q.entries.At(i)
	if count := q.rules.backoffCount(e); e.backoffExpiry == unset && count > 0 && q.opts.PodMaxBackoff > 0 {
		e.backoffExpiry = q.alignToWindow(e.timestamp + int64(q.opts.BackoffOf(int(count), q.size(i))))
	}
}

// backingOff reports whether e still backs off. With PopFromBackoffQ, it does until the end of the second
// in which the backoff expires. It models isEntityBackingoff and getBackoffTime in backoff_queue.go.
func (q *Queue) backingOff(now int64, e *entry) bool {
	return q.opts.PodMaxBackoff != 0 && q.rules.backoffCount(e) > 0 && !q.rules.backoffOver(q, e.backoffExpiry, now)
}

// backoffCount returns the number of failures that determines e's backoff.
func (e *entry) backoffCount() int32 {
	if e.errorsCount > 0 {
		return e.errorsCount
	}
	return e.unschedulableCount
}

// leftoverSince returns the time from which the leftover flush counts.
func (e *entry) leftoverSince() int64 { return max(e.timestamp, e.flushed) }

// countFailureInBackoffMap counts a failure of e as v1.16 did: it ignores failures during a backoff, and
// starts again at 1 if the last backoff is long over. It models pod_backoff.go, and backoffPod in
// scheduling_queue.go.
func (q *Queue) countFailureInBackoffMap(now int64, e *entry, _ bool) {
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

// alignToWindow truncates t to a whole second if backoffQ is ordered in windows.
func (q *Queue) alignToWindow(t int64) int64 {
	if !q.opts.PopFromBackoffQ {
		return t
	}
	return q.opts.WindowOf(toTime(t)).UnixNano()
}

// Realign sets Options.ClockAhead and recomputes all backoff expiries. No pod moves. If an expiry does not
// follow from the pod's own failures, only its second is known, and Realign assumes the middle of it.
func (q *Queue) Realign(ahead time.Duration) {
	before := q.opts
	q.opts.ClockAhead = ahead
	if ahead == before.ClockAhead || !q.opts.PopFromBackoffQ {
		return
	}
	for i, e := range q.entries.All() {
		if e.backoffExpiry == unset {
			continue
		}
		end := toTime(e.timestamp).Add(q.opts.BackoffOf(int(q.rules.backoffCount(e)), q.size(i)))
		if observed := toTime(e.backoffExpiry); !before.WindowOf(end).Equal(observed) {
			end = observed.Add(BackoffFlushInterval / 2)
		}
		e.backoffExpiry = q.opts.WindowOf(end).UnixNano()
	}
	for _, h := range []*heap{&q.activeQ, &q.backoffQ, &q.errorBackoffQ} {
		h.restore(&q.entries)
	}
}

// Backoff returns the backoff of a pod after its count-th failure: PodInitialBackoff, doubled with each
// further failure, at most PodMaxBackoff. It models calculateBackoffDuration in backoff_queue.go.
func (o Options) Backoff(count int) time.Duration { return o.BackoffOf(count, 1) }

// BackoffOf returns the backoff of a pod group with that many pods. Its maximum is PodMaxBackoff times the
// square root of the number of pods.
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
