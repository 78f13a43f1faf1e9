package shadow

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// earlierAttempts are what is known of attempts that were made before a source came to the scheduler. The zero value is of none.
type earlierAttempts struct {
	tried  []*sources.Tried
	failed []sources.Event
}

// Tried takes in what was known of a pod's attempts when the source came.
func (a *earlierAttempts) Tried(t *sources.Tried) { a.tried = append(a.tried, t) }

// Failed takes in an attempt that was made before, and is told only later: the scheduler's Events have a client of their own, whose rate
// limit holds them up for seconds where many attempts fail.
func (a *earlierAttempts) Failed(ev sources.Event) { a.failed = append(a.failed, ev) }

// ByPod returns what is known by pod. last has the pods of which the last attempt is known that made an Event: Events are written in the order
// in which the attempts failed (k8s.io/client-go v0.37, tools/events/event_broadcaster.go), so all those behind one that came
// late come later, too.
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
