package board

import (
	"fmt"
	"slices"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/story"
	"github.com/schedq/schedq/tui/theme"
)

// longest draws which pod waits longest, for how long and why, what would wake it, and until when it is tried at the
// latest.
type longest struct{ frame *session.Frame }

// longestRows is how many lines that takes on a screen of w cells.
func longestRows(w int) int {
	if w >= wideLongest {
		return 1
	}
	return 2
}

// wideLongest is the width from which on one line has room for all.
const wideLongest = 160

// Draw draws the title with who and why, and behind it or below what comes next.
func (l longest) Draw(a canvas.Area) {
	if a.Empty() {
		return
	}
	title := a.Row(0)
	title.Fill(theme.Dim, "─")
	x := title.Text(1, 0, canvas.Bold, " waits longest")
	p := l.frame.Board.LongestWaiting()
	if p == nil {
		title.Text(x, 0, theme.Dim, "  no pod waits ")
		return
	}
	age := l.frame.Now.Sub(p.Arrived)
	next := a.Sub(2, 1, a.W-3, 1)
	room := a.W - x - 3
	said := l.said(p, next.W)
	if a.H == 1 {
		room /= 2
		said = l.said(p, room)
	}
	name := canvas.TruncateMiddle(story.PodName(p.Key, room), max(12, room/2))
	x = title.Text(x, 0, canvas.Bold, "  "+name+" ")
	x = title.Text(x, 0, ageStyle(age), format.Countdown(age)+" ")
	x = title.Text(x, 0, theme.Tier(p.Tier), canvas.Truncate(l.why(p, title.W-x-2), title.W-x-2)+" ")
	if a.H == 1 {
		next = title.Sub(x, 0, a.W-x-2, 1)
		if x+canvas.Width(said.wokenIn(title.W))+canvas.Width(said.tried)+6 > title.W {
			next = title.Sub(x, 0, title.W-x-1, 1)
		}
	}
	// What would wake it is a list, of which some is named where there is no room; what follows is not cut.
	woken := said.wokenIn(next.W - canvas.Width(said.tried) - 3)
	y := next.Text(0, 0, theme.Plain, woken)
	if woken != "" {
		y = next.Text(y, 0, theme.Dim, " · ")
	}
	next.Text(y, 0, theme.Plain, said.tried+" ")
}

// why says in width cells what keeps the pod.
func (l longest) why(p *board.Pod, width int) string {
	const by = "rejected by "
	switch plugins := p.RejectorPlugins(); {
	case p.Tier == queue.Gated:
		return "gated " + format.Safe(p.GatingPlugin)
	case p.Tier == queue.InFlight:
		return fmt.Sprintf("in flight, attempt %d", p.Attempts)
	case failedByError(p):
		return theme.TierName(p.Tier) + ": its attempt failed by an error"
	case len(plugins) > 0:
		return by + PluginNames(plugins, width-len(by))
	case p.Attempts == 0:
		return theme.TierName(p.Tier) + ": not tried yet"
	default:
		return theme.TierName(p.Tier)
	}
}

// awaited is what would wake a pod, and when it is tried next if nothing does.
type awaited struct {
	woken  string
	events []string // of those that wake it, behind woken
	tried  string
}

// wokenIn says in width cells what would wake the pod.
func (w awaited) wokenIn(width int) string {
	if len(w.events) == 0 {
		return canvas.Truncate(w.woken, width)
	}
	return canvas.Truncate(w.woken+fitting(w.events, ", ", width-canvas.Width(w.woken)), width)
}

// leastWoken is how many cells what would wake a pod has at the least, before the time of the flush has any.
const leastWoken = 24

// said says it in room cells, where it can.
func (l longest) said(p *board.Pod, room int) awaited {
	wait := l.frame.Wait(p)
	at, in := l.frame.Zone.Second(wait.Until), format.Countdown(wait.Remaining(l.frame.Now))
	switch p.Tier {
	case queue.Active:
		if ahead := l.frame.Board.Unfiltered().Index(p); ahead > 0 {
			return awaited{woken: "ready", tried: fmt.Sprintf("tried once the %s ahead of it are", format.Plural(ahead, "pod"))}
		}
		return awaited{woken: "ready", tried: "tried next"}
	case queue.Backoff:
		switch early := fmt.Sprintf("back in activeQ by %s, in %s, or once that is empty", at, in); {
		case !wait.Bounded():
			return awaited{woken: "needs no event", tried: "back in activeQ: not known when"}
		case !wait.Until.After(l.frame.Now):
			return awaited{woken: "needs no event", tried: "back in activeQ at the next flush"}
		case wait.Early && canvas.Width(early) <= room:
			return awaited{woken: "needs no event", tried: early}
		}
		return awaited{woken: "needs no event", tried: fmt.Sprintf("back in activeQ at %s, in %s", at, in)}
	case queue.Unschedulable:
		const woken = "woken by "
		events := l.events(p)
		switch latest := fmt.Sprintf("at the latest by the flush at %s, in %s", at, in); {
		case !wait.Bounded():
			return awaited{woken, events, "or by the flush: not known when"}
		case canvas.Width(latest)+leastWoken <= room:
			return awaited{woken, events, latest}
		}
		return awaited{woken, events, fmt.Sprintf("at the latest by the flush, in %s", in)}
	case queue.Gated:
		return awaited{tried: "not tried until its gate opens"}
	default:
		return awaited{tried: "an attempt is under way"}
	}
}

// events names the events that may wake p.
func (l longest) events(p *board.Pod) (labels []string) {
	anyEvent := []string{"any event"}
	for _, plugin := range l.frame.Wakes(p) {
		if len(plugin.Events) == 0 {
			return anyEvent
		}
		for _, label := range plugin.Events {
			if !slices.Contains(labels, label) {
				labels = append(labels, label)
			}
		}
	}
	if len(labels) == 0 {
		return anyEvent
	}
	return labels
}
