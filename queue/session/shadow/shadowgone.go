package shadow

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
)

// How a shadow follows that pods are gone, and what the API server refused of them.

// endEvictions ends the evictions of the victim with that UID.
func (s *shadow) endEvictions(now time.Time, uid types.UID) {
	for _, e := range slices.Clone(s.driver.Evictions) {
		if e.Victim.UID == uid {
			s.driver.finishEviction(e)
		}
	}
}

// podGone ends whatever waited for the pod with that UID.
func (s *shadow) podGone(now time.Time, uid types.UID) {
	d := s.driver
	s.oracle.tried.Forget(uid)
	s.oracle.channels.ForgetPod(uid)
	if s.oracle.future.RefusedRequest(uid, now, bindPatience) != nil {
		return // what is under way ends then
	}
	s.unbind(now, uid, ErrNotSeen)
	if !s.oracle.turns().Next(now).After(now) {
		d.endPatchWait(uid, now)
	}
}

// unbind has the binding of the pod with that UID fail for that reason, if one is under way.
func (s *shadow) unbind(now time.Time, uid types.UID, reason error) {
	if s.driver.Unbind(now, uid, reason) {
		_ = s.driver.Scheduler.Writes()
		s.handOnMoves(now, nil)
	}
}

// takeInRefused has the model follow that a request of the scheduler's was refused.
func (s *shadow) takeInRefused(now time.Time, f *sources.Refused) {
	switch {
	case s.driver == nil:
	case f.Binding, !s.driver.asyncAPICalls && s.driver.bindingOf(f.UID) != nil: // or what is written once the binding cycle has failed
		s.unbind(now, f.UID, errRefused)
	default:
		s.driver.endPatchWait(f.UID, now.Add(answerDelay))
	}
}

// tellGone tells that the pods have left the queue whose end no scheduler heard of, because it came between two of
// them.
func (s *shadow) tellGone(now time.Time) {
	for _, key := range s.shown.RemoveGone(s.objects) {
		s.emit(sources.Event{Time: now, Fact: &Move{Move: &sources.Move{Pod: key, To: sources.Tier(queue.Deleted.String())}}})
	}
}
