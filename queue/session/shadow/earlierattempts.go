package shadow

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// earlierAttempts collects what is known of attempts made before a source attached to the
// scheduler. The zero value is empty.
type earlierAttempts struct {
	tried  []*sources.Tried
	failed []sources.Event
}

// Tried adds the source's summary of a pod's earlier attempts.
func (a *earlierAttempts) Tried(t *sources.Tried) { a.tried = append(a.tried, t) }

// Failed adds an earlier attempt that is reported late: the scheduler sends Events through a
// separate client, whose rate limit delays them by seconds when many attempts fail.
func (a *earlierAttempts) Failed(ev sources.Event) { a.failed = append(a.failed, ev) }

// ByPod returns the earlier attempts by pod. last contains the pods whose last attempt with an
// Event is known. Events are written in the order in which the attempts failed (k8s.io/client-go
// v0.37, tools/events/event_broadcaster.go), so all Events behind a late one are late, too.
func (a *earlierAttempts) ByPod() (tried map[types.UID]*sources.Tried, last map[types.UID]bool) {
	tried, last = map[types.UID]*sources.Tried{}, map[types.UID]bool{}
	for _, t := range a.tried {
		tried[t.UID] = t
	}
	for _, ev := range a.failed {
		f := ev.Fact.(*sources.FailedAttempt)
		sum := sources.Tried{Pod: f.Pod, UID: f.UID, First: ev.Time}
		if t := tried[f.UID]; t != nil {
			if sum = *t; !ev.Time.After(t.Failed) {
				continue
			}
		}
		sum.Attempts, sum.Failed, sum.Message = sum.Attempts+1, ev.Time, f.Message
		if f.Version != "" {
			sum.Recorded = f.Recorded
		}
		tried[f.UID], last[f.UID] = &sum, f.Version != ""
	}
	return tried, last
}
