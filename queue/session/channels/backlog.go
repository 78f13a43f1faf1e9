package channels

// The scheduler's Events have a client of their own (cmd/kube-scheduler/app/options/options.go, createClients). While its rate limit
// holds them up, they arrive in the order in which their attempts failed, each at least as late as the one before.

import "time"

const (
	// inTime is how long after its attempt an Event comes at the most while none waits for the rate limit, and pause how long after an
	// Event the next one comes at the latest while they do. Chosen: half of what a live session is behind the clock, and fifty times as
	// long as the limit by default lets pass between two.
	inTime = 250 * time.Millisecond
	pause  = time.Second
	// longest is how far behind the clock a session is at the most while it waits for Events. Chosen: as long as a scheduler may be silent
	// before it is said to be gone.
	longest = 15 * time.Second
)

// Events are the Events that have come. The zero value is of none, as a recording is, in which all have.
type Events struct {
	came time.Time     // when the last one did
	took time.Duration // how long after its attempt
	told time.Time     // the latest of their attempts
	// besides is how long the Events take that are to come with them, of which the source does not tell.
	besides time.Duration
}

// Come takes in that an Event came at now of an attempt at that time.
func (e *Events) Come(now, at time.Time) {
	if e.came, e.took = now, now.Sub(at); at.After(e.told) {
		e.told = at
	}
}

// Told returns the moment of the latest attempt whose Event has come.
func (e *Events) Told() time.Time { return e.told }

// Took returns how long after its attempt the last Event came.
func (e *Events) Took() time.Duration { return e.took }

// Besides takes in that so many Events of others come behind the last one that the source does not tell: that pods were bound (Scheduled).
// qps is the rate limit's, and 0 where there is none.
func (e *Events) Besides(n int, qps float64) {
	if e.besides = 0; qps > 0 {
		e.besides = time.Duration(float64(n) / qps * float64(time.Second))
	}
}

// Wait reports whether Events wait for the rate limit, as far as the source has been heard: until then.
func (e *Events) Wait(until time.Time) bool {
	return e.took > inTime && until.Sub(e.came) < pause+e.besides
}

// ToldUntil returns the moment up to which the Events of all attempts have come, of a source that was heard until then: that of the last
// one, while they wait.
func (e *Events) ToldUntil(until time.Time) time.Time {
	if e.Wait(until) {
		return e.told
	}
	return until
}

// ShownUntil returns up to which moment a session can be shown that was heard until now, and is attached since then: lag behind the clock,
// or, while Events wait, behind what they have told, for what the attempts of a crowd came to they alone tell.
func (e *Events) ShownUntil(now, attached time.Time, lag time.Duration) time.Time {
	end := later(e.ToldUntil(now).Add(-lag), now.Add(-longest))
	if now = now.Add(-lag); attached.After(now) {
		return now
	}
	return later(end, attached)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
