package sources

import "time"

// Part is what one file gave: events in the order of time, and what is worth knowing of the file.
type Part struct {
	// Format names the file's format, such as "audit".
	Format string
	Events []Event
	// First and Last are the file's first and last times, also of lines that gave no event. Zero if no
	// line has a time.
	First, Last time.Time
	// Notices are sentences for the person.
	Notices []string
	// Keep is told about how many bytes of memory an event takes that is added, if it is set.
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

// Saw widens the part's range to t.
func (p *Part) Saw(t time.Time) {
	if p.First.IsZero() || t.Before(p.First) {
		p.First = t
	}
	if t.After(p.Last) {
		p.Last = t
	}
}
