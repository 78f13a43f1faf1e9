package timeline

import (
	"time"

	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// Silence is a time without any scheduler activity: see sources.Silent.
type Silence struct {
	// Since is the time of the last activity before it, KnownAt when that was noticed, and Until the time of the next
	// activity, or zero.
	KnownAt, Since, Until time.Time
	// Profile is the schedulerName of the inactive profile. Empty for the whole scheduler.
	Profile string
	// Ended is true if the scheduler's log shows that it shut down.
	Ended bool
}

// Sentence describes the silence, with times of day in that zone.
func (s Silence) Sentence(zone words.Zone) string {
	if s.Ended {
		text := "The scheduler shut down at " + zone.Precise(s.Since) + ", according to its log."
		if s.Until.IsZero() {
			return text + " Next tries assume that it kept running."
		}
		return text + " One works again since " + zone.Clock(s.Until) + "."
	}
	text := "No sign of a scheduler"
	if s.Profile != "" {
		text += " for schedulerName " + string(sources.Sanitize(s.Profile))
	}
	text += " since " + zone.Clock(s.Since)
	if !s.Until.IsZero() {
		text += ", until " + zone.Clock(s.Until)
	}
	return text + "."
}

// PodSentence describes the silence for a waiting pod.
func (s Silence) PodSentence(zone words.Zone) string {
	if s.Ended {
		return s.Sentence(zone)
	}
	return s.Sentence(zone) + " The pod waits until one does."
}

// Silences are a timeline's silences, in the order of KnownAt.
type Silences []Silence

// Add updates the silences with an event of a source or a model.
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
			return // already known
		}
	}
	if !f.Since.IsZero() {
		*s = append(*s, Silence{KnownAt: at, Since: f.Since, Profile: f.Profile, Ended: f.Ended})
	}
}

// At returns the silence at that time, or nil. A silence of the whole scheduler comes before that of a profile.
func (s Silences) At(now time.Time) *Silence {
	var found *Silence
	for i := range s {
		if q := &s[i]; !q.KnownAt.After(now) && (q.Until.IsZero() || now.Before(q.Until)) && (found == nil || found.Profile != "") {
			was := *q
			found = &was
		}
	}
	return found
}

// SchedulerEnd returns when rec's last scheduler shut down according to its log, and false if that is unknown or a
// scheduler was active afterwards.
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

// LastMoment returns the last observed moment of rec: its scheduler's end if that is known, and else rec's own.
func LastMoment(rec *sources.Recording) time.Time {
	if ended, known := SchedulerEnd(rec); known {
		return ended
	}
	_, end := Span(rec)
	return end
}
