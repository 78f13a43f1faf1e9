package timeline

import (
	"time"

	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// Silence is a time in which no scheduler was heard to work: see sources.Silent.
type Silence struct {
	// Known is when that was known, Since when one was heard last, and Until when one was heard again: zero if it was not.
	Known, Since, Until time.Time
	// Profile is the schedulerName of the profile that is meant. Empty for the scheduler as a whole.
	Profile string
}

// Sentence says it, with times of day in that zone.
func (q Silence) Sentence(zone words.Zone) string {
	said := "No scheduler is heard to work"
	if q.Profile != "" {
		said += " for schedulerName " + string(sources.Sanitize(q.Profile))
	}
	said += " since " + zone.Clock(q.Since)
	if !q.Until.IsZero() {
		said += ", until " + zone.Clock(q.Until)
	}
	return said + "."
}

// Silences are those of a timeline, in the order in which they were known.
type Silences []Silence

// Add takes in what a source or a model tells at a moment.
func (s *Silences) Add(at time.Time, f *sources.Silent) {
	for i := range *s {
		known := &(*s)[i]
		if !known.Until.IsZero() {
			continue
		}
		switch {
		case f.Since.IsZero() && (f.Profile == "" || f.Profile == known.Profile):
			known.Until = at
		case f.Profile == known.Profile:
			return // it is known
		}
	}
	if !f.Since.IsZero() {
		*s = append(*s, Silence{Known: at, Since: f.Since, Profile: f.Profile})
	}
}

// At returns the silence at that moment, or nil: that of the scheduler as a whole rather than that of one profile.
func (s Silences) At(now time.Time) *Silence {
	var found *Silence
	for i := range s {
		if q := &s[i]; !q.Known.After(now) && (q.Until.IsZero() || now.Before(q.Until)) && (found == nil || found.Profile != "") {
			found = &Silence{q.Known, q.Since, q.Until, q.Profile}
		}
	}
	return found
}
