package report

import (
	"time"

	"github.com/schedq/schedq/queue/session/opinion"
	"github.com/schedq/schedq/sources"
)

// Waiting is a pod without a node at one moment.
type Waiting struct {
	Pod  sources.SafeText `json:"pod"`
	Tier string           `json:"tier"`
	// Age is the time since the pod was created, InTier since it entered its tier: at most, if InTierAtMost.
	Age          Seconds `json:"ageSeconds"`
	InTier       Seconds `json:"inTierSeconds"`
	InTierAtMost bool    `json:"inTierAtMost,omitempty"`
	// AgeAtLeast is true if Age is a lower bound: the source shows neither the pod's creation nor its arrival.
	AgeAtLeast bool `json:"ageAtLeast,omitempty"`
	// GoneSince is since when the pod is probably gone: Age ends with its last attempt, InTier then. Nil for others.
	GoneSince *time.Time `json:"probablyGoneSince,omitempty"`
	Attempts  int        `json:"attempts"`
	// AttemptsAtLeast is true if Attempts is a lower bound: the pod is older than the source.
	AttemptsAtLeast bool  `json:"attemptsAtLeast,omitempty"`
	Priority        int32 `json:"priority"`
	// Reason is the code of explain.Reason, Cause the sentence. They are taken from the last attempt's message.
	Reason string           `json:"reason"`
	Cause  sources.SafeText `json:"cause"`
	// Plugins rejected its last attempt, or gate it. Empty after an error and before the first attempt.
	Plugins []string `json:"plugins,omitempty"`
	// NextTry is when it is retried at the latest without an event. Nil if unknown, and for a pod that is
	// gated, ready or in flight.
	NextTry    *time.Time `json:"nextTry,omitempty"`
	Provenance string     `json:"provenance"`
	// Verdict is the second opinion. Nil if the pod waits as it should, as far as is known.
	Verdict *opinion.Shown `json:"verdict,omitempty"`
}
