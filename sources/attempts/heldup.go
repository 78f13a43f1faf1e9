package attempts

import (
	"time"

	"github.com/schedq/schedq/sources"
)

// The client that writes Events has a rate limit of its own, by default 50 a second.
const (
	writtenLate = time.Second // an Event written that long after its attempt has waited for the limit
	writtenNext = time.Second // the next one follows within that time
)

// HeldUp returns a *sources.WatchGap after the last Event of an attempt in an audit log that ends at end, if that Event
// had waited for the rate limit and the log ends before the next could be written.
func HeldUp(last sources.Event, end time.Time) []sources.Event {
	f, some := last.Fact.(*sources.FailedAttempt)
	if !some || f.Received.Sub(last.Time) < writtenLate || end.Sub(f.Received) >= writtenNext {
		return nil
	}
	return []sources.Event{{Time: last.Time, Fact: &sources.WatchGap{Resource: sources.EventsWatch, Gap: sources.Gap{Since: last.Time}}}}
}
