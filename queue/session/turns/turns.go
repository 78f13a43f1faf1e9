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
	Binding  iter.Seq[*v1.Pod] // the pods that are being bound
	// Patience is as far as anybody looks for what becomes of a pod.
	Patience time.Duration
}

// RefusedAt returns when the API server refuses the patch of that pod that the loop makes now, where no watch tells of that: the pod is gone
// before it is sent, behind the bindings that wait, too. Else it returns now.
func (t *Turns) RefusedAt(now time.Time, uid types.UID) time.Time {
	if t.Channels.Exact || t.Channels.Logged() || t.Channels.Config.AsyncAPICalls || !t.Channels.Saturated(now) {
		return now
	}
	at, apart := now, t.Channels.Config.ClientInterval()
	for pod := range t.Binding {
		switch seen := t.Future.Fate(pod.UID, now, t.Patience); {
		case cluster.BindsLate(pod):
		case seen != nil && seen.Placed():
			at = seen.Time
		default:
			at = at.Add(apart) // refused, too
		}
	}
	if at = at.Add(apart); !t.Future.PodEnds(uid, now, at.Sub(now)) {
		return now
	}
	return at
}
