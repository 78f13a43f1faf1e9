package ring

import (
	"container/heap"
	"time"

	"github.com/schedq/schedq/sources"
)

// maxDelay limits how late an event may be written and still be sorted. The scheduler's Events wait seconds for a rate
// limit.
const maxDelay = time.Minute

// sorter sorts events that arrive nearly in order of time. Events of the same time stay in order of arrival.
type sorter struct {
	waiting  byTime
	count    int
	latest   time.Time // of the added events
	released time.Time // of the last returned event
}

// add adds an event. If later ones were returned already, it gets the time of the last one.
func (o *sorter) add(ev sources.Event) {
	if ev.Time.Before(o.released) {
		ev.Time = o.released
	}
	if ev.Time.After(o.latest) {
		o.latest = ev.Time
	}
	o.count++
	heap.Push(&o.waiting, queued{ev, o.count})
}

// next returns the next event once no earlier one can arrive, or at the end.
func (o *sorter) next(atEnd bool) (sources.Event, bool) {
	if len(o.waiting) == 0 || !atEnd && o.latest.Sub(o.waiting[0].Time) < maxDelay {
		return sources.Event{}, false
	}
	ev := heap.Pop(&o.waiting).(queued).Event
	o.released = ev.Time
	return ev, true
}

// queued is an event in a sorter.
type queued struct {
	sources.Event
	seq int
}

// byTime is a heap.
type byTime []queued

func (h byTime) Len() int { return len(h) }
func (h byTime) Less(i, j int) bool {
	return h[i].Time.Before(h[j].Time) || h[i].Time.Equal(h[j].Time) && h[i].seq < h[j].seq
}
func (h byTime) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *byTime) Push(x any)   { *h = append(*h, x.(queued)) }
func (h *byTime) Pop() any {
	last := (*h)[len(*h)-1]
	(*h)[len(*h)-1] = queued{}
	*h = (*h)[:len(*h)-1]
	return last
}
