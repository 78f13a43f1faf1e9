package evidence

import (
	"testing"
	"time"

	"golang.org/x/time/rate"
)

// TestCadence: requests have waited if they are in step with the rate limit, even if some are not visible or
// slightly out of step.
func TestCadence(t *testing.T) {
	const limit = 20 * time.Millisecond
	for _, c := range []struct {
		name  string
		every time.Duration
		gaps  []float64 // between requests, in milliseconds
		want  bool
	}{
		{"regular", limit, []float64{20, 20, 20, 20}, true},
		{"a little out of step", limit, []float64{22.5, 18, 21, 17}, true},
		{"some are not visible", limit, []float64{60, 20, 40, 19}, true},
		{"too few", limit, []float64{20, 20, 20}, false},
		{"one is out of step", limit, []float64{20, 20, 30, 20, 20}, false},
		{"regular at another rate", limit, []float64{22, 22, 22, 22, 22}, false},
		{"one is early", limit, []float64{20, 20, 20, 5, 20}, false},
		{"a longer pause", limit, []float64{20, 20, 20, 80}, false},
		{"no limit", 0, []float64{20, 20, 20, 20}, false},
	} {
		for _, left := range []int{40, 39} {
			waiting, limiter := cadence{interval: c.every}, rate.NewLimiter(rate.Every(time.Hour), 80)
			now := time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)
			limiter.ReserveN(now, 80-left)
			waiting.observe(limiter, now)
			for _, ms := range c.gaps {
				now = now.Add(time.Duration(ms * float64(time.Millisecond)))
				waiting.observe(limiter, now)
			}
			if usedUp, want := limiter.TokensAt(now) < 1, c.want && left < 40; usedUp != want {
				t.Errorf("%s, with %d tokens: used up: %v, want %v", c.name, left, usedUp, want)
			}
		}
	}
}
