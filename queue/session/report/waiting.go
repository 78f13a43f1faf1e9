package report

import (
	"time"

	"github.com/schedq/schedq/sources"
)

// Waiting is a pod that has no node yet, at one moment.
type Waiting struct {
	Pod  sources.SafeText `json:"pod"`
	Tier string           `json:"tier"`
	// Age is the time since the pod came to the queue, InTier since it came to where it is.
	Age      Seconds `json:"ageSeconds"`
	InTier   Seconds `json:"inTierSeconds"`
	Attempts int     `json:"attempts"`
	Priority int32   `json:"priority"`
	// Plugins rejected its last attempt, or gate it. None after an error, and before the first attempt.
	Plugins []string `json:"plugins,omitempty"`
	// NextTry is when it is tried again at the latest, if nothing wakes it. Nil if that is not known, and of a pod that
	// is gated, ready or in flight.
	NextTry    *time.Time `json:"nextTry,omitempty"`
	Provenance string     `json:"provenance"`
}
