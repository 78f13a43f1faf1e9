package model

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/pace"
)

// What is known because the loop stands still from when an attempt has failed until the patch of its pod's status is answered
// (schedule_one.go, v1.33, handleSchedulingFailure): what is bound by then was placed before the attempt.

// nextPatched returns the patch of the attempt that is seen to fail next, if that is as near as crowding and the loop waits for the
// patch. Nil if that attempt is not seen to have one, or it is told when attempts begin.
func (o *oracle) nextPatched(now time.Time) *evidence.Sighting {
	if o.channels.Config.AsyncAPICalls || o.channels.Begins() || !o.channels.Requests {
		return nil
	}
	return o.future.PatchOfNext(now, crowding, o.besideLoop(now))
}

// isPlacedBefore reports whether seen shows a pod that is placed before the attempt of nextPatched.
func (o *oracle) isPlacedBefore(now time.Time, seen *evidence.Sighting) bool {
	patch := o.nextPatched(now)
	return patch != nil && seen.Placed() && !seen.By.After(patch.Time)
}

// toPlace returns how many pods the loop has yet to place before the attempt of nextPatched, and the binding of the one that is bound first.
// It is nil if there is none.
func (o *oracle) toPlace(now time.Time) (first *evidence.Sighting, n int) {
	patch := o.nextPatched(now)
	if patch == nil {
		return nil, 0
	}
	for seen := range o.future.BoundBy(patch.Time) {
		if o.queue.Takeable(seen) == nil {
			continue
		}
		if n++; first == nil {
			first = seen
		}
	}
	return first, n
}

// lastToPlace returns when the loop has to begin at its pace to place all of toPlace before nextPatched's attempt fails, which there is.
func (o *oracle) lastToPlace(now time.Time) time.Time {
	_, n := o.toPlace(now)
	return o.nextPatched(now).FailedAt.Add(-time.Duration(1+n) * o.pace.Attempt(pace.AttemptTime))
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// mostTime returns how long the attempt of pod that begins now takes at the most if it is one of those before nextPatched's: each that
// places a pod, and that one, has an equal part of the time until that has failed.
func (o *oracle) mostTime(now time.Time, pod *v1.Pod) time.Duration {
	seen := o.future.Attempt(pod.UID, now, bindPatience)
	if seen == nil || !o.isPlacedBefore(now, seen) {
		return LongestGap
	}
	_, others := o.toPlace(now)
	return o.nextPatched(now).FailedAt.Sub(now) / time.Duration(2+others)
}

// placedOn returns the node on which an attempt of pod that begins now is seen to place it, by a binding that waited for the client's
// rate limit: before nextPatched's, or anyhow if the loop waits for no patch. Empty if it is not seen to.
func (o *oracle) placedOn(now time.Time, pod *v1.Pod) string {
	seen := o.future.Attempt(pod.UID, now, bindPatience)
	if !o.channels.Requests || seen == nil || seen.Kind != evidence.Bound || !seen.Waited {
		return ""
	}
	if !o.channels.Config.AsyncAPICalls && !o.isPlacedBefore(now, seen) {
		return ""
	}
	return seen.Change.Object.(*v1.Pod).Spec.NodeName
}
