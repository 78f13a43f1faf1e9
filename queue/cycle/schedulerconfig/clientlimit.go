package schedulerconfig

import "golang.org/x/time/rate"

// ClientLimiter returns the rate limiter of the scheduler's client (clientConnection), with that share of its rate: 1
// is all of it.
func (c *Config) ClientLimiter(share rate.Limit) *rate.Limiter {
	limit := share * rate.Limit(c.ClientQPS)
	if limit <= 0 {
		limit = rate.Inf
	}
	return rate.NewLimiter(limit, int(c.ClientBurst))
}
