package timeline

import (
	"sort"
	"time"

	"github.com/schedq/schedq/sources"
)

// localCounts are the sizes of the local queue after some changes.
type localCounts struct {
	Counts  *sources.Counts
	Changes int
}

// Measured contains the readings of the scheduler's own queue sizes up to some moment, oldest first, and the sizes of the
// local queue at the same times.
type Measured struct {
	readings []sources.Event
	local    []localCounts
}

// Measured returns the first n of a recording's *sources.Counts with the local sizes. The timeline must have executed them.
func (t *Timeline) Measured(readings []sources.Event, n int) Measured {
	return Measured{readings: readings[:n:n], local: t.Counts[:n:n]}
}

// Len returns the number of readings.
func (m Measured) Len() int { return len(m.readings) }

// At returns the time of the i-th reading, and the sizes of the scheduler's queue and the local one.
func (m Measured) At(i int) (at time.Time, scheduler, local *sources.Counts) {
	return m.readings[i].Time, m.readings[i].Fact.(*sources.Counts), m.local[i].Counts
}

// Since returns the index of the first reading after t.
func (m Measured) Since(t time.Time) int { return LastNotAfter(m.readings, t) + 1 }

// LastNotAfter returns the index of the last of events, which are in time order, at t or before, or -1.
func LastNotAfter(events []sources.Event, t time.Time) int {
	return sort.Search(len(events), func(i int) bool { return events[i].Time.After(t) }) - 1
}
