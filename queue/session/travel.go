package session

import (
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// A search looks for a moment at which a condition is met, forward or back, in slices between which the
// person's commands are heard.

// searchSlice is for how long a search works at a time, in real time.
const searchSlice = 20 * time.Millisecond

// searchLimit is how far a search looks ahead in a what-if, whose every second has to be worked out.
const searchLimit = time.Hour

// search is a search under way.
type search struct {
	line      *timeline.Timeline
	condition board.Condition
	forward   bool
	to        time.Time // if nothing is looked for, but this moment is on its way: see travel
	// at is the change that is looked at next, and sizes are how many pods are in each tier before it, or
	// searching back after it.
	at    int
	sizes [queue.InFlight + 1]int
	// Of a what-if: where time was when the search began to work it out, and where it gives up.
	executed, until time.Time
	changes         int
}

// find looks for the condition from the moment shown on, and goes there.
func (o *owner) find(c board.Condition, forward bool) {
	o.still()
	if c.Mark != nil {
		o.findMark(*c.Mark, forward)
		return
	}
	t := o.shownLine()
	s := &search{line: t, condition: c, forward: forward, at: t.Cursor, executed: t.Executed, until: t.Executed.Add(searchLimit), changes: len(t.Changes)}
	for _, tier := range board.Tiers {
		s.sizes[tier] = t.Shown.Total(tier)
	}
	if !forward {
		s.at--
		if s.at >= t.FirstChange() && !o.now.After(t.Changes[s.at].At) { // what was found last is where one is
			s.undo(t.Changes[s.at])
			s.at--
		}
	}
	o.search, o.changed = s, true
}

// still ends what moves through time of itself.
func (o *owner) still() { o.playing, o.search, o.skipped, o.changed = false, nil, QuietTime{}, true }

// working reports whether there is something to do that takes longer than a command may.
func (o *owner) working() bool { return o.search != nil || o.previews.unfinished() }

// work does some of it.
func (o *owner) work() {
	if o.search != nil {
		o.look()
		o.forgetPast()
	} else if o.previews.unfinished() {
		o.previews.workOutNext()
		o.changed = true
	}
}

// look goes on with the search for a slice of time.
func (o *owner) look() {
	s, began := o.search, time.Now()
	if !s.to.IsZero() {
		o.travelOn(s)
		return
	}
	for n := 0; ; n++ {
		if n%256 == 255 && time.Since(began) > searchSlice {
			o.changed = true // how far it is
			if o.bound > 0 && s.line.Size() > 2*o.bound {
				o.search = nil
				o.refuse("nothing up to %s is %q, and memory is short for more: go there, and look again", o.zone.Clock(s.line.Executed), s.condition)
			}
			return
		}
		found, more := s.lookAtNext()
		switch {
		case found:
			o.search, o.changed = nil, true
			s.line.SetCursor(s.at + 1)
			o.now = s.line.Changes[s.at].At
			if move := s.line.Changes[s.at].Move; move != nil {
				o.said = Said{Number: o.said.Number + 1, Pod: move.Pod.Key}
			}
			return
		case !more:
			o.search = nil
			s.giveUp()
			switch since := s.line.Since; {
			case !s.forward && !since.IsZero():
				o.refuse("nothing from %s on, which is as far back as is kept, is %q", o.zone.Clock(since), s.condition)
			case s.forward:
				o.refuse("nothing that follows is %q", s.condition)
			default:
				o.refuse("nothing before this is %q", s.condition)
			}
			return
		}
	}
}

// lookAtNext looks at the next change. found is true if it is what is looked for: then at is its index. more is false
// if there is no change left to look at.
func (s *search) lookAtNext() (found, more bool) {
	t := s.line
	if s.forward {
		for s.at >= len(t.Changes) {
			if !t.ExecuteMore(s.until) {
				return false, false
			}
		}
		c := t.Changes[s.at]
		if s.matches(c, true) {
			return true, true
		}
		s.at++
		return false, true
	}
	if s.at < t.FirstChange() {
		return false, false
	}
	if s.matches(t.Changes[s.at], false) {
		return true, true
	}
	s.at--
	return false, true
}

// matches reports whether c is what is looked for. It counts c in sizes, or out again when the search goes back.
func (s *search) matches(c timeline.Change, forward bool) bool {
	holds := s.condition.Holds
	if holds == nil {
		return c.Move != nil && s.condition.Is(c.Move)
	}
	was := holds(&s.sizes)
	if forward {
		s.redo(c)
		return !was && holds(&s.sizes)
	}
	s.undo(c)
	return was && !holds(&s.sizes)
}

// progress says what is looked for, and where the search is.
func (s *search) progress(zone words.Zone) sources.SafeText {
	at := s.line.Executed
	if s.at >= 0 && s.at < len(s.line.Changes) {
		at = s.line.Changes[s.at].At
	}
	return s.condition.Text + sources.SafeText(" at "+zone.Clock(at))
}

func (s *search) redo(c timeline.Change) { board.Count(&s.sizes, c.Before, c.After) }

func (s *search) undo(c timeline.Change) { board.Count(&s.sizes, c.After, c.Before) }

// giveUp leaves the timeline as it was.
func (s *search) giveUp() {
	if s.line.Forked != nil && len(s.line.Changes) == s.changes {
		s.line.Executed = s.executed // the flushes that moved nothing can run again
	}
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
	o.search = &search{line: t, condition: board.Condition{Text: sources.SafeText(o.zone.Clock(to))}, to: to, at: -1}
	o.look()
}

// travelOn goes on with the way to a moment for a slice of time.
func (o *owner) travelOn(s *search) {
	to := s.to
	if s.line.ExecuteFor(searchSlice, to) {
		o.search = nil
	} else {
		to = s.line.Executed
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
