package timeline

import (
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
)

// searchLimit is how far a search looks ahead in a what-if, whose every second has to be worked out.
const searchLimit = time.Hour

// Search looks for a moment at which a condition is met, forward or back, one change after the other. It moves the cursor
// only when it has found one.
type Search struct {
	Line      *Timeline
	Condition board.Condition
	Forward   bool
	// at is the change that is looked at next, and sizes are how many pods are in each tier before it, or
	// searching back after it.
	at    int
	sizes [queue.InFlight + 1]int
	// Of a condition that can be met by waiting: the board that sizes are of, and the time from which on, or searching
	// back before which, it was not looked at.
	board *board.Board
	bound time.Time
	// What was found: when, the pod, and the cursor.
	foundAt time.Time
	found   *board.Pod
	cursor  int
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
	if c.ByWaiting() {
		s.board, s.bound = t.Shown.Unfiltered().Copy(), now
		if forward {
			s.bound = now.Add(1)
		}
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

// LookAtNext looks at the next change, and at the time before it. found is true if what is looked for is there: see Found.
// more is false if nothing is left to look at.
func (s *Search) LookAtNext() (found, more bool) {
	t := s.Line
	if s.Forward {
		for s.at >= t.ChangeCount() {
			if !t.ExecuteMore(s.until) {
				return s.waited(t.lastMoment().Add(1), s.at), false
			}
			if s.at >= t.ChangeCount() && s.waited(t.Executed, s.at) {
				return true, true
			}
		}
		c := t.Change(s.at)
		if s.waited(c.At, s.at) {
			return true, true
		}
		s.at++
		return s.meets(c, s.at), true
	}
	if s.at < t.FirstChange() {
		return s.waited(t.Start, s.at+1), false
	}
	c := t.Change(s.at)
	if s.waited(c.At, s.at+1) {
		return true, true
	}
	s.at--
	return s.meets(c, s.at+2), true
}

// lastMoment is the last moment that can be shown, as far as is executed.
func (t *Timeline) lastMoment() time.Time {
	if t.Forked != nil {
		return t.Executed
	}
	return t.End
}

// waited reports whether the condition is met by waiting between the bound of the search and to, at which cursor.
func (s *Search) waited(to time.Time, cursor int) bool {
	if s.board == nil {
		return false
	}
	var at time.Time
	var pod *board.Pod
	if s.Forward {
		at, pod = s.Condition.FirstWait(s.board, s.bound, to)
		if to.After(s.bound) {
			s.bound = to
		}
	} else {
		at, pod = s.Condition.LastWait(s.board, to, s.bound)
		s.bound = to
	}
	if pod != nil {
		s.foundAt, s.found, s.cursor = at, pod, cursor
	}
	return pod != nil
}

// meets reports whether c, after which the cursor is, meets the condition.
func (s *Search) meets(c board.Change, cursor int) bool {
	if !s.matches(c, s.Forward) {
		return false
	}
	s.foundAt, s.cursor = c.At, cursor
	if c.Move != nil {
		s.found = c.Move.Pod
	}
	return true
}

// Found shows what was found, and returns its time and the pod, or nil if it is of no pod.
func (s *Search) Found() (time.Time, *board.Pod) {
	s.Line.SetCursor(s.cursor)
	return s.foundAt, s.found
}

// matches reports whether c is what is looked for. It counts c in sizes, or out again when the search goes back.
func (s *Search) matches(c board.Change, forward bool) bool {
	holds := s.Condition.Holds
	was := holds != nil && holds(&s.sizes)
	if forward {
		s.redo(c)
	} else {
		s.undo(c)
	}
	if holds == nil {
		return c.Move != nil && s.Condition.Matches(c.Move)
	}
	return holds(&s.sizes) != was && was != forward
}

// Reached is the moment at which the search is.
func (s *Search) Reached() time.Time {
	if s.at >= 0 && s.at < s.Line.ChangeCount() {
		return s.Line.Change(s.at).At
	}
	return s.Line.Executed
}

func (s *Search) redo(c board.Change) {
	board.Count(&s.sizes, c.Before, c.After)
	if s.board != nil {
		s.board.Replace(c.Before, c.After)
	}
}

func (s *Search) undo(c board.Change) {
	board.Count(&s.sizes, c.After, c.Before)
	if s.board != nil && (c.Before != nil || c.After != nil) {
		s.board.Replace(c.After, c.Before)
	}
}

// GiveUp leaves the timeline as it was.
func (s *Search) GiveUp() { s.Line.unexecute(s.executed, s.changes) }

// unexecute takes a fork back to the moment executed, if it was played on from there in vain: it has no more than so many
// changes.
func (t *Timeline) unexecute(executed time.Time, changes int) {
	switch {
	case t.Forked == nil || t.ChangeCount() > changes || !t.Executed.After(executed):
	case t.Engine.Driver != nil: // it has a clock of its own
		cursor := t.Cursor
		t.Reinject(t.Injected, executed)
		if t.ChangeCount() < changes { // what followed at the moment of the last injection had happened
			t.Execute(executed)
		}
		t.SetCursor(cursor)
	default:
		t.Executed = executed
	}
}
