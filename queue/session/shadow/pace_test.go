package shadow

import (
	"math"
	"testing"
	"time"
)

// nominal is what an attempt is said to take.
const nominal = time.Millisecond

// learns has a pace see so many failures in a row, each that long after the one before.
func learns(p *pace, from time.Time, failures int, each time.Duration) time.Time {
	for range failures {
		from = from.Add(each)
		p.SawFailure(from, nominal)
	}
	return from
}

// is checks how long the pace has an attempt take, to a hundredth.
func (p *pace) is(t *testing.T, when string, attempt time.Duration) {
	t.Helper()
	if got := p.Attempt(nominal); math.Abs(float64(got-attempt)) > float64(attempt)/100 {
		t.Errorf("%s an attempt takes %s, want %s", when, got, attempt)
	}
}

// TestPace: the pace is learned from the attempts that are visible, and one odd interval does not change it.
func TestPace(t *testing.T) {
	p := newPace()
	p.is(t, "at first", nominal)
	now := learns(p, time.Date(2026, 11, 21, 10, 0, 1, 0, time.UTC), 1, nominal/4)
	p.is(t, "after one failure", nominal)
	now = learns(p, now, recentOf, nominal/4)
	p.is(t, "after many", nominal/4)

	for range 3 { // pauses that are no attempts, but may be taken for some
		now = learns(p, now, 1, 3*nominal)
		now = learns(p, now, 10, nominal/4)
	}
	p.is(t, "after pauses", nominal/4)
	for range recentOf { // pauses that are too long for attempts
		now = learns(p, now, 1, time.Second)
	}
	p.is(t, "after long pauses", nominal/4)
	for range recentOf { // between them a pod is bound, or a patch answered
		p.SawOther()
		now = learns(p, now, 1, 2*nominal)
	}
	p.is(t, "after bindings", nominal/4)
	learns(p, now, recentOf, 4*nominal)
	p.is(t, "after it became slow", 4*nominal)
	if got := p.Longest().Round(time.Millisecond); got != 80*time.Millisecond {
		t.Errorf("the loop takes up to %s from one attempt to the next, want 80ms", got)
	}
}
