package tui

import (
	"time"

	"github.com/schedq/schedq/queue/session"
)

// Alignment says which moments of two sessions are shown together.
type Alignment uint8

const (
	// ByStart shows what was as long after the start of each.
	ByStart Alignment = iota
	// ByTime shows the same time of day.
	ByTime
	// Apart leaves each at a moment of its own.
	Apart
)

// Words are what the alignment is called.
func (a Alignment) Words() string {
	return [...]string{"by their starts", "by the time of day", "each at its own time"}[a]
}

// Next is the alignment offered after a.
func (a Alignment) Next() Alignment { return (a + 1) % (Apart + 1) }

// Side is one of two sessions, as far as time is concerned.
type timeSide struct {
	// Start is where the recording begins, also while a what-if of it is shown; First and Last are what can be shown.
	Start, First, Last time.Time
	Now                time.Time
	// Live is true for a cluster, whose time goes on by itself.
	Live bool
}

// Follow takes in what f says of the session.
func (s *timeSide) Follow(f *session.Frame) {
	if f.Fork == nil {
		s.Start = f.Start
	}
	s.First, s.Last, s.Now, s.Live = f.Start, f.End, f.Now, f.Live != nil
}

// Usual is how two are aligned that nobody aligned: by the time of day if they have some in common, and otherwise by their
// starts. A cluster is not taken back in time because of a recording.
func usualAlignment(a, b timeSide) Alignment {
	switch {
	case a.First.Before(b.Last) && b.First.Before(a.Last), a.Live && b.Live:
		return ByTime
	case a.Live || b.Live:
		return Apart
	}
	return ByStart
}

// Moment is the moment of b that is shown together with a's. It is within what can be shown of b. It reports false if b is
// left where it is.
func (a Alignment) Moment(leads, follows timeSide) (time.Time, bool) {
	at := leads.Now
	switch a {
	case ByStart:
		at = follows.Start.Add(leads.Now.Sub(leads.Start))
	case Apart:
		return time.Time{}, false
	}
	if at.Before(follows.First) {
		at = follows.First
	}
	if at.After(follows.Last) {
		at = follows.Last
	}
	return at, !at.Equal(follows.Now)
}
