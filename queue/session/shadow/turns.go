package shadow

import (
	"iter"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/channels"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/evidence"
)

// turns estimates when requests that wait for the client's rate limit are sent.
type turns struct {
	Future   *evidence.Future
	Channels *channels.Channels
	Binding  iter.Seq[*v1.Pod] // the pods that are being bound
	// Patience limits how far ahead the outcome of a pod is looked up.
	Patience time.Duration
}

// Next returns when a request made now is sent, after the requests that already wait. It returns
// now if none waits or the source records all requests.
func (t *turns) Next(now time.Time) time.Time {
	if t.Channels.Logged() {
		return now
	}
	return t.Channels.SendTime(now, t.lastBound(now))
}

// Take is like Next and enqueues the request: later requests wait behind it.
func (t *turns) Take(now time.Time) time.Time {
	turn := t.Next(now)
	t.Channels.Enqueue(now, turn)
	return turn
}

// lastBound returns the latest observed time at which one of the pods in Binding is bound, or zero
// if none is observed.
func (t *turns) lastBound(now time.Time) (last time.Time) {
	for pod := range t.Binding {
		seen := t.Future.BindingOutcome(pod.UID, now, t.Patience)
		if seen != nil && seen.Placed() && !cluster.BindsLate(pod) && seen.Time.After(last) {
			last = seen.Time
		}
	}
	return last
}
