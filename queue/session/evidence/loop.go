package evidence

import (
	"iter"
	"slices"
	"time"
)

// Pauses reports whether for so long, within that long from now, nothing shows of the scheduler's loop: no attempt ends, and it waits for
// the answer to no patch.
func (f *Future) Pauses(now time.Time, within, pause time.Duration) bool {
	end, busy := now.Add(within), now
	for _, w := range f.working(now, end) {
		if w.from.Sub(busy) > pause {
			return true
		}
		if busy = later(busy, w.to); !busy.Before(end) {
			return false
		}
	}
	return end.Sub(busy) > pause
}

// stretch is a time in which the loop is seen to work or to wait.
type stretch struct{ from, to time.Time }

// working returns when the loop is seen to work or to wait between these moments, in the order in which that began. What is told of it may
// be mostLate behind.
func (f *Future) working(since, until time.Time) (all []stretch) {
	add := func(from, to time.Time) {
		if !to.Before(since) && from.Before(until) {
			all = append(all, stretch{from, to})
		}
	}
	for s := range f.failures.within(until, mostLate) {
		switch {
		case s.Kind == Failed:
			add(s.Time, s.Time)
		case !s.FailedAt.IsZero():
			add(s.FailedAt, s.Time)
		default:
			add(s.By, s.Time)
		}
	}
	for s := range f.bindings.within(until, mostLate) {
		if s.Kind == Bound && s.binds() {
			add(s.By, s.By)
		}
	}
	slices.SortFunc(all, func(a, b stretch) int { return a.from.Compare(b.from) })
	return all
}

// PatchOfNext returns the patch that follows the attempt which is seen to fail next, within that long from now, but for those of which but
// is true. Nil if none is seen to fail, or its patch is not seen.
func (f *Future) PatchOfNext(now time.Time, within time.Duration, but func(*Sighting) bool) *Sighting {
	failed := f.Failure(now, within, but)
	if failed == nil {
		return nil
	}
	for _, s := range f.patches {
		if s.Follows(failed) && !s.Used {
			return s
		}
		if s.FailedAt.After(failed.Time) {
			break
		}
	}
	return nil
}

// BoundBy yields the bindings of which the API server had the request by that moment, if they are told within mostLate after it.
func (f *Future) BoundBy(at time.Time) iter.Seq[*Sighting] {
	return func(yield func(*Sighting) bool) {
		for s := range f.bindings.within(at, mostLate) {
			if !s.By.After(at) && !yield(s) {
				return
			}
		}
	}
}
