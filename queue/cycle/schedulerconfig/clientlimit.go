package schedulerconfig

import (
	"math"
	"time"

	"golang.org/x/time/rate"
)

// ClientLimiter returns the rate limiter of the scheduler's client (clientConnection), with its rate multiplied by share.
func (c *Config) ClientLimiter(share rate.Limit) *rate.Limiter {
	limit := share * rate.Limit(c.ClientQPS)
	if limit <= 0 {
		limit = rate.Inf
	}
	return rate.NewLimiter(limit, int(c.ClientBurst))
}

// BurstTime returns how long the limiter takes to admit ClientBurst requests after a burst, and 0 without a limit.
func (c *Config) BurstTime() time.Duration {
	if c.ClientQPS <= 0 {
		return 0
	}
	return time.Duration(float64(c.ClientBurst) / float64(c.ClientQPS) * float64(time.Second))
}

// SentInBurstTime returns the least number of waiting requests that are sent within BurstTime at that share of the rate.
func (c *Config) SentInBurstTime(share float64) int {
	return max(1, int(math.Ceil(share*float64(c.ClientBurst))))
}

// ClientInterval returns the interval between requests that wait for the rate limit, and 0 without a limit.
func (c *Config) ClientInterval() time.Duration {
	if c.ClientQPS <= 0 {
		return 0
	}
	return time.Duration(float64(time.Second) / float64(c.ClientQPS))
}
