package reason_test

import (
	"testing"
	"time"

	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/reason"
	"github.com/schedq/schedq/queue/session/words"
)

// TestSentences: each rule says by what it goes.
func TestSentences(t *testing.T) {
	at := time.Date(2026, 11, 21, 10, 0, 0, 123e6, time.UTC)
	for want, b := range map[string]reason.Because{
		"By the queue's own rules.":                                 {},
		"The loop takes it in its turn; the attempt need not show.": {Rule: reason.ByTurn},
		"The loop takes it in its turn; what shows of the attempt may be late, since the scheduler's requests wait for each other.":   {Rule: reason.ByTurn, Silence: reason.Late},
		"The loop takes it in its turn; what would show of the attempt is not heard.":                                                 {Rule: reason.ByTurn, Silence: reason.Unheard},
		"The loop takes it in its turn; the attempt is seen to fail at 10:00:00.123 by its Event.":                                    {Rule: reason.ByTurn, Silence: reason.Told, Seen: evidence.Failed, At: at},
		"The loop takes it in its turn; the attempt is told to begin at 10:00:00.123.":                                                {Rule: reason.ByTurn, Seen: evidence.Began, At: at},
		"The loop takes it in its turn; the attempt is seen by its binding, which fails at 10:00:00.123.":                             {Rule: reason.ByTurn, Seen: evidence.Unbound, At: at},
		"The loop takes it out of its turn: attempts of those before it would show, and none does up to 10:00:00.123.":                {Rule: reason.ByPassing, At: at},
		"The loop takes it because its attempt is the next that is seen to fail by the patch of the pod's status at 10:00:00.123.":    {Rule: reason.ByFailure, Seen: evidence.Patched, At: at},
		"The loop takes it in place of one whose attempt would show, and does not: this one is seen to bind the pod at 10:00:00.123.": {Rule: reason.InPlace, Seen: evidence.Bound, At: at},
		"The loop had taken it, as what follows from it tells; the model was behind.":                                                 {Rule: reason.ByCatchingUp},
		"It came to that by what is seen: its binding at 10:00:00.123.":                                                               {Rule: reason.ByOutcome, Seen: evidence.Bound, At: at},
		"An attempt of it would show, and none does up to 10:00:00.123.":                                                              {Rule: reason.NotTried, At: at},
		"It was placed here, and no binding of it was seen.":                                                                          {Rule: reason.NotBound},
		"The scheduler listed it there, in a dump of its queue at 10:00:00.123.":                                                      {Rule: reason.ByDump, At: at},
	} {
		if got := b.Sentence(words.Zone{}); got != want {
			t.Errorf("%+v says %q, want %q", b, got, want)
		}
	}
	for rule := reason.ByQueue; rule <= reason.ByDump; rule++ {
		if rule != reason.ByQueue && (reason.Because{Rule: rule}).Sentence(words.Zone{}) == (reason.Because{}).Sentence(words.Zone{}) {
			t.Errorf("rule %d has no sentence", rule)
		}
	}
}
