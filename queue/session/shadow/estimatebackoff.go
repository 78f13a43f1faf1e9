package shadow

import (
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/flush"
)

// BackOffUntil has the backoff of e's pod end then, after as few attempts as that may be after, if ends is yet to come and e does not know
// of a later failure than the one that it would follow.
func (e *Estimate) BackOffUntil(now, ends time.Time, opts queue.Options) {
	if ends.After(now) && e.endBackoff(now, ends, opts) && e.Tier == queue.Active {
		e.Tier = queue.Backoff
	}
}

// BackOffLikely has the backoff of e's pod end where it is as likely to end sooner as later: what is known of its last attempt may be
// old, since not each leaves a trace, and a pod that is woken again and again is tried as often as its backoff allows. An event that may wake pods comes at stir, and the last one was
// likely as long before now.
func (e *Estimate) BackOffLikely(now, stir time.Time, opts queue.Options) {
	if e.failedLast || e.Attempts < 2 || now.Sub(e.InitialAttemptTimestamp)/time.Duration(e.Attempts) > opts.PodMaxBackoff {
		return // it is known, or the pod is not tried that often
	}
	if likely := now.Add(opts.Backoff(e.Attempts) / 2); likely.After(e.Timestamp.Add(opts.Backoff(e.Attempts))) {
		e.BackoffExpiry = likely
	}
	isWoken := !opts.PopFromBackoffQ && now.Sub(e.Timestamp) > stir.Sub(now) // nothing takes it out of backoffQ before its time
	if e.Tier == queue.Active || e.Tier == queue.Unschedulable && isWoken {
		e.Tier = queue.Backoff
	}
}

// endBackoff is BackOffUntil of any moment, and says nothing of the tier. It reports whether it has changed e.
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

// mostAttempts returns after how many attempts, of which the last is known, the backoff ends by then at the latest.
func (e *Estimate) mostAttempts(ends time.Time, opts queue.Options) int {
	attempts := e.Attempts
	for opts.Backoff(attempts) < opts.PodMaxBackoff && !e.Timestamp.Add(opts.Backoff(attempts+1)).After(ends) {
		attempts++
	}
	return attempts
}

// makeAttempts has so many attempts have failed, and reports whether other ones had.
func (e *Estimate) makeAttempts(attempts int) bool {
	had := e.Attempts
	if e.Attempts = attempts; e.UnschedulableCount > 0 {
		e.UnschedulableCount = attempts
	} else {
		e.ConsecutiveErrorsCount = attempts
	}
	return attempts != had
}

// TriedInCrowd takes in that the next attempt of e's pod, one of more than the loop has time for, is made at tried. Such a loop finds none in
// activeQ but those that a flush has put there: the last flush before that attempt, if each makes room for the next one. So the backoff
// ended in the second before that flush, as long before its end as the attempt came before the next flush, for pods are taken in
// the order in which they failed.
//
// An event that may wake pods comes at stir, and no other before. The last one was likely as long before now: so a pod that had failed
// before that has been woken.
func (e *Estimate) TriedInCrowd(now, tried, stir time.Time, ticks flush.Ticks, opts queue.Options) {
	e.InCrowd = true
	e.endBackoff(now, tried.Add(-queue.BackoffFlushInterval), opts)
	if e.Tier == queue.Unschedulable && now.Sub(e.Timestamp) <= stir.Sub(now) {
		return
	}
	e.Tier = queue.Active
	if ends := e.Timestamp.Add(opts.Backoff(e.Attempts)); flush.TickAfter(ticks.Backoff, queue.BackoffFlushInterval, ends).After(now) {
		e.Tier = queue.Backoff
	}
}
