package shadow

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
)

// This file handles deleted pods and requests that the API server refused.

// endEvictions ends the evictions of the victim with that UID.
func (s *shadow) endEvictions(now time.Time, uid types.UID) {
	for _, e := range slices.Clone(s.driver.Evictions) {
		if e.Victim.UID == uid {
			s.driver.finishEviction(e)
		}
	}
}

// podGone ends all waits for the pod with that UID.
func (s *shadow) podGone(now time.Time, uid types.UID) {
	d := s.driver
	s.oracle.tried.Forget(uid)
	s.oracle.channels.ForgetPod(uid)
	if s.oracle.future.RefusedRequest(uid, now, bindPatience) != nil {
		return // its binding or patch ends with the refusal
	}
	s.unbind(now, uid, ErrNotSeen)
	if !s.oracle.turns().Next(now).After(now) {
		d.endPatchWait(uid, now)
	}
}

// unbind fails the binding of the pod with that UID for that reason, if one is in progress.
func (s *shadow) unbind(now time.Time, uid types.UID, reason error) {
	if s.driver.Unbind(now, uid, reason) {
		_ = s.driver.Scheduler.Writes()
		s.emitMoves(now, nil)
	}
}

// applyRefusal applies the refusal of one of the scheduler's requests.
func (s *shadow) applyRefusal(now time.Time, f *sources.Refused) {
	switch {
	case s.driver == nil:
	case f.Binding, !s.driver.asyncAPICalls && s.driver.bindingOf(f.UID) != nil:
		// The second case is the patch after a failed binding cycle.
		s.unbind(now, f.UID, errRefused)
	default:
		s.driver.endPatchWait(f.UID, now.Add(answerDelay))
	}
}

// emitRemovals emits the removal from the queue of pods whose deletion no scheduler received
// because it happened between two schedulers.
func (s *shadow) emitRemovals(now time.Time) {
	for _, key := range s.shown.RemoveGone(s.objects) {
		s.emit(sources.Event{Time: now, Fact: &Move{Move: &sources.Move{Pod: key, To: sources.Tier(queue.Deleted.String())}}})
	}
}
