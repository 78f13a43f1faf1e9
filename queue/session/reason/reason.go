// Package reason describes why the model made a move: by which rule, and on what evidence.
package reason

import (
	"fmt"
	"time"

	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/words"
)

// Cause is why the model made a move.
type Cause struct {
	Rule Rule
	// Silence is what it means that no further trace of the pod's attempt was observed. It is only set for
	// InOrder.
	Silence evidence.Silence
	// Seen is the kind of the observation that the rule uses, and At its time. If Seen is None, At is the time up
	// to which nothing was observed, or zero if the rule uses no evidence.
	Seen evidence.Kind
	At   time.Time
}

// Rule is a rule by which the model makes moves.
type Rule uint8

// The rules. All except ByQueue belong to the model of the real scheduler.
const (
	// ByQueue is the scheduling queue's own rule for an event, a flush or the end of an attempt.
	ByQueue Rule = iota
	// InOrder pops the next pod in queue order.
	InOrder
	// OutOfOrder pops a pod before others whose attempts would leave a trace and left none.
	OutOfOrder
	// ByFailure pops the pod whose failure is observed next, or a pod that is placed before that.
	ByFailure
	// ByRequests pops pods in the order of the scheduler's requests, which wait for the client's rate limit.
	ByRequests
	// Replacement replaces an attempt that would leave a trace, and left none, by an observed one.
	Replacement
	// ByCatchingUp pops a pod whose attempt was observed while the model's loop was behind.
	ByCatchingUp
	// ByOutcome gives an attempt the observed outcome, whatever the plugins return here.
	ByOutcome
	// NotTried moves a pod back to where it waited, because an attempt would leave a trace, and there is none.
	NotTried
	// NotBound takes back a binding that was not observed.
	NotBound
	// ByDump moves a pod to where the scheduler's dump of its queue lists it.
	ByDump
)

// Sentence returns the cause as a sentence, with times of day in zone.
func (c Cause) Sentence(zone words.Zone) string {
	switch c.Rule {
	case InOrder:
		return "Popped in queue order; " + c.meaning(zone) + "."
	case OutOfOrder:
		return "Popped out of order: attempts of the pods before it would leave a trace, and there is none up to " + zone.Precise(c.At) + "."
	case ByFailure:
		return "Popped because its attempt is the next one observed: " + c.seen(zone) + "."
	case ByRequests:
		return "Popped in the order of the scheduler's requests, which wait for its client's rate limit: " + c.seen(zone) + "."
	case Replacement:
		return "Popped in place of a pod whose attempt would leave a trace, and left none: " + c.seen(zone) + "."
	case ByCatchingUp:
		return "The loop had popped it before, according to " + c.seenNoun(zone) + "; the model was behind."
	case ByOutcome:
		return "Moved to match " + c.seenNoun(zone) + "."
	case NotTried:
		return "An attempt of it would leave a trace, and there is none up to " + zone.Precise(c.At) + "."
	case ByDump:
		return "A dump of the scheduler's queue lists it there at " + zone.Precise(c.At) + "."
	case NotBound:
		return "It was assigned to a node here, and no binding was observed."
	}
	return "By the queue's own rules."
}

// meaning returns what was observed of an attempt, or what it means that nothing was.
func (c Cause) meaning(zone words.Zone) string {
	switch {
	case c.Seen != evidence.None:
		return c.seen(zone)
	case c.Silence == evidence.Late:
		return "traces of the attempt may be late, because the scheduler's requests wait for each other"
	case c.Silence == evidence.WatchBroken:
		return "traces of the attempt are missing, because a watch is broken"
	default:
		return "such an attempt may leave no trace"
	}
}

// seen returns what was observed of the attempt as a clause.
func (c Cause) seen(zone words.Zone) string {
	at := " at " + zone.Precise(c.At)
	switch c.Seen {
	case evidence.Started:
		return "it began" + at + ", according to the log"
	case evidence.Failed:
		return "it failed" + at + ", according to its Event"
	case evidence.Patched:
		return "it failed" + at + ", according to the patch of the pod's status"
	case evidence.Bound:
		return "it bound the pod" + at
	case evidence.BindingFailed:
		return "its binding failed" + at
	}
	return "nothing"
}

// seenNoun returns what was observed of the attempt as a noun.
func (c Cause) seenNoun(zone words.Zone) string {
	kind := map[evidence.Kind]string{evidence.Failed: "the Event of its failure", evidence.Patched: "the patch of its status",
		evidence.Bound: "its binding"}[c.Seen]
	if kind == "" {
		return "what followed from it"
	}
	return fmt.Sprintf("%s at %s", kind, zone.Precise(c.At))
}

// ByEvidence returns the cause of a rule that uses the observation seen, which may be nil.
func ByEvidence(rule Rule, seen *evidence.Observation) Cause {
	if seen == nil {
		return Cause{Rule: rule}
	}
	return Cause{Rule: rule, Seen: seen.Kind, At: seen.Time}
}
