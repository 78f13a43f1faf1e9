package evidence

import (
	"slices"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/ratelimit"
)

// requests are those that the scheduler is seen to send by the client that its loop waits for, against that client's rate limit.
// A source that sees the cluster and not the API server tells none of them (sources.Requested). Then those are counted that show by what
// they changed: the patches of pods' statuses, and the bindings.
type requests struct {
	limit *rate.Limiter
	told  bool                   // the source tells them
	left  float64                // of fewer that are left of the limit, a request had waited
	sent  []sending              // lately, in order
	bound map[types.UID]struct{} // of none told: the pods that are seen to be bound, and not to run yet
	// cadence is of those that show, if none are told: of many that were refused, too few show to use the limit up.
	cadence ratelimit.Cadence
	// refused is how many may have been sent behind the last one that shows, if none are told, and were refused: see podGone.
	refused int
}

// sending is a request of the scheduler's, and whether it had waited for the rate limit.
type sending struct {
	at     time.Time
	waited bool
}

// count counts a told request that the API server had at that moment against the rate limit. It had waited if no more
// than its own turn was left.
func (r *requests) count(at time.Time) {
	r.send(at, 0)
	r.limit.ReserveN(at, 1)
}

// show counts a request that shows by what it changed, if none are told. No debt is left of it: it may be counted a little later than it
// was sent.
func (r *requests) show(at time.Time) {
	if r.told {
		return
	}
	refused := min(r.refused, max(0, int(r.limit.TokensAt(at))))
	r.limit.ReserveN(at, refused)
	r.cadence.UseUp(r.limit, at)
	if r.send(at, refused) {
		r.refused -= refused
	} else {
		r.refused = 0 // there was no line
	}
	r.limit.AllowN(at, 1)
}

// podGone takes in that a pod without a node is gone. If the scheduler had placed it, its binding is refused, and does not show: where requests
// wait, maybe behind the last one that does. Where none waits, it has been sent.
func (r *requests) podGone() {
	if n := len(r.sent); !r.told && n > 0 && r.sent[n-1].waited {
		r.refused++
	}
}

// send notes a request that the API server had at that moment, and reports whether it had waited. So many may have been sent before it, behind
// the last one that shows.
func (r *requests) send(at time.Time, refused int) (waited bool) {
	if n := len(r.sent); n > 0 && at.Before(r.sent[n-1].at) {
		at = r.sent[n-1].at
	}
	waited = r.limit.TokensAt(at) < r.left && (r.told || r.inARow(at, refused))
	r.sent = append(r.sent, sending{at, waited})
	if len(r.sent) == 2*maxSent {
		r.sent = slices.Clone(r.sent[maxSent:])
	}
	return waited
}

// inARow reports whether a request that is sent at that moment, with so many behind the last one that shows, follows as soon as those do that
// wait, with no time for one more between: they are let through one by one (golang.org/x/time/rate). Behind a longer pause it may have been
// sent as soon as it was made.
func (r *requests) inARow(at time.Time, refused int) bool {
	n := len(r.sent)
	return n == 0 || at.Sub(r.sent[n-1].at).Seconds()*float64(r.limit.Limit()) < float64(2+refused)
}

// attach takes nothing to be left of the limit where the source comes to a scheduler at work: whose requests are fewer does not wait for
// long by that.
func (r *requests) attach(now time.Time) {
	if !r.told {
		r.limit.ReserveN(now, int(r.limit.TokensAt(now)))
	}
}

// ownTurn is how many requests the rate limit lets through, at the most, when one is sent that had waited. Derived: its own,
// and as much as comes in while it is on its way. Measured: 0.5 to 1.5.
const ownTurn = 2

// maxSent is how many requests are known at least. A bound: as many are sent within a patch's way to its answer.
const maxSent = 1000

// hadWaited reports whether the last request that was sent by that moment is known to have waited.
func (r *requests) hadWaited(at time.Time) bool {
	i, _ := slices.BinarySearchFunc(r.sent, at, func(s sending, at time.Time) int {
		if s.at.After(at) {
			return 1
		}
		return -1
	})
	return i > 0 && r.sent[i-1].waited
}
