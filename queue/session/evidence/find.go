package evidence

import (
	"iter"
	"slices"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// Failure returns the first failed attempt of any pod that the model has not used, that was not over before
// now, and that is observed by now+within. It returns nil if there is none.
func (f *Future) Failure(now time.Time, within time.Duration) *Observation {
	return f.failures.firstWithin(now, within, func(s *Observation) bool { return !s.Used && !s.EndedBy.Before(now) })
}

// Attempt is Failure for a pod's attempts, and includes those that placed the pod.
func (f *Future) Attempt(uid types.UID, now time.Time, within time.Duration) *Observation {
	return f.ofPod(uid).firstWithin(now, within, func(s *Observation) bool { return s.newAttempt() && !s.EndedBy.Before(now) })
}

// NextStart returns when the pod's next attempt starts. It returns false if no log contains that, or not by
// now+within.
func (f *Future) NextStart(uid types.UID, now time.Time, within time.Duration) (time.Time, bool) {
	if !f.hasStarts {
		return time.Time{}, false
	}
	seen := f.ofPod(uid).firstWithin(now, within, func(s *Observation) bool { return s.Kind == Started && !s.Time.Before(now) })
	if seen == nil {
		return time.Time{}, false
	}
	return seen.Time, true
}

// Event returns the Event of a failed attempt of the pod that the model has not used, from now to
// now+within. It returns nil if there is none.
func (f *Future) Event(uid types.UID, now time.Time, within time.Duration) *Observation {
	return f.ofPod(uid).firstWithin(now, within, func(s *Observation) bool { return s.Kind == Failed && !s.Used && !s.Time.Before(now) })
}

// Patch returns the patch by the attempt of the pod that ends now, if it is answered by now+within, and
// otherwise nil. The scheduling loop waits for the answer. An earlier Event of another attempt, or a later
// patch of another pod, shows therefore that the attempt sent no patch. This does not hold if late is true:
// then requests wait for each other, and are reported out of order.
func (f *Future) Patch(uid types.UID, now time.Time, within time.Duration, late bool) *Observation {
	fails := func(s *Observation) bool { return s.Kind == Failed && !s.Used && s.Time.After(now) }
	patch := f.ofPod(uid).firstWithin(now, within, func(s *Observation) bool { return s.Kind == Patched && !s.Used || fails(s) })
	if patch == nil || patch.Kind == Failed {
		return nil
	}
	if !late && patch != f.failures.firstWithin(now, within, func(s *Observation) bool {
		return s == patch || s.Kind == Patched && !s.Used && !s.EndedBy.Before(now) || fails(s)
	}) {
		return nil
	}
	return patch
}

// Patches reports whether the pod's status is patched by now+within, by any of its attempts, or whether the
// pod is placed, which drops a patch that was not sent yet (api_calls/api_calls.go, v1.34, Relevances).
func (f *Future) Patches(uid types.UID, now time.Time, within time.Duration) bool {
	return f.ofPod(uid).firstWithin(now, within, func(s *Observation) bool { return s.Kind == Patched || s.Placed() }) != nil
}

// PatchUnderWay returns, of the patches under way now, the one that is answered first, by now+within. It
// returns nil if there is none. A patch is under way if it was sent by now, or is sent before now+soon and
// ended reports that the attempt is over that it may belong to. With late, it is also under way if its
// attempt was observed to fail by now.
func (f *Future) PatchUnderWay(now time.Time, within, soon time.Duration, late bool, ended func(uid types.UID, message string) bool) *Observation {
	var first *Observation
	for _, s := range f.patches {
		if s.EndedBy.Sub(now) > within {
			break
		}
		underWay := !s.EndedBy.After(now) || s.EndedBy.Sub(now) < soon && ended(s.UID, s.ConditionMessage) || late && !s.FailedAt.IsZero() && !s.FailedAt.After(now)
		if !underWay || !s.Time.After(now) || s.Time.Sub(now) > within {
			continue
		}
		if first == nil || s.Time.Before(first.Time) || s.Time.Equal(first.Time) && s.seq < first.seq {
			first = s
		}
	}
	return first
}

// NextPatch returns the patch that is sent first after now, up to now+within, and that the model has not
// used. It returns nil if there is none.
func (f *Future) NextPatch(now time.Time, within time.Duration) *Observation {
	for _, s := range f.patches {
		if s.EndedBy.Sub(now) > within {
			break
		}
		if s.EndedBy.After(now) && !s.Used {
			return s
		}
	}
	return nil
}

// BindingOutcome returns the first observation up to now+within that decides what became of the pod's
// binding: it is Bound, BindingFailed or Deleted. It returns nil if there is none. For a pod that is deleted
// during its binding it returns the later refusal of the binding, which is more specific.
func (f *Future) BindingOutcome(uid types.UID, now time.Time, within time.Duration) *Observation {
	all := f.ofPod(uid)
	outcome := all.firstWithin(now, within, func(s *Observation) bool { return s.Placed() || s.Deleted() })
	if outcome != nil && outcome.Deleted() {
		// Since v1.34, patches of earlier attempts may be refused first.
		refused := all.firstWithin(now, within, func(s *Observation) bool {
			fact, ok := s.Fact.(*sources.Refused)
			return ok && fact.Binding
		})
		if refused != nil {
			return refused
		}
	}
	return outcome
}

// RefusedRequest returns the first binding or status patch that the API server refuses up to now+within
// because the pod is gone. It returns nil if there is none.
func (f *Future) RefusedRequest(uid types.UID, now time.Time, within time.Duration) *Observation {
	return f.ofPod(uid).firstWithin(now, within, func(s *Observation) bool {
		_, ok := s.Fact.(*sources.Refused)
		return ok
	})
}

// PodEnds reports whether the pod is deleted by now+within, or its deletion begins.
func (f *Future) PodEnds(uid types.UID, now time.Time, within time.Duration) bool {
	_, ends := f.PodEndsAt(uid, now, within)
	return ends
}

// PodEndsAt returns when the pod is deleted or its deletion begins, and false if that is not by now+within.
func (f *Future) PodEndsAt(uid types.UID, now time.Time, within time.Duration) (time.Time, bool) {
	s := f.ofPod(uid).firstWithin(now, within, (*Observation).isPodEnd)
	if s == nil {
		return time.Time{}, false
	}
	return s.Time, true
}

// WakesWithin reports whether a change by now+within may wake pods: see MayWake.
func (f *Future) WakesWithin(now time.Time, within time.Duration) bool {
	return len(f.wakes) > 0 && f.wakes[0].Time.Sub(now) <= within
}

// NextWake returns the time of the first change by now+within that may wake pods, or now+within.
func (f *Future) NextWake(now time.Time, within time.Duration) time.Time {
	if f.WakesWithin(now, within) {
		return f.wakes[0].Time
	}
	return now.Add(within)
}

// Bindings yields the changes of pods that have a node, and the failed bindings, up to now+within.
func (f *Future) Bindings(now time.Time, within time.Duration) iter.Seq[*Observation] {
	return f.bindings.within(now, within)
}

// Claim returns the first changed resource claim up to now+within for which match returns true, and the time
// of that change. The claim is nil if there is none.
func (f *Future) Claim(now time.Time, within time.Duration, match func(*resourcev1.ResourceClaim) bool) (time.Time, *resourcev1.ResourceClaim) {
	for s := range f.claims.within(now, within) {
		if claim := s.Change.Object.(*resourcev1.ResourceClaim); match(claim) {
			return s.Time, claim
		}
	}
	return now, nil
}

// BoundSince returns the number of pods that are bound after since.
func (f *Future) BoundSince(since time.Time) int {
	bound := map[types.UID]struct{}{}
	for _, s := range slices.Backward(f.bindings) {
		if !s.Time.After(since) {
			break
		}
		if s.Kind == Bound && s.Change.Verb == sources.Updated && s.isBinding() {
			bound[s.UID] = struct{}{}
		}
	}
	return len(bound)
}

// Changes yields the changes of objects up to now+within.
func (f *Future) Changes(now time.Time, within time.Duration) iter.Seq[*Observation] {
	return f.changes.within(now, within)
}

// ofPod returns the observations of the pod's attempts, binding and deletion.
func (f *Future) ofPod(uid types.UID) list {
	if l := f.byPod[uid]; l != nil {
		return *l
	}
	return nil
}

// within yields the observations up to now+within.
func (l list) within(now time.Time, within time.Duration) iter.Seq[*Observation] {
	return func(yield func(*Observation) bool) {
		for _, s := range l {
			if s.Time.Sub(now) > within || !yield(s) {
				return
			}
		}
	}
}

// firstWithin returns the first observation up to now+within for which match returns true, or nil.
func (l list) firstWithin(now time.Time, within time.Duration, match func(*Observation) bool) *Observation {
	for s := range l.within(now, within) {
		if match(s) {
			return s
		}
	}
	return nil
}
