package schedulerconfig

import (
	"math"
	"time"

	"golang.org/x/time/rate"
)

// ClientLimiter returns the rate limiter of the scheduler's client (clientConnection), with that share of its rate: 1
// is all of it.
func (c *Config) ClientLimiter(share rate.Limit) *rate.Limiter {
	limit := share * rate.Limit(c.ClientQPS)
	if limit <= 0 {
		limit = rate.Inf
	}
	return rate.NewLimiter(limit, int(c.ClientBurst))
}

// BurstTime is how long that limit takes to let through as many requests as it lets through at once. Without a limit it is 0.
func (c *Config) BurstTime() time.Duration {
	if c.ClientQPS <= 0 {
		return 0
	}
	return time.Duration(float64(c.ClientBurst) / float64(c.ClientQPS) * float64(time.Second))
}

// SentInBurstTime is how many requests are sent within BurstTime, at the least, that wait for that share of the limit.
func (c *Config) SentInBurstTime(share float64) int {
	return max(1, int(math.Ceil(share*float64(c.ClientBurst))))
}

// ClientInterval returns how far apart requests are sent that wait for the client's rate limit. 0 without one.
func (c *Config) ClientInterval() time.Duration {
	if c.ClientQPS <= 0 {
		return 0
	}
	return time.Duration(float64(time.Second) / float64(c.ClientQPS))
}
