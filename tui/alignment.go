package tui

import (
	"time"

	"github.com/schedq/schedq/queue/session"
)

// Alignment determines which moments of two sessions are shown together.
type Alignment uint8

const (
	// ByStart shows the same time since the start of each.
	ByStart Alignment = iota
	// ByTime shows the same time of day.
	ByTime
	// Apart lets each session keep its own time.
	Apart
)

// Words returns the alignment as shown.
func (a Alignment) Words() string {
	return [...]string{"by start", "by time of day", "independently"}[a]
}

// Next returns the alignment offered after a.
func (a Alignment) Next() Alignment { return (a + 1) % (Apart + 1) }

// timeSide is one of two sessions, as far as time is concerned.
type timeSide struct {
	// Start is the start of the recording, also during a what-if. First and Last limit what can be shown.
	Start, First, Last time.Time
	Now                time.Time
	// Live is set for a cluster, whose time runs by itself.
	Live bool
}

// Follow updates s from a frame of the session.
func (s *timeSide) Follow(f *session.Frame) {
	if f.Fork == nil {
		s.Start = f.Start
	}
	s.First, s.Last, s.Now, s.Live = f.Start, f.End, f.Now, f.Live != nil
}

// usualAlignment is the default: by time of day if the two overlap, and otherwise by start. A cluster does not go back in time
// because of a recording.
func usualAlignment(a, b timeSide) Alignment {
	switch {
	case a.First.Before(b.Last) && b.First.Before(a.Last), a.Live && b.Live:
		return ByTime
	case a.Live || b.Live:
		return Apart
	}
	return ByStart
}

// Moment returns the moment of b that belongs to that of a, within the limits of b. It reports false if b stays where it is.
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
