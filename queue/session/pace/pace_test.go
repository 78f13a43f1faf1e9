package pace

import (
	"math"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
)

// nominal is what an attempt is said to take, answerDelay what the loop needs after the answer to a patch.
const nominal, answerDelay = time.Millisecond, 400 * time.Microsecond

// learns has a pace see so many failures in a row, each that long after the one before.
func learns(p *Pace, from time.Time, failures int, each time.Duration) time.Time {
	for range failures {
		from = from.Add(each)
		p.SawFailure(Failure{At: from, Nominal: nominal})
	}
	return from
}

// is checks the pace's attempts and answers, to a hundredth.
func (p *Pace) is(t *testing.T, when string, attempt, answer time.Duration) {
	t.Helper()
	near := func(a, b time.Duration) bool { return math.Abs(float64(a-b)) <= float64(b)/100 }
	if got := p.Attempt(nominal, Plain); !near(got, attempt) {
		t.Errorf("%s an attempt takes %s, want %s", when, got, attempt)
	}
	if got := p.AnswerDelay(); !near(got, answer) {
		t.Errorf("%s the loop goes on %s after an answer, want %s", when, got, answer)
	}
}

// TestPace: the pace is learned from the attempts that are visible, and one odd interval does not change it.
func TestPace(t *testing.T) {
	p := New(answerDelay)
	p.is(t, "at first", nominal, answerDelay)
	now := learns(p, time.Date(2026, 11, 21, 10, 0, 1, 0, time.UTC), 1, nominal/4)
	p.is(t, "after one failure", nominal, answerDelay)
	now = learns(p, now, recentOf, nominal/4)
	p.is(t, "after many", nominal/4, answerDelay)

	for range 3 { // pauses that are no attempts, but may be taken for some
		now = learns(p, now, 1, 3*nominal)
		now = learns(p, now, 10, nominal/4)
	}
	p.is(t, "after pauses", nominal/4, answerDelay)
	for range recentOf { // pauses that are too long for attempts
		now = learns(p, now, 1, time.Second)
	}
	p.is(t, "after long pauses", nominal/4, answerDelay)
	for range recentOf { // between them a pod is bound
		p.SawOther()
		now = learns(p, now, 1, 2*nominal)
	}
	p.is(t, "after bindings", nominal/4, answerDelay)
	for range 2 * recentOf {
		p.SawPatch(now.Add(time.Millisecond))
		now = learns(p, now, 1, 3*time.Millisecond)
	}
	p.is(t, "after patches", nominal/4, 2*time.Millisecond-nominal/4)
	learns(p, now, recentOf, 4*nominal)
	p.is(t, "after it became slow", 4*nominal, 2*time.Millisecond-nominal/4)
	if got := p.Longest().Round(time.Millisecond); got != 80*time.Millisecond {
		t.Errorf("the loop takes up to %s from one attempt to the next, want 80ms", got)
	}
}

// TestUsual: where nothing was seen for long, the scheduler is as fast as it was for long, and not as the last few attempts were.
func TestUsual(t *testing.T) {
	p := New(answerDelay)
	now := learns(p, time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC), usualOf, nominal/4)
	now = learns(p, now, recentOf, 2*nominal)
	p.At(now.Add(fresh))
	p.is(t, "when it became slow", 2*nominal, answerDelay)
	p.At(now.Add(fresh + time.Millisecond))
	p.is(t, "long after that", nominal/4, answerDelay)
	learns(p, now.Add(time.Minute), 1, nominal)
	p.At(now.Add(time.Minute))
	p.is(t, "when it is seen again", 2*nominal, answerDelay)
}

// TestOneOfFew: where most failures are not seen, the time from one that is to the next tells nothing, and the scheduler is as fast as it was
// for long.
func TestOneOfFew(t *testing.T) {
	p := New(answerDelay)
	now := learns(p, time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC), usualOf, nominal/4)
	now = learns(p, now, recentOf, 2*nominal)
	for range 2 * recentOf {
		now = now.Add(5 * nominal)
		p.SawFailure(Failure{At: now, Nominal: nominal, OneOfFew: true})
		p.At(now)
	}
	p.is(t, "meanwhile", nominal/4, answerDelay)
	now = learns(p, now, 1, 9*nominal)
	p.At(now)
	p.is(t, "when all are seen again", 2*nominal, answerDelay)
	now = learns(p, now, 2*recentOf, nominal)
	p.At(now)
	p.is(t, "after more of them", nominal, answerDelay)
}

// TestKindOf: a pod that has claims for devices takes longer.
func TestKindOf(t *testing.T) {
	claims := &v1.Pod{Spec: v1.PodSpec{ResourceClaims: make([]v1.PodResourceClaim, 1)}}
	if KindOf(nil) != Plain || KindOf(&v1.Pod{}) != Plain || KindOf(claims) != Devices {
		t.Errorf("nobody is of kind %d, a pod %d, one with claims %d", KindOf(nil), KindOf(&v1.Pod{}), KindOf(claims))
	}
}
