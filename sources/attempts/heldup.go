package attempts

import (
	"time"

	"github.com/schedq/schedq/sources"
)

// An Event is late that was written by so much later than its attempt, and held up is the next one for no longer than the latter. The
// client that writes them has a rate limit of its own, by default 50 a second.
const (
	writtenLate = time.Second
	writtenNext = time.Second
)

// HeldUp returns that Events of attempts behind the last one did not come by the end of an audit log, if that one had waited for the rate
// limit and no time was left for the next.
func HeldUp(last sources.Event, end time.Time) []sources.Event {
	f, some := last.Fact.(*sources.FailedAttempt)
	if !some || f.Received.Sub(last.Time) < writtenLate || end.Sub(f.Received) >= writtenNext {
		return nil
	}
	return []sources.Event{{Time: last.Time, Fact: &sources.WatchGap{Resource: sources.EventsWatch, Gap: sources.Gap{Since: last.Time}}}}
}
