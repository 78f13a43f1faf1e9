package timeline

import (
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
)

// searchLimit limits how far ahead a search executes a what-if.
const searchLimit = time.Hour

// Search looks for a moment that meets a condition, forward or back, change by change. It moves the timeline's cursor only
// when Found is called.
type Search struct {
	Timeline  *Timeline
	Condition board.Condition
	Forward   bool
	// at is the number of the next change to examine. sizes are the sizes of the tiers before it, or after it when
	// searching back.
	at    int
	sizes [queue.InFlight + 1]int
	// For a condition that can be met by waiting: the board of sizes, and the time from which on it has not been examined,
	// or before which when searching back.
	board *board.Board
	bound time.Time
	// What was found: its time, its pod and its cursor.
	foundAt time.Time
	found   *board.Pod
	cursor  int
	// For a what-if: Executed and ChangeCount when the search began, and the time up to which it executes.
	executed, until time.Time
	changes         int
}

// NewSearch returns a search that starts at now, the moment shown. A search back skips the change at that moment.
func (t *Timeline) NewSearch(c board.Condition, forward bool, now time.Time) Search {
	s := Search{Timeline: t, Condition: c, Forward: forward, at: t.Cursor, executed: t.Executed, until: t.Executed.Add(searchLimit), changes: t.ChangeCount()}
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
		if s.at >= t.FirstChange() && !now.After(t.Change(s.at).At) { // the previous search found it
			s.undo(t.Change(s.at))
			s.at--
		}
	}
	return s
}

// Step examines the next change and the time before it. If they meet the condition, found is true: see Found. more is false
// if nothing is left to examine.
func (s *Search) Step() (found, more bool) {
	t := s.Timeline
	if s.Forward {
		for s.at >= t.ChangeCount() {
			if !t.executeMore(s.until) {
				return s.meetsByWaiting(t.lastMoment().Add(1), s.at), false
			}
			if s.at >= t.ChangeCount() && s.meetsByWaiting(t.Executed, s.at) {
				return true, true
			}
		}
		c := t.Change(s.at)
		if s.meetsByWaiting(c.At, s.at) {
			return true, true
		}
		s.at++
		return s.meets(c, s.at), true
	}
	if s.at < t.FirstChange() {
		return s.meetsByWaiting(t.Start, s.at+1), false
	}
	c := t.Change(s.at)
	if s.meetsByWaiting(c.At, s.at+1) {
		return true, true
	}
	s.at--
	return s.meets(c, s.at+2), true
}

// lastMoment returns the last moment that can be shown; in a fork, without executing more.
func (t *Timeline) lastMoment() time.Time {
	if t.Forked != nil {
		return t.Executed
	}
	return t.End
}

// meetsByWaiting reports whether a pod's waiting meets the condition between bound and to, where the cursor is at cursor.
func (s *Search) meetsByWaiting(to time.Time, cursor int) bool {
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

// meets reports whether c, after which the cursor is at cursor, meets the condition.
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

// Found shows the moment found, and returns its time and its pod, or nil if it has none.
func (s *Search) Found() (time.Time, *board.Pod) {
	s.Timeline.SetCursor(s.cursor)
	return s.foundAt, s.found
}

// matches reports whether c meets the condition, and updates sizes.
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

// Reached returns the time that the search has reached.
func (s *Search) Reached() time.Time {
	if s.at >= 0 && s.at < s.Timeline.ChangeCount() {
		return s.Timeline.Change(s.at).At
	}
	return s.Timeline.Executed
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

// Cancel undoes what the search executed.
func (s *Search) Cancel() { s.Timeline.undoExecution(s.executed, s.changes) }

// undoExecution resets a fork to executed, a former value of Executed, unless it has more than that many changes by now.
func (t *Timeline) undoExecution(executed time.Time, changes int) {
	switch {
	case t.Forked == nil || t.ChangeCount() > changes || !t.Executed.After(executed):
	case t.Engine.Driver != nil: // its clock can't be set back
		cursor := t.Cursor
		t.Reinject(t.Injected, executed)
		if t.ChangeCount() < changes { // what followed at the time of the last injection had been executed
			t.Execute(executed)
		}
		t.SetCursor(cursor)
	default:
		t.Executed = executed
	}
}
