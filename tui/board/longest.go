package board

import (
	"fmt"
	"strings"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/story"
	"github.com/schedq/schedq/tui/theme"
)

// longest draws the pod that has waited longest: for how long and why, and when it is tried next.
type longest struct{ frame *session.Frame }

// longestRows returns its height on a screen with w columns.
func longestRows(w int) int {
	if w >= wideLongest {
		return 1
	}
	return 2
}

// wideLongest is the smallest width for a single line.
const wideLongest = 160

// Draw draws the title with the pod and its next try, and beside or below it, why it waits.
func (l longest) Draw(a canvas.Area) {
	if a.Empty() {
		return
	}
	title := a.Row(0)
	title.Fill(theme.Dim, "─")
	x := title.Text(1, 0, canvas.Bold, " waits longest")
	p := l.frame.Board.LongestWaiting()
	if p == nil {
		title.Text(x, 0, theme.Dim, "  no pod is waiting ")
		return
	}
	age := p.WaitedAt(l.frame.Now)
	room := a.W - x - 3
	if a.H == 1 {
		room /= 2
	}
	name := canvas.TruncateMiddle(story.PodName(p.Key, room), max(12, room/2))
	x = title.Text(x, 0, canvas.Bold, "  "+name+" ")
	x = title.Text(x, 0, ageStyle(age), format.Countdown(age)+" ")
	tried, in := l.tried(p)
	if canvas.Width(tried+in) <= title.W-x-2 {
		tried += in
	}
	x = title.Text(x, 0, theme.Plain, canvas.Truncate(tried, title.W-x-2)+" ")
	why := a.Sub(2, 1, a.W-3, 1)
	if a.H == 1 {
		why = title.Sub(x+1, 0, a.W-x-2, 1)
		why.Text(0, 0, theme.Plain, " ")
		why = why.Sub(1, 0, why.W-1, 1)
	}
	cause := strings.TrimSuffix(string(l.frame.Conclude(p, l.frame.Needs).Cause), ".")
	if a.H == 1 {
		cause = canvas.Truncate(cause, why.W-1) + " "
	}
	why.Text(0, 0, theme.Tier(p.Tier), canvas.Truncate(cause, why.W))
}

// tried says when p is tried next, and with in, how soon.
func (l longest) tried(p *board.Pod) (tried, in string) {
	wait := l.frame.Wait(p)
	switch p.Tier {
	case queue.Active:
		if ahead := l.frame.Board.Unfiltered().Index(p); ahead > 0 {
			return fmt.Sprintf("tried after the %s ahead of it", format.Plural(ahead, "pod")), ""
		}
		return "tried next", ""
	case queue.InFlight:
		return "attempt running", ""
	case queue.Gated:
		return "not tried until its gate opens", ""
	}
	switch {
	case !wait.Bounded():
		return "next try: time unknown", ""
	case !wait.Until.After(l.frame.Now):
		return "next try at the next flush", ""
	}
	in = fmt.Sprintf(" (in %s)", format.Countdown(wait.Remaining(l.frame.Now)))
	if p.Tier == queue.Backoff && wait.Early {
		in += ", sooner if activeQ is empty"
	}
	return "next try by " + l.frame.Zone.Second(wait.Until), in
}
