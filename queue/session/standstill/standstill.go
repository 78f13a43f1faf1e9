// Package standstill knows what follows from the loop's standing still from when an attempt has failed until the patch of its pod's status is
// answered (schedule_one.go, v1.33, handleSchedulingFailure): what is bound by then was placed before the attempt.
package standstill

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/channels"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/lineup"
	"github.com/schedq/schedq/queue/session/pace"
	"github.com/schedq/schedq/sources"
)

// Loop is what is known of a scheduling loop that stands still.
type Loop struct {
	Future   *evidence.Future
	Channels *channels.Channels
	Line     lineup.Lineup
	Pace     *pace.Pace
	// Crowding is how near the attempt must be that is seen to fail next, Patience as far as anybody looks for a binding.
	Crowding, Patience time.Duration
	// Soon is how near what shows of an attempt is of the one that begins now, Request how long a request takes, and ShortestRequest at the least.
	Soon, Request, ShortestRequest time.Duration
	// BesideLoop returns what reports whether a sighting is of a patch that is sent beside the loop.
	BesideLoop func(now time.Time) func(*evidence.Sighting) bool
}

// NextPatched returns the patch of the attempt that is seen to fail next, if that is near and the loop waits for the patch. Nil if that
// attempt is not seen to have one, or it is told when attempts begin.
func (l *Loop) NextPatched(now time.Time) *evidence.Sighting {
	if l.Channels.Config.AsyncAPICalls || l.Channels.Begins() || !l.Channels.Requests {
		return nil
	}
	return l.Future.PatchOfNext(now, l.Crowding, l.BesideLoop(now))
}

// IsPlacedBefore reports whether seen shows a pod that is placed before the attempt of NextPatched.
func (l *Loop) IsPlacedBefore(now time.Time, seen *evidence.Sighting) bool {
	patch := l.NextPatched(now)
	return patch != nil && seen.Placed() && !seen.By.After(patch.Time)
}

// ToPlace returns how many pods the loop has yet to place before the attempt of NextPatched, and the binding of the one that is bound first.
// It is nil if there is none.
func (l *Loop) ToPlace(now time.Time) (first *evidence.Sighting, n int) {
	patch := l.NextPatched(now)
	if patch == nil {
		return nil, 0
	}
	for seen := range l.Future.BoundBy(patch.Time) {
		if l.Line.Takeable(seen) == nil {
			continue
		}
		if n++; first == nil {
			first = seen
		}
	}
	return first, n
}

// LastToPlace returns when the loop has to begin at its pace to place all of ToPlace before NextPatched's attempt fails, which there is.
func (l *Loop) LastToPlace(now time.Time) time.Time {
	_, n := l.ToPlace(now)
	return l.NextPatched(now).FailedAt.Add(-time.Duration(1+n) * l.Pace.Attempt(pace.AttemptTime, pace.Plain))
}

// MostTime returns how long the attempt of pod that begins now takes at the most if it is one of those before NextPatched's: each that
// places a pod, and that one, has an equal part of the time until that has failed. It returns otherwise if it is none.
func (l *Loop) MostTime(now time.Time, pod *v1.Pod, otherwise time.Duration) time.Duration {
	seen := l.Future.Attempt(pod.UID, now, l.Patience)
	if seen == nil || !l.IsPlacedBefore(now, seen) {
		return otherwise
	}
	_, others := l.ToPlace(now)
	return l.NextPatched(now).FailedAt.Sub(now) / time.Duration(2+others)
}

// PlacedOn returns the node on which an attempt of pod that begins now is seen to place it, by a binding that waited for the client's
// rate limit: before NextPatched's, or anyhow if the loop waits for no patch. Where it waits for them, one that is refused later counts, too:
// else its pod may have been placed long behind this attempt. Empty if it is not seen to.
func (l *Loop) PlacedOn(now time.Time, pod *v1.Pod) string {
	seen := l.Future.Attempt(pod.UID, now, l.Patience)
	if !l.Channels.Requests || seen == nil || !seen.Placed() || !seen.Waited {
		return ""
	}
	async := l.Channels.Config.AsyncAPICalls
	if refused, is := seen.Fact.(*sources.Refused); is && !async {
		return refused.Node
	}
	if seen.Kind != evidence.Bound || !async && !l.IsPlacedBefore(now, seen) {
		return ""
	}
	return seen.Change.Object.(*v1.Pod).Spec.NodeName
}
