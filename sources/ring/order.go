package ring

import (
	"container/heap"
	"time"

	"github.com/schedq/schedq/sources"
)

// horizon is how much later than others an event may be written and still be put in its place. The scheduler's own Events wait
// for a rate limit, for seconds.
const horizon = time.Minute

// ordering puts events in the order of time that come nearly so. Of equal times the one that came first is first.
type ordering struct {
	held   byTime
	count  int
	latest time.Time // of those that came
	past   time.Time // of those that went
}

// add takes in an event. One that comes so late that others have gone before it has their time.
func (o *ordering) add(ev sources.Event) {
	if ev.Time.Before(o.past) {
		ev.Time = o.past
	}
	if ev.Time.After(o.latest) {
		o.latest = ev.Time
	}
	o.count++
	heap.Push(&o.held, held{ev, o.count})
}

// next returns the next event that nothing can come before, or, at the end, the next one.
func (o *ordering) next(atEnd bool) (sources.Event, bool) {
	if len(o.held) == 0 || !atEnd && o.latest.Sub(o.held[0].Time) < horizon {
		return sources.Event{}, false
	}
	ev := heap.Pop(&o.held).(held).Event
	o.past = ev.Time
	return ev, true
}

// held is an event that waits for those before it.
type held struct {
	sources.Event
	nth int
}

// byTime is a heap.
type byTime []held

func (h byTime) Len() int { return len(h) }
func (h byTime) Less(i, j int) bool {
	return h[i].Time.Before(h[j].Time) || h[i].Time.Equal(h[j].Time) && h[i].nth < h[j].nth
}
func (h byTime) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *byTime) Push(x any)   { *h = append(*h, x.(held)) }
func (h *byTime) Pop() any {
	last := (*h)[len(*h)-1]
	(*h)[len(*h)-1] = held{}
	*h = (*h)[:len(*h)-1]
	return last
}
