package shadow

import (
	"time"

	"github.com/schedq/schedq/queue"
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
	if e.Attempts < 2 || now.Sub(e.InitialAttemptTimestamp)/time.Duration(e.Attempts) > opts.PodMaxBackoff {
		return // the pod is not tried that often
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
