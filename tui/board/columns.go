package board

import (
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/theme"
)

// columnWidths are the widths of what stands beside a pod's name, each with the blank before it. What there is no room
// for has none.
type columnWidths struct {
	name, reason, age, attempts, wait, bar int
	tier                                   queue.Tier
}

// columns divides a pane of w cells. The pod's age is always there. Who looks for what is stuck wants to know the reason
// next, then until when it backs off, then the attempts; the leftover flush comes last.
func (p pane) columns(w int) columnWidths {
	c := columnWidths{age: 6, tier: p.rows.tiers[0]}
	fixed := 3 // selection and provenance
	if w >= 36 {
		fixed++ // and a blank at the right
	}
	switch p.id {
	case activePane:
		c.attempts = widthFrom(w, 26, 4)
	case backoffPane:
		c.attempts, c.wait, c.bar = widthFrom(w, 32, 4), 6, 1
		if c.bar = 1; w >= 36 {
			c.wait, c.bar = 7, min(w/6, 20)
		}
	case unschedulablePane:
		c.attempts, c.wait, c.bar = widthFrom(w, 40, 4), widthFrom(w, 48, 6), widthFrom(w, 92, min(w/8, 20))
	}
	rest := w - fixed - c.age - c.attempts - c.wait - blankBefore(c.bar)
	switch {
	case p.id == unschedulablePane:
		if c.reason = rest * 11 / 20; rest >= 29 {
			c.reason = max(c.reason, len("NodeResourcesFit+1"))
		}
	case p.id == backoffPane && rest >= 30:
		c.reason = rest / 2
	}
	c.reason = min(c.reason, 44)
	c.name = rest - blankBefore(c.reason)
	return c
}

// widthFrom is width in a pane of w cells or more than least, and 0 in a narrower one.
func widthFrom(w, least, width int) int {
	if w < least {
		return 0
	}
	return width
}

// blankBefore is the width of a column of width w, if there is one, and of the blank before it.
func blankBefore(w int) int {
	if w > 0 {
		return w + 1
	}
	return 0
}

func (c columnWidths) headings(a canvas.Area) {
	a.Text(3, 0, theme.Dim, "pod")
	x := 3 + c.name
	if c.reason > 0 {
		a.Sub(x+1, 0, c.reason, 1).Text(0, 0, theme.Dim, canvas.Truncate("rejected by", c.reason))
		x += 1 + c.reason
	}
	x += c.age
	a.Right(x, 0, theme.Dim, "age")
	if x += c.attempts; c.attempts > 0 {
		a.Right(x, 0, theme.Dim, "att")
	}
	if x += c.wait; c.wait > 0 && c.tier == queue.Backoff {
		a.Right(x, 0, theme.Dim, "left")
	} else if c.wait > 0 {
		a.Right(x, 0, theme.Dim, "flush")
	}
}

// ageStyle is the colour of how long a pod has waited: the longer, the louder. A second is usual, a minute is not, and
// five are as long as the leftover flush lets a pod wait without any event.
func ageStyle(age time.Duration) canvas.Style {
	switch {
	case age < 10*time.Second:
		return theme.Dim
	case age < time.Minute:
		return theme.Plain
	case age < 5*time.Minute:
		return theme.Backoff
	default:
		return theme.Unschedulable | canvas.Bold
	}
}
