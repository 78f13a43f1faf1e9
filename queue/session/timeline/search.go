package timeline

import (
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
)

// searchLimit is how far a search looks ahead in a what-if, whose every second has to be worked out.
const searchLimit = time.Hour

// Search looks for a moment at which a condition is met, forward or back, one change after the other.
type Search struct {
	Line      *Timeline
	Condition board.Condition
	Forward   bool
	// at is the change that is looked at next, and sizes are how many pods are in each tier before it, or
	// searching back after it.
	at    int
	sizes [queue.InFlight + 1]int
	// Of a what-if: where time was when the search began to work it out, and where it gives up.
	executed, until time.Time
	changes         int
}

// NewSearch returns a search from the moment shown, now, on. Back from there it passes over what is at that moment.
func (t *Timeline) NewSearch(c board.Condition, forward bool, now time.Time) Search {
	s := Search{Line: t, Condition: c, Forward: forward, at: t.Cursor, executed: t.Executed, until: t.Executed.Add(searchLimit), changes: t.ChangeCount()}
	for _, tier := range board.Tiers {
		s.sizes[tier] = t.Shown.Total(tier)
	}
	if !forward {
		s.at--
		if s.at >= t.FirstChange() && !now.After(t.Change(s.at).At) { // what was found last is where one is
			s.undo(t.Change(s.at))
			s.at--
		}
	}
	return s
}

// LookAtNext looks at the next change. found is true if it is what is looked for: see Found. more is false
// if there is no change left to look at.
func (s *Search) LookAtNext() (found, more bool) {
	t := s.Line
	if s.Forward {
		for s.at >= t.ChangeCount() {
			if !t.ExecuteMore(s.until) {
				return false, false
			}
		}
		c := t.Change(s.at)
		if s.matches(c, true) {
			return true, true
		}
		s.at++
		return false, true
	}
	if s.at < t.FirstChange() {
		return false, false
	}
	if s.matches(t.Change(s.at), false) {
		return true, true
	}
	s.at--
	return false, true
}

// Found shows the change that was looked at last, and returns it.
func (s *Search) Found() board.Change {
	s.Line.SetCursor(s.at + 1)
	return s.Line.Change(s.at)
}

// matches reports whether c is what is looked for. It counts c in sizes, or out again when the search goes back.
func (s *Search) matches(c board.Change, forward bool) bool {
	holds := s.Condition.Holds
	if holds == nil {
		return c.Move != nil && s.Condition.Matches(c.Move)
	}
	was := holds(&s.sizes)
	if forward {
		s.redo(c)
		return !was && holds(&s.sizes)
	}
	s.undo(c)
	return was && !holds(&s.sizes)
}

// Reached is the moment at which the search is.
func (s *Search) Reached() time.Time {
	if s.at >= 0 && s.at < s.Line.ChangeCount() {
		return s.Line.Change(s.at).At
	}
	return s.Line.Executed
}

func (s *Search) redo(c board.Change) { board.Count(&s.sizes, c.Before, c.After) }

func (s *Search) undo(c board.Change) { board.Count(&s.sizes, c.After, c.Before) }

// GiveUp leaves the timeline as it was.
func (s *Search) GiveUp() {
	if s.Line.Forked != nil && s.Line.ChangeCount() == s.changes {
		s.Line.Executed = s.executed // the flushes that moved nothing can run again
	}
}
