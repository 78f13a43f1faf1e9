package evidence

import (
	"math"
	"time"

	"golang.org/x/time/rate"
)

const (
	// minInStep is how many requests must be in step. Chosen: it happens to one in a hundred sequences of requests
	// sent at random.
	minInStep = 4
	// maxSteps limits the intervals of the rate limit between two visible requests. The requests in between are
	// not visible: patches of victims, and refused ones.
	maxSteps = 3
	// maxJitter limits how far requests may be out of step, as a share of the interval. Chosen: requests are
	// visible after 3 to 8 ms, and those of one client at one time after about the same time.
	maxJitter = 0.15
)

// cadence detects requests that wait for their client's rate limit: the limit lets them through at regular
// intervals.
type cadence struct {
	interval    time.Duration // of the rate limit, 0 for no limit
	first, last time.Time     // of the requests in step
	inStep      int           // requests after first, each a whole number of intervals later, and 1 to maxSteps after the one before
}

// observe records a request that was observed at that time. If the latest requests are in step, and more than
// half of limit is used up, it takes all tokens of limit, which counts the visible requests: the others were
// not visible.
func (c *cadence) observe(limit *rate.Limiter, at time.Time) {
	if left := limit.TokensAt(at); c.advance(at) && left < float64(limit.Burst())/2 {
		limit.ReserveN(at, max(0, int(left)))
	}
}

// advance records a request, and reports whether the latest ones are in step.
func (c *cadence) advance(at time.Time) bool {
	if c.interval <= 0 {
		return false
	}
	steps, sinceLast := float64(at.Sub(c.first))/float64(c.interval), math.Round(float64(at.Sub(c.last))/float64(c.interval))
	if c.last = at; sinceLast < 1 || sinceLast > maxSteps || math.Abs(steps-math.Round(steps)) > maxJitter {
		c.first, c.inStep = at, 0
		return false
	}
	c.inStep++
	return c.inStep >= minInStep
}
