package session

import (
	"time"

	"github.com/schedq/schedq/queue"
)

// ticks are the moments at which the two flushes run: upstream's goroutines in Run.
type ticks struct {
	// backoff is one moment of the backoff flush; there is one every second before and after.
	// With PopFromBackoffQ they are the whole seconds, otherwise they follow the scheduler's start.
	backoff time.Time
	// leftover is one moment of the leftover flush, every 30 seconds from the scheduler's start.
	leftover time.Time
}

// newTicks returns the ticks of a scheduler that started at start.
func newTicks(opts queue.Options, start time.Time) ticks {
	t := ticks{backoff: start, leftover: start}
	if opts.PopFromBackoffQ {
		t.backoff = start.Truncate(queue.BackoffFlushInterval)
	}
	return t
}

// after returns the first moment later than t that is a whole number of intervals from base.
func after(base time.Time, interval time.Duration, t time.Time) time.Time {
	past := t.UnixNano() - base.UnixNano()
	n := past / int64(interval)
	if past < 0 && past%int64(interval) != 0 {
		n-- // round down
	}
	return base.Add(time.Duration(n+1) * interval)
}

// next returns the first moment later than t at which either flush runs.
func (k ticks) next(t time.Time) (at time.Time, backoff, leftover bool) {
	b, l := after(k.backoff, queue.BackoffFlushInterval, t), after(k.leftover, queue.LeftoverFlushInterval, t)
	switch {
	case b.Before(l):
		return b, true, false
	case l.Before(b):
		return l, false, true
	default:
		return b, true, true
	}
}
