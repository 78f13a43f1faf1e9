// Package flush has the moments at which a scheduler flushes its queue.
package flush

import (
	"time"

	"github.com/schedq/schedq/queue"
)

// Ticks are the moments at which the two flushes run: upstream's goroutines in Run.
type Ticks struct {
	// Backoff is one moment of the backoff flush; there is one every second before and after.
	// With PopFromBackoffQ they are the whole seconds of the scheduler's clock, otherwise they follow its start.
	Backoff time.Time
	// Leftover is one moment of the leftover flush, every 30 seconds from the scheduler's start.
	Leftover time.Time
	// LeftoverUnknown is true if the scheduler's start is unknown, and Leftover therefore arbitrary.
	LeftoverUnknown bool
}

// drifts is how long after a known leftover flush the later ones are still known. Upstream's timer starts
// again after each flush (wait.Until), so every flush and every delay of the timer adds up.
const drifts = time.Hour

// LeftoverBy returns the latest time of the first leftover flush after t, and whether that is its exact
// time.
func (k *Ticks) LeftoverBy(t time.Time) (latest time.Time, exact bool) {
	if k.LeftoverUnknown || t.Sub(k.Leftover) > drifts {
		return t.Add(queue.LeftoverFlushInterval), false
	}
	return TickAfter(k.Leftover, queue.LeftoverFlushInterval, t), true
}

// NewTicks returns the ticks of a scheduler that started at start.
func NewTicks(opts queue.Options, start time.Time) Ticks {
	t := Ticks{Backoff: start, Leftover: start}
	if opts.PopFromBackoffQ {
		t.Backoff = opts.WindowOf(start)
	}
	return t
}

// Realign has the backoff flush run where opts' windows now begin.
func (k *Ticks) Realign(opts queue.Options) { k.Backoff = NewTicks(opts, k.Backoff).Backoff }

// TickAfter returns the first moment later than t that lies a whole number of intervals before or after base. An interval
// has whole seconds.
func TickAfter(base time.Time, interval time.Duration, t time.Time) time.Time {
	seconds := int64(interval / time.Second)
	if n := (t.Unix() - base.Unix()) / seconds; n != 0 { // there may be more nanoseconds between them than an int64 has
		base = time.Unix(base.Unix()+n*seconds, int64(base.Nanosecond())).In(base.Location())
	}
	past := t.Sub(base)
	n := past / interval
	if past < 0 && past%interval != 0 {
		n-- // round down
	}
	return base.Add((n + 1) * interval)
}

// SawBackoff takes in that a backoff flush was seen to have run at some moment from after to by, and returns when that was. The flushes
// stay where they were thought to be, or move no further than that needs: so no pod is taken for flushed whose backoff ended
// later than that of those that were seen to be, and what is seen of the next ones moves them on.
func (k *Ticks) SawBackoff(after, by time.Time) time.Time {
	if by.Before(after) {
		by = after
	}
	next := TickAfter(k.Backoff, queue.BackoffFlushInterval, by)
	last := next.Add(-queue.BackoffFlushInterval)
	switch {
	case !last.Before(after):
		return last
	case next.Sub(by) < after.Sub(last):
		k.Backoff = by
	default:
		k.Backoff = after
	}
	return k.Backoff
}

// Next returns the first moment later than t at which a flush runs, and which of the two run then.
func (k Ticks) Next(t time.Time) (at time.Time, backoff, leftover bool) {
	b, l := TickAfter(k.Backoff, queue.BackoffFlushInterval, t), TickAfter(k.Leftover, queue.LeftoverFlushInterval, t)
	switch {
	case b.Before(l):
		return b, true, false
	case l.Before(b):
		return l, false, true
	default:
		return b, true, true
	}
}
