package model

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
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
	delete(s.oracle.cleared, uid)
	defer s.oracle.line.Forget(uid)
	s.oracle.channels.Gone(uid)
	if s.oracle.future.Refusal(uid, now, bindPatience) != nil {
		return // what is under way ends then
	}
	if b := d.bindingOf(uid); b != nil {
		if turn := s.oracle.turns().BindingRefusedAt(b.sent, uid); turn.After(now) {
			b.Until, b.timesOut = turn, ErrNotSeen
			s.oracle.turns().Take(now) // what is written then
			return
		}
	}
	s.unbind(now, uid, ErrNotSeen)
	if !s.oracle.turns().Next(now).After(now) {
		d.endPatchWait(uid, now)
	}
}

// placeBeforeGone has the loop have placed pod, of whose deletion the scheduler is about to hear, if its binding is refused later. So it was,
// whatever room the model found.
func (s *shadow) placeBeforeGone(now time.Time, pod *v1.Pod) {
	seen := s.oracle.future.RefusedBinding(pod.UID, now, bindPatience)
	if seen == nil || s.driver.bindingOf(pod.UID) != nil || !s.oracle.seesNodes() {
		return
	}
	info, ok := s.driver.queue.Get(pod.Namespace, pod.Name)
	node := seen.Fact.(*sources.Refused).Node
	if !ok || info.Pod.UID != pod.UID || node == "" {
		return
	}
	s.placeOn(now, info.Pod, node)
	if b := s.driver.bindingOf(pod.UID); b != nil && b.timesOut == nil {
		b.Until = now.Add(bindPatience)
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
		s.driver.endPatchWait(f.UID, now.Add(s.oracle.pace.AnswerDelay()))
	}
}

// tellGone tells that the pods have left the queue whose end no scheduler heard of, because it came between two of
// them.
func (s *shadow) tellGone(now time.Time) {
	for _, key := range s.shown.RemoveGone(s.objects) {
		s.emit(sources.Event{Time: now, Fact: &Move{Move: &sources.Move{Pod: key, To: sources.Tier(queue.Deleted.String())}}})
	}
}
