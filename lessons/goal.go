package lessons

import (
	"fmt"
	"slices"
	"strings"

	"github.com/schedq/schedq/queue/session"
)

// Attempt is a try to reach a goal in a what-if. Only moves from the index Moves on count.
type Attempt struct{ Moves int }

// Begin starts a what-if in which the goal can be reached. The attempt starts with the frame that
// Sync returns next: see Attempt.
func (g *Goal) Begin(s *session.Session) {
	if g.Person {
		s.Fork()
	} else {
		s.ToggleScheduler()
	}
}

// Reached reports whether the goal is reached in f. If the pod is there but the goal is not
// reached, why says so.
func (g *Goal) Reached(f *session.Frame, a Attempt) (reached bool, why string) {
	for i := min(a.Moves, f.Log.Len()); i < f.Log.Len(); i++ {
		m := f.Log.At(i)
		if slices.Contains(g.Without, m.Event) {
			return false, fmt.Sprintf("%s moved %s, but the goal must be reached without it: undo", m.Event, m.Pod.Key.Name)
		}
		if m.Pod.Key != g.Pod || m.To != g.Tier || m.From == m.To {
			continue
		}
		if g.By == "" || g.By == m.Event {
			return true, ""
		}
		why = fmt.Sprintf("%s moved it there, but it must be %s: undo", m.Event, g.By)
	}
	return false, why
}

// reach performs the solution at the current place.
func (w *walk) reach(g *Goal) error {
	g.Begin(w.session)
	f, refused, err := w.sync()
	if err != nil {
		return err
	}
	if refused != "" || f.Fork == nil {
		return w.errorf(g.Line, "can't start the goal: %s", refused)
	}
	defer w.session.CloseFork(f.Fork.ID)
	a := Attempt{f.Log.Len()}
	reached, why := false, ""
	for _, action := range g.Solution {
		if reached {
			return w.errorf(action.Line, "the goal is reached before %q: the solution is too long", action.Text)
		}
		action.Do(w.session)
		if f, refused, err = w.sync(); err != nil {
			return err
		}
		if refused != "" && !strings.HasPrefix(refused, "no move comes") {
			return w.errorf(action.Line, "can't do %q: %s", action.Text, refused)
		}
		reached, why = g.Reached(f, a)
	}
	if !reached {
		if why == "" {
			why = fmt.Sprintf("%s did not enter %s", g.Pod, g.Tier)
			if p := f.Board.Get(g.Pod); p != nil {
				why += fmt.Sprintf(", it is %s", p.Tier)
			}
		}
		return w.errorf(g.Line, "the solution does not reach the goal: %s", why)
	}
	return nil
}
