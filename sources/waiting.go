package sources

import "cmp"

// Waiting is a priority queue of events: by time, then by rank, then as they were added. The zero value is ready to
// use.
type Waiting struct {
	heap  []waiting
	count int
}

type waiting struct {
	Event
	rank, seq, cost int
}

func (w *waiting) before(other *waiting) bool {
	if c := w.Time.Compare(other.Time); c != 0 {
		return c < 0
	}
	return cmp.Or(cmp.Compare(w.rank, other.rank), cmp.Compare(w.seq, other.seq)) < 0
}

// Add adds an event that takes that many bytes of memory.
func (w *Waiting) Add(rank int, ev Event, cost int) {
	w.count++
	w.heap = append(w.heap, waiting{ev, rank, w.count, cost})
	for i := len(w.heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if !w.heap[i].before(&w.heap[parent]) {
			return
		}
		w.heap[i], w.heap[parent] = w.heap[parent], w.heap[i]
		i = parent
	}
}

// First returns the first event, and false if there is none.
func (w *Waiting) First() (Event, bool) {
	if len(w.heap) == 0 {
		return Event{}, false
	}
	return w.heap[0].Event, true
}

// Take removes the first event, and returns its bytes of memory.
func (w *Waiting) Take() (cost int) {
	cost = w.heap[0].cost
	last := len(w.heap) - 1
	w.heap[0], w.heap[last] = w.heap[last], waiting{}
	w.heap = w.heap[:last]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if w.heap[child].before(&w.heap[least]) {
				least = child
			}
		}
		if least == i {
			return cost
		}
		w.heap[i], w.heap[least] = w.heap[least], w.heap[i]
		i = least
	}
}
