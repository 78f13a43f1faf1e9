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
	// Ended is true if the scheduler's log says that it shut down.
	Ended bool
}

// Sentence says it, with times of day in that zone.
func (q Silence) Sentence(zone words.Zone) string {
	if q.Ended {
		said := "The scheduler shut down at " + zone.Precise(q.Since) + ", according to its log."
		if q.Until.IsZero() {
			return said + " Next tries assume that it kept running."
		}
		return said + " One works again since " + zone.Clock(q.Until) + "."
	}
	said := "No sign of a scheduler"
	if q.Profile != "" {
		said += " for schedulerName " + string(sources.Sanitize(q.Profile))
	}
	said += " since " + zone.Clock(q.Since)
	if !q.Until.IsZero() {
		said += ", until " + zone.Clock(q.Until)
	}
	return said + "."
}

// PodSentence says it of a pod that waits.
func (q Silence) PodSentence(zone words.Zone) string {
	if q.Ended {
		return q.Sentence(zone)
	}
	return q.Sentence(zone) + " The pod waits until one does."
}

// Silences are those of a timeline, in the order in which they were known.
type Silences []Silence

// Add takes in what a source or a model tells.
func (s *Silences) Add(ev sources.Event) {
	at := ev.Time
	f, is := ev.Fact.(*sources.Silent)
	if !is {
		if n := len(*s) - 1; n >= 0 && (*s)[n].Ended && (*s)[n].Until.IsZero() && (&sources.Silent{Since: (*s)[n].Since}).EndedBefore(ev) {
			(*s)[n].Until = at
		}
		return
	}
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
		*s = append(*s, Silence{Known: at, Since: f.Since, Profile: f.Profile, Ended: f.Ended})
	}
}

// At returns the silence at that moment, or nil: that of the scheduler as a whole rather than that of one profile.
func (s Silences) At(now time.Time) *Silence {
	var found *Silence
	for i := range s {
		if q := &s[i]; !q.Known.After(now) && (q.Until.IsZero() || now.Before(q.Until)) && (found == nil || found.Profile != "") {
			was := *q
			found = &was
		}
	}
	return found
}

// SchedulerEnd returns when the log of rec's last scheduler says that it shut down, if none works after that.
func SchedulerEnd(rec *sources.Recording) (time.Time, bool) {
	var silences Silences
	for _, ev := range rec.Events {
		silences.Add(ev)
	}
	if n := len(silences) - 1; !rec.Unread && n >= 0 && silences[n].Ended && silences[n].Until.IsZero() {
		return silences[n].Since, true
	}
	return time.Time{}, false
}

// LastMoment returns the last moment of rec that was observed: its scheduler's end, or where that is not known its own.
func LastMoment(rec *sources.Recording) time.Time {
	if ended, known := SchedulerEnd(rec); known {
		return ended
	}
	_, end := Span(rec)
	return end
}
