package ratelimit

import (
	"math"
	"time"

	"golang.org/x/time/rate"
)

const (
	// enough is how many of them are in step for that to be no chance. Chosen: it is one in a hundred where they are sent at random.
	enough = 4
	// mostSteps is how many of the limit's intervals are between two that show, at the most: those between do not show, as the
	// patches of victims and what the API server refused.
	mostSteps = 3
	// slack is by how much of an interval they may be out of step. Chosen: requests take 3 to 8 ms until they show, and those of one client
	// at one time about as long as each other.
	slack = 0.15
)

// Cadence is what is known of a client's requests.
type Cadence struct {
	every       time.Duration
	first, last time.Time // of those in step
	inStep      int       // so many have come behind the first, each a whole number of intervals, and one to mostSteps behind the one before
}

// CadenceOf returns the cadence of a client whose requests are that far apart when they wait. 0 if they never do.
func CadenceOf(every time.Duration) Cadence { return Cadence{every: every} }

// UseUp takes in a request that shows at that moment, and leaves nothing of limit, which is that of those that show, if the latest ones have
// waited for each other: they are in step, and so many have shown that it may be used up, whatever did not show.
func (c *Cadence) UseUp(limit *rate.Limiter, at time.Time) {
	if left := limit.TokensAt(at); c.inTurn(at) && left < float64(limit.Burst())/2 {
		limit.ReserveN(at, max(0, int(left)))
	}
}

// inTurn takes in a request that shows at that moment, and reports whether the latest ones are in step.
func (c *Cadence) inTurn(at time.Time) bool {
	if c.every <= 0 {
		return false
	}
	steps, behind := float64(at.Sub(c.first))/float64(c.every), math.Round(float64(at.Sub(c.last))/float64(c.every))
	if c.last = at; behind < 1 || behind > mostSteps || math.Abs(steps-math.Round(steps)) > slack {
		c.first, c.inStep = at, 0
		return false
	}
	c.inStep++
	return c.inStep >= enough
}
