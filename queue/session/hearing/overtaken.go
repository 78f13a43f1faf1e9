package hearing

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/channels"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/reason"
	"github.com/schedq/schedq/sources"
)

// How long after an attempt what shows of it is told at the latest, by what it tells itself. Measured, in nine recordings: Events of failed
// attempts are stamped up to 0.3 ms after their ends (95th percentile; 0.4 to 7 ms the 99th), and when the API server had a binding the next
// attempt had begun up to 2.5 to 6 ms before, where requests do not wait for each other.
const (
	stampedWithin = time.Millisecond
	sentWithin    = 5 * time.Millisecond
)

// overtaken returns when the last attempt ended that was made although it would have been another pod's turn if the scheduler had heard of
// change c, which can have been at since at the soonest: that pod sleeps, c wakes it, and its next attempt, which shows, is told to have
// ended later. Zero if there is none, and c must rouse pods (evidence.Rouses). That c wakes it is known if nothing else can have, or by the hints of the plugins that rejected it.
func (h *Hearing) overtaken(since time.Time, c *sources.ObjectChange) (ended time.Time) {
	var tried, others []*evidence.Sighting
	for s := range h.Future.Changes(since, channels.Foresight+Earlier) {
		if s.MayRouse() {
			others = append(others, s)
		}
	}
	looked, known := 0, map[types.UID]bool{}
	for next := range h.Future.Shown(since, channels.Foresight) {
		if looked++; looked > mostTold {
			break
		}
		if !known[next.UID] {
			known[next.UID] = true
			if last := h.lastBefore(since, next, tried, others, c); last.After(ended) {
				ended = last
			}
		}
		if next.Kind == evidence.Failed {
			tried = append(tried, next)
		}
	}
	return ended
}

// lastBefore returns when the last of those attempts ended that were made before the next one of a pod which c wakes, though it was not their
// turn. others are changes behind c. Zero if none was.
func (h *Hearing) lastBefore(since time.Time, next *evidence.Sighting, tried, others []*evidence.Sighting, c *sources.ObjectChange) (ended time.Time) {
	pod, toCome := h.sleeper(since, next)
	if pod == nil {
		return ended
	}
	for _, other := range slices.Backward(tried) {
		if other.Time.Before(toCome) && h.Line.WouldPrecede(since, next, other) {
			_, ofPod := c.Object.(*v1.Pod) // that has ended, or is deleted: others rouse none
			if isOnly(others, next) || h.Scheduler.WouldWake(pod, c.Object, ofPod || c.Verb == sources.Deleted) {
				ended = other.Time
			}
			break
		}
	}
	return ended
}

// sleeper returns the pod of which next shows an attempt, and when that attempt was to come yet, if the pod sleeps and no attempt of it since
// that moment is one that did not show. Nil otherwise.
func (h *Hearing) sleeper(since time.Time, next *evidence.Sighting) (pod *v1.Pod, toCome time.Time) {
	info, ok := h.Line.Get(next.Pod.Namespace, next.Pod.Name)
	if !ok || info.Pod.UID != next.UID || info.Tier != queue.Unschedulable && info.Tier != queue.Gated {
		return nil, toCome
	}
	pod = info.Pod
	switch {
	case next.Kind == evidence.Failed:
		toCome = next.By.Add(-stampedWithin)
	case next.Kind != evidence.Bound || next.Waited || !next.KnowsSent() || h.Channels.Config.AsyncAPICalls:
		return nil, toCome // its attempt was some time before, while others were made
	case cluster.BindsLate(pod) || cluster.MayHaveDevices(pod):
		return nil, toCome // likewise: others have to provide something
	default:
		toCome = next.By.Add(-sentWithin)
	}
	if h.Channels.Silence(since, pod) != reason.Told || next.By.After(h.Channels.Horizon(since, pod)) {
		return nil, toCome
	}
	return pod, toCome
}

// isOnly reports whether none of the others can have woken the pod of which next shows an attempt.
func isOnly(others []*evidence.Sighting, next *evidence.Sighting) bool {
	return !slices.ContainsFunc(others, func(s *evidence.Sighting) bool {
		return s.UID != next.UID && !s.Time.Add(-Earlier).After(next.By)
	})
}
