package ratelimit_test

import (
	"math"
	"testing"
	"time"

	"github.com/schedq/schedq/queue/session/ratelimit"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestSaturated: the scheduler's client may make a hundred requests at once, and fifty a second after that.
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
		{"a long time", 20, 50, false, true},
		{"a long time, fewer", 20, 35, false, false},
		{"a burst, all recorded", 1, 98, true, false},
		{"a little larger burst, all recorded", 1, 99, true, true},
		{"a long time, all recorded", 20, 50, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := ratelimit.Limit{Exact: c.exact}
			s.Restart(world.Config(t))
			for i := range c.seconds {
				for range c.rate {
					s.Sent(world.At(float64(i)), true)
				}
			}
			if end := world.At(float64(c.seconds - 1)); s.Saturated(end) != c.want || s.Saturated(end.Add(5*time.Second)) {
				t.Errorf("saturated: %v, and 5 s later %v", s.Saturated(end), s.Saturated(end.Add(5*time.Second)))
			}
		})
	}
}

// TestSaturatedInStep: where not all requests show, they wait for the limit if those that do come in step with it.
func TestSaturatedInStep(t *testing.T) {
	for apart, want := range map[float64]bool{0.02: true, 0.023: false} {
		var s ratelimit.Limit
		s.Restart(world.Config(t))
		for range 60 {
			s.Sent(world.At(0), true)
		}
		for i := range 6 {
			s.Sent(world.At(0.1+apart*float64(i)), true)
		}
		if got := s.Saturated(world.At(0.1 + 5*apart)); got != want {
			t.Errorf("saturated by requests that are %v s apart: %v, want %v", apart, got, want)
		}
	}
}

// TestBeginsLimited: whether the scheduler's requests waited for their rate limit when a source came to it: a hundred may be sent at
// once, and fifty a second after that.
func TestBeginsLimited(t *testing.T) {
	for _, c := range []struct {
		name     string
		qps      float32
		burst    int32
		sent     int
		within   float64 // seconds
		attached bool
		want     bool
	}{
		{"at that rate", 50, 100, 90, 2, true, true},
		{"nearly at that rate", 50, 100, 89, 2, true, false},
		{"at that rate for a while", 50, 100, 100, 4, true, false},
		{"nobody came to it", 50, 100, 90, 2, false, false},
		{"no requests are recorded", 50, 100, 0, 2, true, false},
		{"there is no limit", 0, 100, 90, 0, true, false},
		{"the limit lets one through at once", 50, 1, 1, 2, true, true},
		{"the limit is one a second", 1, 100, 90, 90, true, true},
		{"the limit is turned off", -1, 100, 90, 2, true, false},
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
		if _, got := ratelimit.BeginLimited(cfg, events); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// TestOwed: if all requests are recorded, those beyond the burst are owed: the next ones wait until they are paid. If some are not
// recorded, nothing is known to be owed.
func TestOwed(t *testing.T) {
	for _, exact := range []bool{true, false} {
		s := ratelimit.Limit{Exact: exact}
		s.Restart(world.Config(t))
		for range 200 {
			s.Sent(world.At(10), true)
		}
		if got := s.Saturated(world.At(11.5)); got != exact {
			t.Errorf("all told: %t, a hundred too many, and 1.5 s later they wait: %t", exact, got)
		}
	}
}

// TestTurn: a request that need not show is sent behind those that wait, 50 a second, and they use up the limit as long as any waits.
func TestTurn(t *testing.T) {
	used := func(exact bool, requests int) *ratelimit.Limit {
		l := &ratelimit.Limit{Exact: exact}
		l.Restart(world.Config(t))
		for range requests {
			l.Sent(world.At(10), true)
		}
		return l
	}
	turn := func(l *ratelimit.Limit, now, shown float64) float64 {
		return l.Turn(world.At(now), world.At(shown)).Sub(world.At(0)).Seconds()
	}
	for _, c := range []struct {
		name       string
		limit      *ratelimit.Limit
		taken      int
		now, shown float64
		want       float64
	}{
		{"none waits", used(false, 80), 0, 10, 0, 10},
		{"none waits, so none can be ahead", used(false, 80), 20, 10, 0, 10},
		{"all are recorded", used(true, 100), 2, 10, 0, 10},
		{"it is the next", used(false, 100), 0, 10, 0, 10.02},
		{"two are ahead", used(false, 100), 2, 10, 0, 10.06},
		{"one is ahead that shows", used(false, 100), 0, 10, 10.3, 10.32},
		{"of those that were ahead one is left", used(false, 100), 3, 10.05, 0, 10.08},
		{"those that were ahead were sent", used(false, 100), 2, 10.05, 0, 10.07},
		{"a hundred are ahead", used(false, 100), 100, 11.99, 0, 12.02},
	} {
		for range c.taken {
			c.limit.Wait(world.At(10), c.limit.Turn(world.At(10), time.Time{}))
		}
		if got := turn(c.limit, c.now, c.shown); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%s: it is sent at %.3f, want %.3f", c.name, got, c.want)
		}
	}
	again := used(false, 100)
	again.Wait(world.At(10), world.At(10.52))
	if again.Restart(world.Config(t)); turn(again, 10, 0) != 10 {
		t.Error("what waited for a scheduler before is ahead of the next one's")
	}
	for range 100 {
		again.Sent(world.At(10), true)
	}
	if got := turn(again, 10, 0); math.Abs(got-10.02) > 1e-6 {
		t.Errorf("behind what waited for the scheduler before it is sent at %.3f", got)
	}
}
