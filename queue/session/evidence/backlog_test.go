package evidence_test

import (
	"testing"
	"time"

	"github.com/schedq/schedq/queue/session/evidence"
)

func at(seconds float64) time.Time {
	return time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC).Add(time.Duration(seconds * float64(time.Second)))
}

// TestShownUntil: while Events are backlogged, a session is shown up to half a second before the last one's
// attempt, but at most 15 seconds behind the clock, and never from before it attached.
func TestShownUntil(t *testing.T) {
	for _, c := range []struct {
		name             string
		received, failed float64 // the last Event, and its attempt
		attached         float64
		want             float64 // at 100
	}{
		{"no Events", 0, 0, 10, 99.5},
		{"no delay", 99.9, 99.88, 10, 99.5},
		{"backlogged", 99.9, 95, 10, 94.5},
		{"no longer backlogged", 98.9, 95, 10, 99.5},
		{"backlogged by more than 15 seconds", 99.9, 60, 10, 85},
		{"backlogged before the session attached", 99.9, 95, 97, 97},
		{"just attached", 99.9, 95, 99.8, 99.5},
		{"not attached yet", 99.9, 95, 101, 99.5},
	} {
		t.Run(c.name, func(t *testing.T) {
			var e evidence.Events
			if c.received > 0 {
				e.Record(at(c.received), at(c.failed))
			}
			if got := e.ShownUntil(at(100), at(c.attached), 500*time.Millisecond); !got.Equal(at(c.want)) {
				t.Errorf("shown until %v, want %v", got, at(c.want))
			}
		})
	}
}

// TestAddConcurrent: while other Events are sent that the source does not record, the next recorded one may
// arrive as much later.
func TestAddConcurrent(t *testing.T) {
	for _, c := range []struct {
		name   string
		others int
		qps    float64
		want   float64 // 2 s after the last one, whose attempt was at 95
	}{
		{"no others", 0, 50, 99.5},
		{"49 others", 49, 50, 99.5},
		{"51 others", 51, 50, 94.5},
		{"51 others, no rate limit", 51, 0, 99.5},
	} {
		var e evidence.Events
		e.Record(at(98), at(95))
		if e.AddConcurrent(c.others, c.qps); !e.LastAttempt().Equal(at(95)) {
			t.Errorf("%s: the last attempt is at %v", c.name, e.LastAttempt())
		}
		if got := e.ShownUntil(at(100), at(10), 500*time.Millisecond); !got.Equal(at(c.want)) {
			t.Errorf("%s: shown until %v, want %v", c.name, got, at(c.want))
		}
	}
}

// TestEventOutOfOrder: an Event of an earlier attempt does not move the last attempt back.
func TestEventOutOfOrder(t *testing.T) {
	var e evidence.Events
	e.Record(at(10), at(8))
	e.Record(at(10.1), at(7))
	if got := e.CompleteUntil(at(10.2)); !got.Equal(at(8)) {
		t.Errorf("complete until %v, want 8 s", got)
	}
}
