package shadow

import (
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/flush"
)

// BackOffUntil sets the end of the pod's backoff to ends, with as few attempts as possible. It does
// nothing if ends is not in the future, or if e contains a later failure than the one that would
// precede that backoff.
func (e *Estimate) BackOffUntil(now, ends time.Time, opts queue.Options) {
	if ends.After(now) && e.endBackoff(now, ends, opts) && e.Tier == queue.Active {
		e.Tier = queue.Backoff
	}
}

// BackOffLikely sets the end of the pod's backoff to its most likely time, half a backoff from now,
// unless the last known attempt puts it later. That attempt may be outdated, since not every
// attempt leaves a trace, and a pod that events keep waking is tried as often as its backoff
// allows. The next event that may wake pods is at nextWake; the previous one was probably as long
// before now.
func (e *Estimate) BackOffLikely(now, nextWake time.Time, opts queue.Options) {
	if e.failedLast || e.Attempts < 2 || now.Sub(e.InitialAttemptTimestamp)/time.Duration(e.Attempts) > opts.PodMaxBackoff {
		return // the last attempt is known, or the pod is not tried that often
	}
	if likely := now.Add(opts.Backoff(e.Attempts) / 2); likely.After(e.Timestamp.Add(opts.Backoff(e.Attempts))) {
		e.BackoffExpiry = likely
	}
	// The loop does not take pods from backoffQ early.
	isWoken := !opts.PopFromBackoffQ && now.Sub(e.Timestamp) > nextWake.Sub(now)
	if e.Tier == queue.Active || e.Tier == queue.Unschedulable && isWoken {
		e.Tier = queue.Backoff
	}
}

// endBackoff is like BackOffUntil, but accepts any time and does not change the tier. It reports
// whether it changed e.
func (e *Estimate) endBackoff(now, ends time.Time, opts queue.Options) bool {
	if e.failedLast {
		return !e.failedFirst && e.makeAttempts(e.mostAttempts(ends, opts))
	}
	attempts, backoff := e.Attempts, opts.Backoff(e.Attempts)
	for ; ends.Sub(now) > backoff && backoff < opts.PodMaxBackoff; backoff = opts.Backoff(attempts) {
		attempts++
	}
	failed := ends.Add(-backoff)
	if !failed.After(e.Timestamp) || failed.After(now) {
		return false
	}
	e.Timestamp = failed
	e.makeAttempts(attempts)
	return true
}

// mostAttempts returns the largest number of attempts, ending with the last known one, after which
// the backoff is over by ends.
func (e *Estimate) mostAttempts(ends time.Time, opts queue.Options) int {
	attempts := e.Attempts
	for opts.Backoff(attempts) < opts.PodMaxBackoff && !e.Timestamp.Add(opts.Backoff(attempts+1)).After(ends) {
		attempts++
	}
	return attempts
}

// makeAttempts sets the number of failed attempts and reports whether it changed.
func (e *Estimate) makeAttempts(attempts int) bool {
	had := e.Attempts
	if e.Attempts = attempts; e.UnschedulableCount > 0 {
		e.UnschedulableCount = attempts
	} else {
		e.ConsecutiveErrorsCount = attempts
	}
	return attempts != had
}

// TriedInCrowd adjusts e for a pod whose next attempt is at tried and that is one of more pods than
// the loop has time for. Such a loop finds only those pods in activeQ that a flush has put there:
// the last flush before the attempt, if the loop finishes each batch before the next flush. So the
// backoff ended in the second before that flush. It ended as long before the flush as the attempt
// was before the next one, since pods are taken in the order in which they failed.
//
// The next event that may wake pods is at nextWake. The previous one was probably as long before
// now, so a pod that failed before that has been woken.
func (e *Estimate) TriedInCrowd(now, tried, nextWake time.Time, ticks flush.Ticks, opts queue.Options) {
	e.InCrowd = true
	e.endBackoff(now, tried.Add(-queue.BackoffFlushInterval), opts)
	if e.Tier == queue.Unschedulable && now.Sub(e.Timestamp) <= nextWake.Sub(now) {
		return
	}
	e.Tier = queue.Active
	if ends := e.Timestamp.Add(opts.Backoff(e.Attempts)); flush.TickAfter(ticks.Backoff, queue.BackoffFlushInterval, ends).After(now) {
		e.Tier = queue.Backoff
	}
}
