package timeline

import (
	"sort"
	"time"

	"github.com/schedq/schedq/sources"
)

// Measured are the readings of the scheduler's own counts up to some moment, oldest first, and beside each the counts
// of the local queue.
type Measured struct {
	readings []sources.Event
	local    []localCounts
}

// Measured returns the first n of the readings that a recording tells, beside what the local queue had at each.
func (t *Timeline) Measured(readings []sources.Event, n int) Measured {
	return Measured{readings: readings[:n:n], local: t.Counts[:n:n]}
}

// Len returns how often the scheduler's counts were read.
func (m Measured) Len() int { return len(m.readings) }

// At returns when the i-th reading was, what the scheduler said, and what the local queue had then.
func (m Measured) At(i int) (at time.Time, says, local *sources.Counts) {
	return m.readings[i].Time, m.readings[i].Fact.(*sources.Counts), m.local[i].Counts
}

// Since returns the index of the first reading after t.
func (m Measured) Since(t time.Time) int { return LastNotAfter(m.readings, t) + 1 }

// LastNotAfter returns the index of the last event at t or before, or -1. events are in the order of time.
func LastNotAfter(events []sources.Event, t time.Time) int {
	return sort.Search(len(events), func(i int) bool { return events[i].Time.After(t) }) - 1
}
