package standstill

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/evidence"
)

// When pods are placed, by the requests that show that they were: a binding is sent as soon as its pod is placed (schedule_one.go,
// runBindingCycle), unless others have to provide something first, or requests wait for the client's rate limit or beside the loop.

// PlacesAfter reports whether pod is seen to be bound by a request that is sent after that moment, and so was placed after that, unless
// others have to provide something first.
func (l *Loop) PlacesAfter(now, sent time.Time, pod *v1.Pod) bool {
	if cluster.BindsLate(pod) || cluster.MayHaveDevices(pod) {
		return false
	}
	seen := l.Future.Fate(pod.UID, now, l.Patience)
	if seen != nil && !seen.KnowsSent() {
		sent = sent.Add(l.Request)
	}
	return seen != nil && seen.Placed() && seen.By.After(sent)
}

// PlacesLater reports whether pod is placed later than the one that is first seen to be bound: its own binding is sent later, or, if
// that is not known, answered later, by more than twice as long as requests take.
func (l *Loop) PlacesLater(now time.Time, pod *v1.Pod, first *evidence.Sighting) bool {
	if cluster.BindsLate(pod) || cluster.MayHaveDevices(pod) || l.Channels.Saturated(now) || l.Channels.Config.AsyncAPICalls {
		return false
	}
	own := l.Future.Fate(pod.UID, now, l.Patience)
	least := 2 * l.Request
	if own != nil && own.KnowsSent() && first.KnowsSent() {
		least = l.Soon
	}
	return own != nil && own.Placed() && own.By.Sub(first.By) > least && !l.IsPlacedBefore(now, own)
}

// LastBefore returns when the last attempt failed, after now, before the one that placed the pod which is seen to be bound, or zero if
// none is told to have. Where the loop waits for its patches, requests that wait are sent in the order in which they were made.
func (l *Loop) LastBefore(now time.Time, seen *evidence.Sighting) time.Time {
	if !seen.Waited || !l.Channels.Logged() || l.Channels.Config.AsyncAPICalls {
		return time.Time{}
	}
	return l.Future.FailedBefore(now, seen.By.Add(-l.ShortestRequest))
}
