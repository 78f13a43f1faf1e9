package channels_test

import (
	"testing"
	"time"

	"github.com/schedq/schedq/queue/session/channels"
)

func at(seconds float64) time.Time {
	return time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC).Add(time.Duration(seconds * float64(time.Second)))
}

// TestShownUntil: while Events wait, a session is shown up to half a second before what they have told, but no more than a quarter of a
// minute behind the clock, and never from before it was attached.
func TestShownUntil(t *testing.T) {
	for _, c := range []struct {
		name       string
		came, made float64 // the last Event, and its attempt
		attached   float64
		want       float64 // at 100
	}{
		{"none has come", 0, 0, 10, 99.5},
		{"they come at once", 99.9, 99.88, 10, 99.5},
		{"they wait", 99.9, 95, 10, 94.5},
		{"they waited, and none is left", 98.9, 95, 10, 99.5},
		{"they wait for longer than anybody is shown a past for", 99.9, 60, 10, 85},
		{"they waited before the session came", 99.9, 95, 97, 97},
		{"it has just come", 99.9, 95, 99.8, 99.5},
		{"it has yet to come", 99.9, 95, 101, 99.5},
	} {
		t.Run(c.name, func(t *testing.T) {
			var e channels.Events
			if c.came > 0 {
				e.Come(at(c.came), at(c.made))
			}
			if got := e.ShownUntil(at(100), at(c.attached), 500*time.Millisecond); !got.Equal(at(c.want)) {
				t.Errorf("it is shown up to %v, want %v", got, at(c.want))
			}
		})
	}
}

// TestBesides: while others' Events come, which are not told, the next one that is may come as much later.
func TestBesides(t *testing.T) {
	for _, c := range []struct {
		name   string
		others int
		qps    float64
		want   float64 // 2 s after the last one, whose attempt was at 95
	}{
		{"there are none", 0, 50, 99.5},
		{"they take less than that", 49, 50, 99.5},
		{"they take longer", 51, 50, 94.5},
		{"they take longer, but there is no rate limit", 51, 0, 99.5},
	} {
		var e channels.Events
		e.Come(at(98), at(95))
		if e.Besides(c.others, c.qps); !e.Told().Equal(at(95)) {
			t.Errorf("%s: told up to %v", c.name, e.Told())
		}
		if got := e.ShownUntil(at(100), at(10), 500*time.Millisecond); !got.Equal(at(c.want)) {
			t.Errorf("%s: it is shown up to %v, want %v", c.name, got, at(c.want))
		}
	}
}

// TestToldInOrder: an Event of an earlier attempt than another that has come takes nothing back.
func TestToldInOrder(t *testing.T) {
	var e channels.Events
	e.Come(at(10), at(8))
	e.Come(at(10.1), at(7))
	if got := e.ToldUntil(at(10.2)); !got.Equal(at(8)) {
		t.Errorf("all are told up to %v, want 8 s", got)
	}
}
