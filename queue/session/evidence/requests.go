package evidence

import (
	"slices"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
)

// requests counts the requests of the client that the scheduling loop waits for against the client's rate
// limit. A source that does not record them (sources.Requested) only shows those that change something:
// status patches and bindings.
type requests struct {
	limit    *rate.Limiter
	recorded bool      // the source records them
	low      float64   // a request has waited if fewer tokens were left
	sent     []request // at least the last minSent, in order

	// The rest is only used if requests are not recorded.

	bound map[types.UID]struct{} // pods that were bound and do not run yet
	// cadence of the visible requests. It detects waiting if too few are visible to use the limit up.
	cadence cadence
	// refused is how many requests may have been sent after the last visible one and been refused: see
	// onPendingDeleted.
	refused int
}

// request is a request of the scheduler.
type request struct {
	at      time.Time
	limited bool // it waited for the rate limit
}

// countRecorded counts a recorded request that the API server received at that time. It had waited if no
// more than ownTokens were left.
func (r *requests) countRecorded(at time.Time) {
	r.send(at, 0)
	r.limit.ReserveN(at, 1)
}

// countVisible counts a visible request if requests are not recorded. It never makes the limit's tokens
// negative, as the time may be a little late.
func (r *requests) countVisible(at time.Time) {
	if r.recorded {
		return
	}
	refused := min(r.refused, max(0, int(r.limit.TokensAt(at))))
	r.limit.ReserveN(at, refused)
	r.cadence.observe(r.limit, at)
	if r.send(at, refused) {
		r.refused -= refused
	} else {
		r.refused = 0 // no request waited
	}
	r.limit.AllowN(at, 1)
}

// onPendingDeleted counts the deletion of a pod without a node. If the scheduler had placed the pod, the
// binding is refused, which is not visible. While requests wait, it may be sent after the last visible one;
// otherwise it was sent before.
func (r *requests) onPendingDeleted() {
	if n := len(r.sent); !r.recorded && n > 0 && r.sent[n-1].limited {
		r.refused++
	}
}

// send records a request that the API server received at that time, and reports whether it had waited.
// refused is how many may have been sent between the last visible request and this one.
func (r *requests) send(at time.Time, refused int) (limited bool) {
	if n := len(r.sent); n > 0 && at.Before(r.sent[n-1].at) {
		at = r.sent[n-1].at
	}
	limited = r.limit.TokensAt(at) < r.low && (r.recorded || r.isBackToBack(at, refused))
	r.sent = append(r.sent, request{at, limited})
	if len(r.sent) == 2*minSent {
		r.sent = slices.Clone(r.sent[minSent:])
	}
	return limited
}

// isBackToBack reports whether a request at that time follows the last visible one and refused others as
// closely as waiting requests do, with no time for one more. After a longer pause it may have been sent at
// once: the limit lets waiting requests through one by one (golang.org/x/time/rate).
func (r *requests) isBackToBack(at time.Time, refused int) bool {
	n := len(r.sent)
	return n == 0 || at.Sub(r.sent[n-1].at).Seconds()*float64(r.limit.Limit()) < float64(2+refused)
}

// onAttach assumes that no tokens are left when the source attaches to a running scheduler. If the scheduler
// sends few requests, the limit recovers soon.
func (r *requests) onAttach(now time.Time) {
	if !r.recorded {
		r.limit.ReserveN(now, int(r.limit.TokensAt(now)))
	}
}

// ownTokens is how many tokens are left at most when a request that has waited is sent. Derived: its own
// and those added while it is on its way. Measured: 0.5 to 1.5.
const ownTokens = 2

// minSent is how many requests are remembered at least: more than are sent while a patch is under way.
const minSent = 1000

// rateLimited reports whether the last request sent by that time is known to have waited.
func (r *requests) rateLimited(at time.Time) bool {
	i, _ := slices.BinarySearchFunc(r.sent, at, func(s request, at time.Time) int {
		if s.at.After(at) {
			return 1
		}
		return -1
	})
	return i > 0 && r.sent[i-1].limited
}
