package queue

import (
	"time"
)

// Ticks are the times of the two flushes that upstream's Run starts.
type Ticks struct {
	// Backoff is the time of one backoff flush; they run every second. With PopFromBackoffQ they run at whole
	// seconds of the scheduler's clock, otherwise at whole seconds after its start.
	Backoff time.Time
	// Leftover is the time of one leftover flush; they run every 30 seconds after the scheduler's start.
	Leftover time.Time
	// LeftoverUnknown is true if the scheduler's start is unknown, and Leftover therefore arbitrary.
	LeftoverUnknown bool
}

// leftoverKnownFor is how long after a known leftover flush the later ones are still known. Upstream's timer starts
// again after each flush (wait.Until), so every flush and every delay of the timer adds up.
const leftoverKnownFor = time.Hour

// LeftoverBy returns the latest possible time of the first leftover flush after t, and whether that is exact.
func (k *Ticks) LeftoverBy(t time.Time) (latest time.Time, exact bool) {
	if k.LeftoverUnknown || t.Sub(k.Leftover) > leftoverKnownFor {
		return t.Add(LeftoverFlushInterval), false
	}
	return TickAfter(k.Leftover, LeftoverFlushInterval, t), true
}

// NewTicks returns the ticks of a scheduler that started at start.
func NewTicks(opts Options, start time.Time) Ticks {
	t := Ticks{Backoff: start, Leftover: start}
	if opts.PopFromBackoffQ {
		t.Backoff = opts.WindowOf(start)
	}
	return t
}

// Realign moves the backoff flush to where windows begin with opts.
func (k *Ticks) Realign(opts Options) { k.Backoff = NewTicks(opts, k.Backoff).Backoff }

// TickAfter returns the first time after t that is a whole number of intervals before or after base. interval
// must be whole seconds.
func TickAfter(base time.Time, interval time.Duration, t time.Time) time.Time {
	seconds := int64(interval / time.Second)
	if n := (t.Unix() - base.Unix()) / seconds; n != 0 { // the difference in nanoseconds may overflow
		base = time.Unix(base.Unix()+n*seconds, int64(base.Nanosecond())).In(base.Location())
	}
	past := t.Sub(base)
	n := past / interval
	if past < 0 && past%interval != 0 {
		n-- // round down
	}
	return base.Add((n + 1) * interval)
}

// AdjustBackoff corrects the times of the backoff flushes by an observation: one ran between after and by. It
// returns when that was. It moves the flushes no further than necessary, so that they do not flush pods whose
// backoff ended later than the observed pod's. Later observations may move them further.
func (k *Ticks) AdjustBackoff(after, by time.Time) time.Time {
	if by.Before(after) {
		by = after
	}
	next := TickAfter(k.Backoff, BackoffFlushInterval, by)
	last := next.Add(-BackoffFlushInterval)
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

// Next returns the time of the first flush after t, and which of the two run then.
func (k Ticks) Next(t time.Time) (at time.Time, backoff, leftover bool) {
	b, l := TickAfter(k.Backoff, BackoffFlushInterval, t), TickAfter(k.Leftover, LeftoverFlushInterval, t)
	switch {
	case b.Before(l):
		return b, true, false
	case l.Before(b):
		return l, false, true
	default:
		return b, true, true
	}
}
