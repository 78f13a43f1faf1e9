package evidence

import "time"

const (
	// maxUnlimitedDelay limits how long after its attempt an Event arrives while the rate limit holds none up.
	// Chosen: half of Lag.
	maxUnlimitedDelay = 250 * time.Millisecond
	// maxEventGap limits the time between two Events while the rate limit holds them up. Chosen: fifty times the
	// default limit's interval.
	maxEventGap = time.Second
	// maxLag limits how far a session is behind the clock while it waits for Events. Chosen: as long as a
	// scheduler may be silent before it counts as gone.
	maxLag = 15 * time.Second
)

// Events describes the delay of a live source's Events. The scheduler sends Events by a client of its own
// (cmd/kube-scheduler/app/options/options.go, createClients). While that client's rate limit holds them up,
// they arrive in the order of their attempts, each at least as late as the one before.
//
// The zero value is of no Events, as for a recording, in which all have arrived.
type Events struct {
	receivedAt  time.Time     // when the last Event arrived
	delay       time.Duration // how long that was after its attempt
	lastAttempt time.Time     // the time of the latest attempt with an Event
	concurrent  time.Duration // see AddConcurrent
}

// Record records that the Event of an attempt at that time arrived at now.
func (e *Events) Record(now, at time.Time) {
	if e.receivedAt, e.delay = now, now.Sub(at); at.After(e.lastAttempt) {
		e.lastAttempt = at
	}
}

// LastAttempt returns the time of the latest attempt whose Event has arrived.
func (e *Events) LastAttempt() time.Time { return e.lastAttempt }

// Delay returns how long after its attempt the last Event arrived.
func (e *Events) Delay() time.Duration { return e.delay }

// AddConcurrent sets the number of other Events, not recorded by the source, that are queued behind the last
// one: those of bindings (Scheduled). qps is the rate limit, or 0 for none.
func (e *Events) AddConcurrent(n int, qps float64) {
	if e.concurrent = 0; qps > 0 {
		e.concurrent = time.Duration(float64(n) / qps * float64(time.Second))
	}
}

// Backlogged reports whether Events wait for the rate limit, for a source that was read until then.
func (e *Events) Backlogged(until time.Time) bool {
	return e.delay > maxUnlimitedDelay && until.Sub(e.receivedAt) < maxEventGap+e.concurrent
}

// CompleteUntil returns the time up to which the Events of all attempts have arrived, for a source that was
// read until then.
func (e *Events) CompleteUntil(until time.Time) time.Time {
	if e.Backlogged(until) {
		return e.lastAttempt
	}
	return until
}

// ShownUntil returns the time up to which a session can be shown that was read until now, and attached at
// attached. That is lag behind the clock, or, while Events are backlogged, behind the last Event: only Events
// show the outcome of many attempts in a short time.
func (e *Events) ShownUntil(now, attached time.Time, lag time.Duration) time.Time {
	end := later(e.CompleteUntil(now).Add(-lag), now.Add(-maxLag))
	if now = now.Add(-lag); attached.After(now) {
		return now
	}
	return later(end, attached)
}
