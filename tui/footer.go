package tui

import (
	"fmt"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/canvas"
)

// notice is an answer to the person's last key.
type notice struct {
	text    string
	refused bool
}

// status is the line above the bar: the newest answer, or else what happened of itself.
type status struct {
	frame  *session.Frame
	notice notice
}

// Draw draws the most important thing there is to say.
func (s status) Draw(a canvas.Area) {
	f := s.frame
	switch {
	case s.notice.text != "" && s.notice.refused:
		text := "can't: " + safe(s.notice.text)
		a.Text(1, 0, alarm|canvas.Bold, canvas.Truncate(text, a.W-2))
	case s.notice.text != "":
		a.Text(1, 0, accent, canvas.Truncate(safe(s.notice.text), a.W-2))
	case f.Searching != "":
		a.Text(1, 0, accent, canvas.Truncate("looking for "+string(f.Searching)+": esc stops", a.W-2))
	case !f.Skipped.Empty():
		a.Text(1, 0, dim, fmt.Sprintf("skipped %s of quiet (%s → %s), z plays it",
			f.Skipped.To.Sub(f.Skipped.From).Round(1e9), secondTime(f.Skipped.From), secondTime(f.Skipped.To)))
	case f.AtEnd && len(f.Notices) > 0, f.Mark == "" && len(f.Notices) > 0:
		text := safe(f.Notices[0])
		if more := len(f.Notices) - 1; more > 0 {
			text += fmt.Sprintf(" (and %s: ?)", plural(more, "more notice"))
		}
		a.Text(1, 0, dim, canvas.Truncate(text, a.W-2))
	case f.Mark != "":
		text := "» " + secondTime(f.MarkAt) + " " + safe(string(f.Mark))
		a.Text(1, 0, accent, canvas.Truncate(text, a.W-2))
	}
}

// keyBar is the last line: keys that can be used now.
type keyBar struct {
	// shown are the bindings by importance, with the names that fit the moment; always are those that
	// are never left out.
	shown, always []keymap.Binding
}

// Draw draws as many keys as fit, and appends to spots where each is.
func (k keyBar) Draw(a canvas.Area, spots []keySpot) []keySpot {
	right := a.W - 1
	for i := len(k.always) - 1; i >= 0; i-- {
		b := k.always[i]
		right = a.Right(right, 0, dim, b.Name)
		end := right
		right = a.Right(right-1, 0, accent|canvas.Bold, b.Key()) - 2
		spots = append(spots, keySpot{rect{right + 2, 0, end - right - 2 + canvas.Width(b.Name), 1}, b.ID})
	}
	x := 1
	for _, b := range k.shown {
		if x+canvas.Width(b.Key())+1+canvas.Width(b.Name) > right {
			continue
		}
		left := x
		x = a.Text(x, 0, accent|canvas.Bold, b.Key())
		x = a.Text(x+1, 0, dim, b.Name) + 2
		spots = append(spots, keySpot{rect{left, 0, x - 2 - left, 1}, b.ID})
	}
	return spots
}
