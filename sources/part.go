package sources

import "time"

// Part is the content of one file: its events in order of time, and facts about the file.
type Part struct {
	// Format is the file's format, such as "audit".
	Format string
	Events []Event
	// First and Last are the file's first and last times, also of lines without an event. Zero if no line has a time.
	First, Last time.Time
	// Notices are sentences for the user.
	Notices []string
	// Keep, if set, is called with about the bytes of memory of each added event.
	Keep func(bytes int)
}

// Add appends an event.
func (p *Part) Add(t time.Time, f Fact) {
	p.Events = append(p.Events, Event{Time: t, Fact: f})
	p.Saw(t)
	if p.Keep != nil {
		p.Keep(Cost(f))
	}
}

// Saw extends First and Last to t.
func (p *Part) Saw(t time.Time) {
	if p.First.IsZero() || t.Before(p.First) {
		p.First = t
	}
	if t.After(p.Last) {
		p.Last = t
	}
}
