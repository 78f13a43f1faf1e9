package channels

import "time"

// The constants that decide what silence means, each with where it comes from.
const (
	// AttemptSlack is how much longer or later than the model's an attempt may have been that is seen. Chosen, no
	// derivation yet: twenty attempts' time on few nodes.
	AttemptSlack = 15 * time.Millisecond
	// UnrecordedSlack is the same where no Event tells when the attempt was: a patch or a condition follows it, which
	// the client's rate limit may hold up. Chosen, no derivation yet.
	UnrecordedSlack = 2 * time.Second
	// Lag is how far a live session is behind the clock, unless Events wait (package backlog). What comes within it corrects the model before it is shown:
	// the scheduler's own Events arrive later than they are made, and the model looks ahead. Measured: 10 to 30 ms
	// mostly, while no rate limit holds them up.
	Lag = 500 * time.Millisecond
	// WriteTime is how long after an attempt its Event is written at the latest, unless the client's rate limit holds
	// it up. Chosen, no derivation yet.
	WriteTime = 100 * time.Millisecond
	// VersionSlack is how much later than the model's the scheduler may hear that a pod has a new version. Measured: up to 38 ms
	// (95th percentile, crowds), and 1 ms mostly.
	VersionSlack = 40 * time.Millisecond
	// Foresight is how far the model looks for the next attempt of a pod. Derived: no further than a live session can.
	Foresight = Lag - WriteTime
)
