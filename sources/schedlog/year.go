package schedlog

import "time"

// Year says how to complete klog's times, which have none.
type Year struct {
	// Near is a time at which the logged run is known to have gone on: the first year that is nearest to
	// it is taken. Zero if nothing is known.
	Near time.Time
	// NotAfter is a time, often the file's own, by which the first line was certainly written: the last
	// year that is not later, with a day's grace, is taken. Only used without Near.
	NotAfter time.Time
}

// clock turns klog headers into times.
type clock struct {
	hint Year
	last time.Time // of the line before
}

// time returns the line's time. Lines are nearly in order: a leap of half a year is a new year.
func (c *clock) time(h *header) time.Time {
	if c.last.IsZero() {
		c.last = c.firstTime(h)
		return c.last
	}
	t, _ := h.timeIn(c.last.Year())
	const half = 183 * 24 * time.Hour
	if d := t.Sub(c.last); d < -half {
		t, _ = h.timeIn(c.last.Year() + 1)
	} else if d > half {
		t, _ = h.timeIn(c.last.Year() - 1)
	}
	c.last = t
	return t
}

func (c *clock) firstTime(h *header) time.Time {
	if near := c.hint.Near; !near.IsZero() {
		var best time.Time
		for year := near.Year() - 1; year <= near.Year()+1; year++ {
			if t, ok := h.timeIn(year); ok && (best.IsZero() || t.Sub(near).Abs() < best.Sub(near).Abs()) {
				best = t
			}
		}
		if !best.IsZero() {
			return best
		}
	}
	limit := c.hint.NotAfter.UTC().AddDate(0, 0, 1)
	for year := limit.Year(); year > limit.Year()-8; year-- {
		if t, ok := h.timeIn(year); ok && !t.After(limit) {
			return t
		}
	}
	t, _ := h.timeIn(limit.Year())
	return t
}
