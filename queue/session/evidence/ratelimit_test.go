package evidence_test

import (
	"testing"
	"time"

	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestSaturated: the client has a burst of 100, and then 50 requests a second.
func TestSaturated(t *testing.T) {
	for _, c := range []struct {
		name    string
		seconds int
		rate    int // requests a second
		exact   bool
		want    bool
	}{
		{"a burst", 1, 80, false, false},
		{"a larger burst", 1, 200, false, true},
		{"the full rate", 20, 50, false, true},
		{"a lower rate", 20, 35, false, false},
		{"a burst, all recorded", 1, 98, true, false},
		{"a slightly larger burst, all recorded", 1, 99, true, true},
		{"the full rate, all recorded", 20, 50, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := evidence.Limit{Exact: c.exact}
			s.Restart(world.Config(t))
			for i := range c.seconds {
				for range c.rate {
					s.CountRequest(world.At(float64(i)), true)
				}
			}
			if end := world.At(float64(c.seconds - 1)); s.Saturated(end) != c.want || s.Saturated(end.Add(5*time.Second)) {
				t.Errorf("saturated: %v, and 5 s later %v", s.Saturated(end), s.Saturated(end.Add(5*time.Second)))
			}
		})
	}
}

// TestSaturatedInStep: visible requests that are in step with the limit wait for it.
func TestSaturatedInStep(t *testing.T) {
	for apart, want := range map[float64]bool{0.02: true, 0.023: false} {
		var s evidence.Limit
		s.Restart(world.Config(t))
		for range 60 {
			s.CountRequest(world.At(0), true)
		}
		for i := range 6 {
			s.CountRequest(world.At(0.1+apart*float64(i)), true)
		}
		if got := s.Saturated(world.At(0.1 + 5*apart)); got != want {
			t.Errorf("saturated by requests that are %v s apart: %v, want %v", apart, got, want)
		}
	}
}

// TestLimitedAtAttach: whether requests waited for their rate limit is known from their rate after attaching.
func TestLimitedAtAttach(t *testing.T) {
	for _, c := range []struct {
		name     string
		qps      float32
		burst    int32
		sent     int
		within   float64 // seconds
		attached bool
		want     bool
	}{
		{"at the full rate", 50, 100, 90, 2, true, true},
		{"just below", 50, 100, 89, 2, true, false},
		{"at half the rate", 50, 100, 100, 4, true, false},
		{"not attached", 50, 100, 90, 2, false, false},
		{"no requests are recorded", 50, 100, 0, 2, true, false},
		{"no limit", 0, 100, 90, 0, true, false},
		{"a burst of one", 50, 1, 1, 2, true, true},
		{"one a second", 1, 100, 90, 90, true, true},
		{"limit turned off", -1, 100, 90, 2, true, false},
	} {
		cfg := world.Config(t)
		cfg.ClientQPS, cfg.ClientBurst = c.qps, c.burst
		var events []sources.Event
		if c.attached {
			events = append(events, sources.Event{Time: world.At(5), Fact: &sources.Attached{}})
		}
		for i := range c.sent {
			events = append(events, sources.Event{Time: world.At(5 + c.within*float64(i)/float64(c.sent)), Fact: &sources.Requested{}})
		}
		if _, got := evidence.LimitedAtAttach(cfg, events); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// TestDebt: if all requests are recorded, those beyond the burst delay the next ones. Visible requests never
// make the tokens negative.
func TestDebt(t *testing.T) {
	for _, exact := range []bool{true, false} {
		s := evidence.Limit{Exact: exact}
		s.Restart(world.Config(t))
		for range 200 {
			s.CountRequest(world.At(10), true)
		}
		if got := s.Saturated(world.At(11.5)); got != exact {
			t.Errorf("exact: %t: 1.5 s after a hundred requests too many, saturated: %t", exact, got)
		}
	}
}
