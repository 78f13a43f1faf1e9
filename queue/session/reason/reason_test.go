package reason_test

import (
	"testing"
	"time"

	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/reason"
	"github.com/schedq/schedq/queue/session/words"
)

// TestSentences: every rule has a sentence of its own.
func TestSentences(t *testing.T) {
	at := time.Date(2026, 11, 21, 10, 0, 0, 123e6, time.UTC)
	for want, c := range map[string]reason.Cause{
		"By the queue's own rules.":                                  {},
		"Popped in queue order; such an attempt may leave no trace.": {Rule: reason.InOrder},
		"Popped in queue order; traces of the attempt may be late, because the scheduler's requests wait for each other.":             {Rule: reason.InOrder, Silence: evidence.Late},
		"Popped in queue order; traces of the attempt are missing, because a watch is broken.":                                        {Rule: reason.InOrder, Silence: evidence.WatchBroken},
		"Popped in queue order; it failed at 10:00:00.123, according to its Event.":                                                   {Rule: reason.InOrder, Silence: evidence.Conclusive, Seen: evidence.Failed, At: at},
		"Popped in queue order; it began at 10:00:00.123, according to the log.":                                                      {Rule: reason.InOrder, Seen: evidence.Started, At: at},
		"Popped in queue order; its binding failed at 10:00:00.123.":                                                                  {Rule: reason.InOrder, Seen: evidence.BindingFailed, At: at},
		"Popped out of order: attempts of the pods before it would leave a trace, and there is none up to 10:00:00.123.":              {Rule: reason.OutOfOrder, At: at},
		"Popped because its attempt is the next one observed: it failed at 10:00:00.123, according to the patch of the pod's status.": {Rule: reason.ByFailure, Seen: evidence.Patched, At: at},
		"Popped in place of a pod whose attempt would leave a trace, and left none: it bound the pod at 10:00:00.123.":                {Rule: reason.Replacement, Seen: evidence.Bound, At: at},
		"The loop had popped it before, according to what followed from it; the model was behind.":                                    {Rule: reason.ByCatchingUp},
		"Moved to match its binding at 10:00:00.123.":                                                                                 {Rule: reason.ByOutcome, Seen: evidence.Bound, At: at},
		"An attempt of it would leave a trace, and there is none up to 10:00:00.123.":                                                 {Rule: reason.NotTried, At: at},
		"It was assigned to a node here, and no binding was observed.":                                                                {Rule: reason.NotBound},
		"A dump of the scheduler's queue lists it there at 10:00:00.123.":                                                             {Rule: reason.ByDump, At: at},
	} {
		if got := c.Sentence(words.Zone{}); got != want {
			t.Errorf("%+v: %q, want %q", c, got, want)
		}
	}
	for rule := reason.ByQueue; rule <= reason.ByDump; rule++ {
		if rule != reason.ByQueue && (reason.Cause{Rule: rule}).Sentence(words.Zone{}) == (reason.Cause{}).Sentence(words.Zone{}) {
			t.Errorf("rule %d has no sentence", rule)
		}
	}
}
