package session

import (
	"time"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// A search looks for a moment at which a condition is met, forward or back, in slices between which the
// person's commands are heard.

// searchSlice is for how long a search works at a time, in real time, if no command waits.
const searchSlice = 20 * time.Millisecond

// search is a search under way.
type search struct {
	timeline.Search
	to time.Time // if nothing is looked for, but this moment is on its way: see travel
}

// find looks for the condition from the moment shown on, and goes there.
func (o *owner) find(c board.Condition, forward bool) {
	o.still()
	if c.Mark != nil {
		o.findMark(*c.Mark, forward)
		return
	}
	o.search, o.changed = &search{Search: o.shownLine().NewSearch(c, forward, o.now)}, true
}

// still ends what moves through time of itself.
func (o *owner) still() { o.playing, o.search, o.skipped, o.changed = false, nil, QuietTime{}, true }

// working reports whether there is something to do that takes longer than a command may.
func (o *owner) working() bool {
	return o.search != nil || o.previews.Unfinished() || o.recording.StoresBeyond(o.bound)
}

// awaits is what is closed once there is something to do of it. Nil: there is at once.
func (o *owner) awaits() <-chan struct{} {
	if o.search != nil && !o.outrunsFile() || o.previews.Unfinished() {
		return nil
	}
	return o.recording.Storing()
}

// outrunsFile reports whether what was played takes twice as much memory as it may, since the disk is slower: no more is played then
// until that has been written, and whatever a person asks for meanwhile is answered.
func (o *owner) outrunsFile() bool { return o.recording.StoresBeyond(2 * o.bound) }

// work does some of it.
func (o *owner) work() {
	switch {
	case o.search != nil && !o.outrunsFile():
		o.look()
		o.forgetPast()
	case o.previews.Unfinished():
		o.previews.WorkOutNext()
		o.changed = true
	default:
		o.forgetPast()
	}
}

// look goes on with the search for a slice of time.
func (o *owner) look() {
	s, began := o.search, time.Now()
	if !s.to.IsZero() {
		o.travelOn(s, o.isAwaited)
		return
	}
	for n := 0; ; n++ {
		if n%16 == 15 && (time.Since(began) > searchSlice || o.isAwaited != nil && o.isAwaited()) { // each may be 0.3 ms of the model's work
			o.changed = true // how far it is
			if o.bound > 0 && !s.Line.Keeps() && s.Line.Size() > 2*o.bound {
				o.search = nil
				o.refuse("nothing up to %s is %q, and memory is short for more: go there, and look again", o.zone.Clock(s.Line.Executed), s.Condition)
			}
			return
		}
		found, more := s.LookAtNext()
		switch {
		case found:
			o.search, o.changed = nil, true
			c := s.Found()
			o.now = c.At
			if move := c.Move; move != nil {
				o.said = Said{Number: o.said.Number + 1, Pod: move.Pod.Key}
			}
			return
		case !more:
			o.search = nil
			s.GiveUp()
			switch since := s.Line.Since; {
			case !s.Forward && !since.IsZero():
				o.refuse("nothing from %s on, which is as far back as is kept, is %q", o.zone.Clock(since), s.Condition)
			case s.Forward:
				o.refuse("nothing that follows%s is %q", o.asFarAsRead(), s.Condition)
			default:
				o.refuse("nothing before this is %q", s.Condition)
			}
			return
		}
	}
}

// progress says what is looked for, and where the search is.
func (s *search) progress(zone words.Zone) sources.SafeText {
	at := s.Line.Executed
	if s.to.IsZero() {
		at = s.Reached()
	}
	return s.Condition.Text + sources.SafeText(" at "+zone.Clock(at))
}

// stepTime pauses and goes d forward, or back.
func (o *owner) stepTime(d time.Duration) {
	o.still()
	o.seek(o.now.Add(d))
}

// What the model makes of a recording is worked out as it is shown, which for a busy cluster's audit log takes
// longer than a person wants to wait for the next key: a way far ahead is gone in slices, as a search is.

// playSlice is for how long playing works out what comes, in real time, before it is shown how far it got.
const playSlice = 100 * time.Millisecond

// travel is seek for a person, who can stop on the way.
func (o *owner) travel(to time.Time) {
	t := o.shownLine()
	if why := o.unread(to); why != "" {
		o.refuse("%s", why)
		return
	}
	if to.After(t.End) && t.Forked == nil {
		to = t.End
	}
	if t.IsGone(to) {
		o.goBackTo(to)
		return
	}
	if t.Forked != nil || !to.After(t.Executed) {
		o.seek(to)
		return
	}
	o.skipped, o.quiet, o.changed = QuietTime{}, 0, true
	o.search = &search{timeline.Search{Line: t, Condition: board.Condition{Text: sources.SafeText(o.zone.Clock(to))}}, to}
	if !o.outrunsFile() {
		o.travelOn(o.search, nil) // what waits already was asked for of where this goes
	}
	o.forgetPast()
}

// travelOn goes on with the way to a moment for a slice of time, or until isAwaited, which may be nil.
func (o *owner) travelOn(s *search, isAwaited func() bool) {
	to := s.to
	if s.Line.ExecuteFor(searchSlice, to, isAwaited) {
		o.search = nil
	} else {
		to = s.Line.Executed
	}
	o.show(to)
	o.changed = true
}

func (o *owner) seek(at time.Time) {
	if o.fork != nil && at.Sub(o.fork.Executed) > seekLimit {
		o.refuse("a what-if goes on for %s at most at once", seekLimit)
		return
	}
	if o.shownLine().IsGone(at) {
		o.goBackTo(at)
		return
	}
	o.skipped, o.quiet, o.search, o.changed = QuietTime{}, 0, nil, true
	o.show(at)
}
