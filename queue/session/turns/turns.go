// Package turns knows when the scheduler's client sends a request that no source tells of: in its turn, behind those that wait for the client's
// rate limit.
package turns

import (
	"iter"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/channels"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/evidence"
)

// Turns is what is known of the requests that wait.
type Turns struct {
	Future   *evidence.Future
	Channels *channels.Channels
	Line     *Line             // of the calls for which the loop does not wait
	Binding  iter.Seq[*v1.Pod] // the pods that are being bound
	// Patience is as far as anybody looks for what becomes of a pod.
	Patience time.Duration
}

// Next returns when a request is sent that is made now, behind those that wait. Where no request waits, or all are told, it returns now.
func (t *Turns) Next(now time.Time) time.Time {
	if t.Channels.Logged() {
		return now
	}
	return t.Channels.Turn(now, t.lastBound(now))
}

// Take is Next of a request that is made: those made later are behind it.
func (t *Turns) Take(now time.Time) time.Time {
	turn := t.Next(now)
	t.Channels.Wait(now, turn)
	return turn
}

// lastBound returns when the last of the pods is bound that are being bound and are seen to be. Zero if none is.
func (t *Turns) lastBound(now time.Time) (last time.Time) {
	for pod := range t.Binding {
		seen := t.Future.Fate(pod.UID, now, t.Patience)
		if seen != nil && seen.Placed() && !cluster.BindsLate(pod) && seen.Time.After(last) {
			last = seen.Time
		}
	}
	return last
}

// RefusedAt returns when the API server refuses the patch of that pod that the loop makes now, where no watch tells of that: the pod is gone
// before its turn comes. Then it takes it. Else it returns now.
func (t *Turns) RefusedAt(now time.Time, uid types.UID) time.Time {
	if t.Channels.Config.AsyncAPICalls || !t.Future.PodEnds(uid, now, t.Next(now).Sub(now)) {
		return now
	}
	return t.Take(now)
}

// Called takes in that the loop makes a call for pod now, to bind it or to write why it was rejected, and does not wait for it.
func (t *Turns) Called(now time.Time, pod *v1.Pod, binds bool) {
	if !t.lines() || binds && cluster.BindsLate(pod) {
		return
	}
	var seen *evidence.Sighting
	if binds {
		seen = t.Future.Fate(pod.UID, now, t.Patience)
	} else {
		seen = t.Future.Patch(pod.UID, now, t.Patience, true)
	}
	sent := time.Time{}
	if seen != nil && seen.Placed() == binds && cluster.Unscheduled(pod) == nil {
		sent = seen.Time
	}
	t.Line.call(now, pod.UID, sent)
}

// Sent takes in that a request for the pod with that UID was seen to be sent.
func (t *Turns) Sent(now time.Time, uid types.UID) {
	if t.lines() {
		t.Line.see(now, uid)
	}
}

// BindingRefusedAt returns when the API server refuses the binding under way of the pod with that UID, which is gone: in its turn. That is sent, which Take returned when
// it was made, if the loop waits for what it writes. It may be long ago, or zero.
func (t *Turns) BindingRefusedAt(sent time.Time, uid types.UID) time.Time {
	if !t.lines() {
		return sent
	}
	return t.Line.lastSentAt(uid)
}

// lines reports whether there is a line of calls for which the loop does not wait, and it does not show when each of them is sent.
func (t *Turns) lines() bool {
	return t.Channels.Config.AsyncAPICalls && !t.Channels.Exact && !t.Channels.Logged()
}
