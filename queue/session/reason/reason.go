// Package reason says why the model made a move: by which of its rules, and on what evidence.
package reason

import (
	"fmt"
	"time"

	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/words"
)

// Because is why the model made a move: by which rule, and on what evidence.
type Because struct {
	Rule Rule
	// Silence is what it means that nothing more is seen of the pod's attempt: of ByTurn only.
	Silence Silence
	// Seen is what is seen that the rule goes by, and At when that is told. Where nothing is, At is the moment up to which
	// nothing is, or zero if the rule asks for no evidence.
	Seen evidence.Kind
	At   time.Time
}

// Rule is one of the rules by which the model makes moves.
type Rule uint8

// The rules. All but the first are the shadow's.
const (
	// ByQueue is the scheduling queue's own rule for an event, a flush or the end of an attempt: upstream's code.
	ByQueue Rule = iota
	// ByTurn: the loop takes the pod whose turn it is.
	ByTurn
	// ByPassing: the loop takes a pod out of its turn, since those before it would be seen to be tried, and are not.
	ByPassing
	// ByFailure: the loop takes the pod that is seen to fail next, or to be placed before that one.
	ByFailure
	// ByRequests: the requests of the scheduler's client wait for each other, and tell in which order it tried the pods.
	ByRequests
	// InPlace: an attempt that would have shown, and does not, gives way to one that is seen.
	InPlace
	// ByCatchingUp: the pod was seen to be tried, and the model's loop was behind.
	ByCatchingUp
	// ByOutcome: the attempt comes to what was seen of it, whatever the plugins say here.
	ByOutcome
	// NotTried: an attempt of the pod would be seen, and is not: what woke it here did not wake it there.
	NotTried
	// NotBound: the pod was placed here, and its binding was not seen.
	NotBound
	// ByDump: the scheduler listed its queue.
	ByDump
)

// Silence is what it means that nothing is seen. Only where it is Told did it not happen.
type Silence uint8

const (
	// Unknown: it need not show, or the source has not told that far.
	Unknown Silence = iota
	// Late: it may be on its way, since the requests that show it wait for each other.
	Late
	// Told: it would show.
	Told
	// Unheard: it would show, if the watch were heard by which it would.
	Unheard
)

// Sentence is the reason as a sentence, with times of day in that zone.
func (b Because) Sentence(zone words.Zone) string {
	switch b.Rule {
	case ByTurn:
		return "Popped in queue order; " + b.meaning(zone) + "."
	case ByPassing:
		return "Popped out of order: attempts of the pods before it would leave a trace, and there is none up to " + zone.Precise(b.At) + "."
	case ByFailure:
		return "Popped because its attempt is the next one observed: " + b.seen(zone) + "."
	case ByRequests:
		return "Popped in the order of the scheduler's requests, which wait for its client's rate limit: " + b.seen(zone) + "."
	case InPlace:
		return "Popped in place of a pod whose attempt would leave a trace, and left none: " + b.seen(zone) + "."
	case ByCatchingUp:
		return "The loop had popped it before, according to " + b.seenNoun(zone) + "; the model was behind."
	case ByOutcome:
		return "Moved to match " + b.seenNoun(zone) + "."
	case NotTried:
		return "An attempt of it would leave a trace, and there is none up to " + zone.Precise(b.At) + "."
	case ByDump:
		return "A dump of the scheduler's queue lists it there at " + zone.Precise(b.At) + "."
	case NotBound:
		return "It was assigned to a node here, and no binding was observed."
	}
	return "By the queue's own rules."
}

// meaning says what is observed of an attempt, or what it means that nothing is.
func (b Because) meaning(zone words.Zone) string {
	switch {
	case b.Seen != evidence.Nothing:
		return b.seen(zone)
	case b.Silence == Late:
		return "traces of the attempt may be late, because the scheduler's requests wait for each other"
	case b.Silence == Unheard:
		return "traces of the attempt are missing, because a watch is broken"
	default:
		return "such an attempt may leave no trace"
	}
}

// seen says what is observed of the attempt.
func (b Because) seen(zone words.Zone) string {
	at := " at " + zone.Precise(b.At)
	switch b.Seen {
	case evidence.Began:
		return "it began" + at + ", according to the log"
	case evidence.Failed:
		return "it failed" + at + ", according to its Event"
	case evidence.Patched:
		return "it failed" + at + ", according to the patch of the pod's status"
	case evidence.Bound:
		return "it bound the pod" + at
	case evidence.Unbound:
		return "its binding failed" + at
	}
	return "nothing"
}

// seenNoun names what is observed.
func (b Because) seenNoun(zone words.Zone) string {
	kind := map[evidence.Kind]string{evidence.Failed: "the Event of its failure", evidence.Patched: "the patch of its status",
		evidence.Bound: "its binding"}[b.Seen]
	if kind == "" {
		return "what followed from it"
	}
	return fmt.Sprintf("%s at %s", kind, zone.Precise(b.At))
}

// GoesBy returns the reason of a rule that goes by that sighting.
func GoesBy(rule Rule, seen *evidence.Sighting) Because {
	if seen == nil {
		return Because{Rule: rule}
	}
	return Because{Rule: rule, Seen: seen.Kind, At: seen.Time}
}
