package session

import (
	"time"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

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
	if t.Forked != nil || !to.After(t.Executed) {
		o.seek(to)
		return
	}
	o.skipped, o.quiet, o.changed = Gap{}, 0, true
	o.search = &search{line: t, condition: board.Condition{Text: sources.SafeText(words.Clock(to))}, to: to, at: -1}
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
