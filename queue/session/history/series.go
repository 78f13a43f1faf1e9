package history

import (
	"slices"
	"sort"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
)

// Tally summarizes one second, or several in the distant past: see maxTallies.
type Tally struct {
	// End is the end of the second, a whole second.
	End time.Time
	// Sizes is the size of each tier then, by queue.Tier.
	Sizes [queue.InFlight + 1]int32
	// Oldest is the arrival of the longest-waiting pod then. Zero if the queue was empty.
	Oldest time.Time
	// Attempts is the number of pods popped in the second.
	Attempts int32
	// Arrivals count the pods that entered activeQ, backoffQ or the unschedulable pods in the second, by
	// event, as scheduler_queue_incoming_pods_total does. They are in the order of first arrival.
	Arrivals []Arrival

	changes int // number of changes at its end
}

// Arrival counts the pods that an event moved.
type Arrival struct {
	Event string
	Pods  int32
}

// Series contains the seconds with changes up to some moment, excluding an unfinished one. In between,
// the sizes stay the same.
type Series struct {
	past []Tally
	last *Tally // or nil
}

// Len returns the number of seconds.
func (s Series) Len() int {
	if s.last != nil {
		return len(s.past) + 1
	}
	return len(s.past)
}

// At returns the i-th second, from the oldest. It must not be modified.
func (s Series) At(i int) *Tally {
	if i == len(s.past) {
		return s.last
	}
	return &s.past[i]
}

// Since returns the index of the first second that ends after t.
func (s Series) Since(t time.Time) int {
	return sort.Search(s.Len(), func(i int) bool { return s.At(i).End.After(t) })
}

// secondOf returns the second of the n-th change, in Unix seconds.
func (h *History) secondOf(n int) int64 { return h.Change(n).At.Unix() }

// closeSecond adds the tally of the last change's second if the next change is in a later one.
func (h *History) closeSecond(next time.Time) {
	if n := h.ChangeCount(); len(h.changes) > 0 && next.Unix() > h.secondOf(n-1) {
		if len(h.tallies) == maxTallies {
			h.tallies = thinned(h.tallies)
		}
		h.tallies = append(h.tallies, h.tally(h.head, h.MoveCount(), n))
	}
}

// maxTallies limits the number of tallies. It covers a day and a half with changes in each second, about
// 30 MB. Beyond that, pairs of the older half are merged, repeatedly.
const maxTallies = 1 << 17

// thinned returns tallies with pairs of the older half merged.
func thinned(tallies []Tally) []Tally {
	half := len(tallies) / 4 * 2
	thin := make([]Tally, 0, len(tallies))
	for i := 0; i < half; i += 2 {
		thin = append(thin, tallies[i].with(tallies[i+1]))
	}
	return append(thin, tallies[half:]...)
}

// with merges t and the tally after it.
func (t Tally) with(next Tally) Tally {
	next.Attempts += t.Attempts
	arrivals := slices.Clone(t.Arrivals)
	for _, a := range next.Arrivals {
		if i := slices.IndexFunc(arrivals, func(known Arrival) bool { return known.Event == a.Event }); i >= 0 {
			arrivals[i].Pods += a.Pods
		} else {
			arrivals = append(arrivals, a)
		}
	}
	next.Arrivals = arrivals
	return next
}

// tally returns the tally of the second of the last of n changes, after which the board is b and moved
// moves were made.
func (h *History) tally(b *board.Board, moved, n int) Tally {
	second := h.secondOf(n - 1)
	t := Tally{End: time.Unix(second+1, 0).UTC(), Oldest: b.OldestArrival(), changes: n}
	for _, tier := range board.Tiers {
		t.Sizes[tier] = int32(b.Total(tier))
	}
	_, oldest := h.Oldest()
	first := moved
	for first > oldest && h.secondOf(h.Move(first-1).Change) == second {
		first--
	}
	for i := first; i < moved; i++ {
		t.count(h.Move(i))
	}
	return t
}

// count counts move m.
func (t *Tally) count(m *board.Transition) {
	switch {
	case m.From == m.To:
	case m.To == queue.InFlight:
		t.Attempts++
	case m.To.Queued():
		for i := range t.Arrivals {
			if t.Arrivals[i].Event == m.Event {
				t.Arrivals[i].Pods++
				return
			}
		}
		t.Arrivals = append(t.Arrivals, Arrival{m.Event, 1})
	}
}

// closed returns the seconds before that of the last change shown, to which a fork may add.
func (h *History) closed() []Tally {
	return h.tallies[:sort.Search(len(h.tallies), func(i int) bool { return h.tallies[i].changes >= h.Cursor })]
}

// Series returns the seconds up to the moment shown, now.
func (h *History) Series(now time.Time) Series {
	i := sort.Search(len(h.tallies), func(i int) bool { return h.tallies[i].changes > h.Cursor })
	if i > 0 && h.tallies[i-1].End.After(now) {
		i-- // all its changes are shown, but it has not ended
	}
	s := Series{past: h.tallies[:i:i]}
	counted := 0
	if i > 0 {
		counted = h.tallies[i-1].changes
	}
	if h.Cursor > counted && now.Unix() > h.secondOf(h.Cursor-1) {
		last := h.tally(h.Shown, h.Moved, h.Cursor)
		s.last = &last
	}
	return s
}
