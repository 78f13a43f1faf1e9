package shadow

import (
	"iter"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/channels"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/evidence"
)

// turns is what is known of the requests that wait.
type turns struct {
	Future   *evidence.Future
	Channels *channels.Channels
	Binding  iter.Seq[*v1.Pod] // the pods that are being bound
	// Patience is as far as anybody looks for what becomes of a pod.
	Patience time.Duration
}

// Next returns when a request made now is sent, after those that wait. If none waits, or the source has all requests, that is now.
func (t *turns) Next(now time.Time) time.Time {
	if t.Channels.Logged() {
		return now
	}
	return t.Channels.SendTime(now, t.lastBound(now))
}

// Take is Next of a request that is made: those made later are behind it.
func (t *turns) Take(now time.Time) time.Time {
	turn := t.Next(now)
	t.Channels.Enqueue(now, turn)
	return turn
}

// lastBound returns when the last of the pods is bound that are being bound and are seen to be. Zero if none is.
func (t *turns) lastBound(now time.Time) (last time.Time) {
	for pod := range t.Binding {
		seen := t.Future.BindingOutcome(pod.UID, now, t.Patience)
		if seen != nil && seen.Placed() && !cluster.BindsLate(pod) && seen.Time.After(last) {
			last = seen.Time
		}
	}
	return last
}
