package schedulerconfig

import (
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

// ClientInterval returns the interval between requests that wait for the rate limit, and 0 without a limit.
func (c *Config) ClientInterval() time.Duration {
	if c.ClientQPS <= 0 {
		return 0
	}
	return time.Duration(float64(time.Second) / float64(c.ClientQPS))
}
