package evidence

import (
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
