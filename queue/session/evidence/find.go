package evidence

import (
	"iter"
	"slices"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// Failure returns the first failed attempt of any pod that the model has not had, that is told within that long from
// now and was not over before now. Nil if there is none.
func (f *Future) Failure(now time.Time, within time.Duration) *Sighting {
	return f.failures.firstWithin(now, within, func(s *Sighting) bool { return !s.Used && !s.By.Before(now) })
}

// Attempt returns the first sighting of the pod with that UID that shows an attempt which the model has not had, that
// is told within that long from now and was not over before now. Nil if there is none.
func (f *Future) Attempt(uid types.UID, now time.Time, within time.Duration) *Sighting {
	return f.sightingsOf(uid).firstWithin(now, within, func(s *Sighting) bool { return s.ShowsAttempt() && !s.By.Before(now) })
}

// Begins returns when the next attempt of the pod with that UID begins, if a log tells that and it is within that long from
// now.
func (f *Future) Begins(uid types.UID, now time.Time, within time.Duration) (time.Time, bool) {
	if !f.begins {
		return time.Time{}, false
	}
	seen := f.sightingsOf(uid).firstWithin(now, within, func(s *Sighting) bool { return s.Kind == Began && !s.Time.Before(now) })
	if seen == nil {
		return time.Time{}, false
	}
	return seen.Time, true
}

// Event returns the Event of a failed attempt of the pod with that UID that the model has not had, if it is told
// within that long from now, and otherwise nil.
func (f *Future) Event(uid types.UID, now time.Time, within time.Duration) *Sighting {
	return f.sightingsOf(uid).firstWithin(now, within, func(s *Sighting) bool { return s.Kind == Failed && !s.Used && !s.Time.Before(now) })
}

// Patch returns the patch that an attempt of the pod with that UID makes which ends now, if it is answered within that
// long, and otherwise nil. The scheduler's loop waits for the answer. So another attempt's Event, or a later patch of
// another pod, tells that there was none, unless late: then requests wait for each other, and are told out of order.
func (f *Future) Patch(uid types.UID, now time.Time, within time.Duration, late bool) *Sighting {
	fails := func(s *Sighting) bool { return s.Kind == Failed && !s.Used && s.Time.After(now) }
	patch := f.sightingsOf(uid).firstWithin(now, within, func(s *Sighting) bool { return s.Kind == Patched && !s.Used || fails(s) })
	if patch == nil || patch.Kind == Failed {
		return nil
	}
	if !late && patch != f.failures.firstWithin(now, within, func(s *Sighting) bool {
		return s == patch || s.Kind == Patched && !s.Used && !s.By.Before(now) || fails(s)
	}) {
		return nil
	}
	return patch
}

// Patches reports whether it is told within that long from now that the status of the pod with that UID is patched, whichever of its
// attempts the patch follows, or that the pod is placed, by which a patch that was not sent yet is dropped (api_calls/api_calls.go,
// v1.34, Relevances).
func (f *Future) Patches(uid types.UID, now time.Time, within time.Duration) bool {
	return f.sightingsOf(uid).firstWithin(now, within, func(s *Sighting) bool { return s.Kind == Patched || s.Placed() }) != nil
}

// PatchUnderWay returns a patch that is under way now: the one that is answered first, within that long from now. It
// was sent by now, or less than soon from now while ended reports that the attempt of its pod is over that it may be of, or the attempt
// that it follows was seen to be over by now. Nil if there is none.
func (f *Future) PatchUnderWay(now time.Time, within, soon time.Duration, late bool, ended func(uid types.UID, wrote string) bool) *Sighting {
	var first *Sighting
	for _, s := range f.patches {
		if s.By.Sub(now) > within {
			break
		}
		waits := !s.By.After(now) || s.By.Sub(now) < soon && ended(s.UID, s.Wrote) || late && !s.FailedAt.IsZero() && !s.FailedAt.After(now)
		if !waits || !s.Time.After(now) || s.Time.Sub(now) > within {
			continue
		}
		if first == nil || s.Time.Before(first.Time) || s.Time.Equal(first.Time) && s.nth < first.nth {
			first = s
		}
	}
	return first
}

// NextPatch returns the patch that is sent first after now, within that long, and that the model has had no attempt for. Nil
// if there is none.
func (f *Future) NextPatch(now time.Time, within time.Duration) *Sighting {
	for _, s := range f.patches {
		if s.By.Sub(now) > within {
			break
		}
		if s.By.After(now) && !s.Used {
			return s
		}
	}
	return nil
}

// Fate returns the first sighting within that long from now of what became of the pod with that UID: it is Bound, Unbound or
// Deleted. A pod that is deleted while its binding is under way is Unbound later, which tells more. Nil if none is told.
func (f *Future) Fate(uid types.UID, now time.Time, within time.Duration) *Sighting {
	all := f.sightingsOf(uid)
	fate := all.firstWithin(now, within, func(s *Sighting) bool { return s.Placed() || s.Deleted() })
	if fate != nil && fate.Deleted() {
		if refused := f.RefusedBinding(uid, now, within); refused != nil {
			return refused
		}
	}
	return fate
}

// Refusal returns the request, if it is told within that long from now, that the scheduler makes of the pod with that UID when that
// is gone: its binding, or the patch of its status. Nil if there is none.
func (f *Future) Refusal(uid types.UID, now time.Time, within time.Duration) *Sighting {
	return f.sightingsOf(uid).firstWithin(now, within, func(s *Sighting) bool {
		_, is := s.Fact.(*sources.Refused)
		return is
	})
}

// RefusedBinding is Refusal of bindings alone: since v1.34, patches of attempts before may be refused first.
func (f *Future) RefusedBinding(uid types.UID, now time.Time, within time.Duration) *Sighting {
	return f.sightingsOf(uid).firstWithin(now, within, func(s *Sighting) bool {
		refused, is := s.Fact.(*sources.Refused)
		return is && refused.Binding
	})
}

// PodEnds reports whether the pod with that UID is told within that long from now to be deleted, or to be going.
func (f *Future) PodEnds(uid types.UID, now time.Time, within time.Duration) bool {
	_, told := f.PodEndsAt(uid, now, within)
	return told
}

// PodEndsAt returns when the pod with that UID is told to be deleted, or to be going, and false if that is not within that long from now.
func (f *Future) PodEndsAt(uid types.UID, now time.Time, within time.Duration) (time.Time, bool) {
	s := f.sightingsOf(uid).firstWithin(now, within, (*Sighting).endsPod)
	if s == nil {
		return time.Time{}, false
	}
	return s.Time, true
}

// WakesWithin reports whether a change that may wake pods is told within that long from now: see MayWake.
func (f *Future) WakesWithin(now time.Time, within time.Duration) bool {
	return len(f.stirs) > 0 && f.stirs[0].Time.Sub(now) <= within
}

// FirstStir returns when the first change that may wake pods is told within that long from now: see MayWake. If none is, it returns
// the end of that time.
func (f *Future) FirstStir(now time.Time, within time.Duration) time.Time {
	if f.WakesWithin(now, within) {
		return f.stirs[0].Time
	}
	return now.Add(within)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Bindings yields the changes within that long from now of pods that have a node, and the bindings that are refused.
func (f *Future) Bindings(now time.Time, within time.Duration) iter.Seq[*Sighting] {
	return f.bindings.within(now, within)
}

// Claim returns the first claim for devices that changes within that long from now and is such then, and when that is. Nil if none is.
func (f *Future) Claim(now time.Time, within time.Duration, is func(*resourcev1.ResourceClaim) bool) (time.Time, *resourcev1.ResourceClaim) {
	for s := range f.claims.within(now, within) {
		if claim := s.Change.Object.(*resourcev1.ResourceClaim); is(claim) {
			return s.Time, claim
		}
	}
	return now, nil
}

// BoundSince returns how many pods are told later than since to have got their node.
func (f *Future) BoundSince(since time.Time) int {
	bound := map[types.UID]struct{}{}
	for _, s := range slices.Backward(f.bindings) {
		if !s.Time.After(since) {
			break
		}
		if s.Kind == Bound && s.Change.Verb == sources.Updated && s.binds() {
			bound[s.UID] = struct{}{}
		}
	}
	return len(bound)
}

// Changes yields all changes of objects within that long from now.
func (f *Future) Changes(now time.Time, within time.Duration) iter.Seq[*Sighting] {
	return f.changes.within(now, within)
}

// sightingsOf returns what shows of the attempts, the binding and the end of the pod with that UID.
func (f *Future) sightingsOf(uid types.UID) list {
	if l := f.byPod[uid]; l != nil {
		return *l
	}
	return nil
}

// within yields the sightings that are told within that long from now.
func (l list) within(now time.Time, within time.Duration) iter.Seq[*Sighting] {
	return func(yield func(*Sighting) bool) {
		for _, s := range l {
			if s.Time.Sub(now) > within || !yield(s) {
				return
			}
		}
	}
}

// firstWithin returns the first sighting within that long from now for which wanted is true, or nil.
func (l list) firstWithin(now time.Time, within time.Duration, wanted func(*Sighting) bool) *Sighting {
	for s := range l.within(now, within) {
		if wanted(s) {
			return s
		}
	}
	return nil
}
