package history

import (
	"slices"
	"sort"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
)

// Tally is what one second came to, or several long ago: see maxTallies.
type Tally struct {
	// End is when the second was over, a whole second.
	End time.Time
	// Sizes is how many pods each tier had then, by queue.Tier.
	Sizes [queue.InFlight + 1]int32
	// Oldest is when the pod came that had been in the queue for longest then. Zero if the queue was empty.
	Oldest time.Time
	// Attempts is how many pods were popped in the second.
	Attempts int32
	// Arrivals count the pods that entered activeQ, backoffQ or the unschedulable pods in the second, as
	// scheduler_queue_incoming_pods_total does, by what sent them. In the order in which each came first.
	Arrivals []Arrival

	changes int // how many changes there were at its end
}

// Arrival is how many pods an event sent.
type Arrival struct {
	Event string
	Pods  int32
}

// Series are the seconds up to some moment in which something happened, long ago several in one, without the present one as long as
// it is not over. In the seconds between, the sizes stay as they were.
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

// closeSecond counts up the second of the last change, if the next one is of a later second.
func (h *History) closeSecond(next time.Time) {
	if n := h.ChangeCount(); len(h.changes) > 0 && next.Unix() > h.secondOf(n-1) {
		if len(h.tallies) == maxTallies {
			h.tallies = thinned(h.tallies)
		}
		h.tallies = append(h.tallies, h.tally(h.head, h.MoveCount(), n))
	}
}

// maxTallies is how many tallies there are at the most, whatever happens for how long. Chosen: a day and a half in which something
// happens each second, about 30 MB. Beyond that, the older half is told in twice as long each, again and again.
const maxTallies = 1 << 17

// thinned returns tallies with each two of the older half as one.
func thinned(tallies []Tally) []Tally {
	half := len(tallies) / 4 * 2
	thin := make([]Tally, 0, len(tallies))
	for i := 0; i < half; i += 2 {
		thin = append(thin, tallies[i].with(tallies[i+1]))
	}
	return append(thin, tallies[half:]...)
}

// with returns t and the one after it as one.
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

// tally counts up the second of the last of n changes, after which b is the board and moved moves were made.
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

// closed returns the seconds before that of the last change shown, in which more may happen in a fork.
func (h *History) closed() []Tally {
	return h.tallies[:sort.Search(len(h.tallies), func(i int) bool { return h.tallies[i].changes >= h.Cursor })]
}

// Series returns the seconds up to the moment shown, now.
func (h *History) Series(now time.Time) Series {
	i := sort.Search(len(h.tallies), func(i int) bool { return h.tallies[i].changes > h.Cursor })
	if i > 0 && h.tallies[i-1].End.After(now) {
		i-- // all that happened in it is shown, but it is not over
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
