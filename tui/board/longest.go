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

// longest draws the pod that has waited longest: for how long and why, what would wake it, and when
// it is tried at the latest.
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

// Draw draws the title with the pod and the reason; beside or below it, what comes next.
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
	age := l.frame.Now.Sub(p.Arrived)
	next := a.Sub(2, 1, a.W-3, 1)
	room := a.W - x - 3
	o := l.outlook(p, next.W)
	if a.H == 1 {
		room /= 2
		o = l.outlook(p, room)
	}
	name := canvas.TruncateMiddle(story.PodName(p.Key, room), max(12, room/2))
	x = title.Text(x, 0, canvas.Bold, "  "+name+" ")
	x = title.Text(x, 0, ageStyle(age), format.Countdown(age)+" ")
	x = title.Text(x, 0, theme.Tier(p.Tier), canvas.Truncate(l.why(p, title.W-x-2), title.W-x-2)+" ")
	if a.H == 1 {
		next = title.Sub(x, 0, a.W-x-2, 1)
		if x+canvas.Width(o.wokenIn(title.W))+canvas.Width(o.tried)+6 > title.W {
			next = title.Sub(x, 0, title.W-x-1, 1)
		}
	}
	// The list of events is shortened to fit; the text after it is not.
	woken := o.wokenIn(next.W - canvas.Width(o.tried) - 3)
	y := next.Text(0, 0, theme.Plain, woken)
	if woken != "" {
		y = next.Text(y, 0, theme.Dim, " · ")
	}
	next.Text(y, 0, theme.Plain, o.tried+" ")
}

// why returns the reason for the wait, in width cells.
func (l longest) why(p *board.Pod, width int) string {
	const by = "rejected by "
	switch plugins := p.RejectorPlugins(); {
	case p.Tier == queue.Gated:
		return "gated " + format.Safe(p.GatingPlugin)
	case p.Tier == queue.InFlight:
		return fmt.Sprintf("in flight, attempt %d", p.Attempts)
	case failedByError(p):
		return theme.TierName(p.Tier) + ": its attempt failed with an error"
	case len(plugins) > 0:
		return by + PluginNames(plugins, width-len(by))
	case p.Attempts == 0:
		return theme.TierName(p.Tier) + ": not tried yet"
	default:
		return theme.TierName(p.Tier)
	}
}

// outlook is what would wake a pod, and its next try otherwise.
type outlook struct {
	woken  string
	events []string // listed after woken
	tried  string
}

// wokenIn returns what would wake the pod, in width cells.
func (w outlook) wokenIn(width int) string {
	if len(w.events) == 0 {
		return canvas.Truncate(w.woken, width)
	}
	return canvas.Truncate(w.woken+fitting(w.events, ", ", width-canvas.Width(w.woken)), width)
}

// minWoken is the width kept for what would wake a pod before the time of the flush is shown.
const minWoken = 24

// outlook returns the outlook for p, in room cells if possible.
func (l longest) outlook(p *board.Pod, room int) outlook {
	wait := l.frame.Wait(p)
	at, in := l.frame.Zone.Second(wait.Until), format.Countdown(wait.Remaining(l.frame.Now))
	switch p.Tier {
	case queue.Active:
		if ahead := l.frame.Board.Unfiltered().Index(p); ahead > 0 {
			return outlook{woken: "ready", tried: fmt.Sprintf("tried after the %s ahead of it", format.Plural(ahead, "pod"))}
		}
		return outlook{woken: "ready", tried: "tried next"}
	case queue.Backoff:
		switch early := fmt.Sprintf("returns to activeQ by %s (in %s), sooner if activeQ is empty", at, in); {
		case !wait.Bounded():
			return outlook{woken: "needs no event", tried: "returns to activeQ: time unknown"}
		case !wait.Until.After(l.frame.Now):
			return outlook{woken: "needs no event", tried: "returns to activeQ at the next flush"}
		case wait.Early && canvas.Width(early) <= room:
			return outlook{woken: "needs no event", tried: early}
		}
		return outlook{woken: "needs no event", tried: fmt.Sprintf("returns to activeQ at %s (in %s)", at, in)}
	case queue.Unschedulable:
		const woken = "woken by "
		events := l.events(p)
		switch latest := fmt.Sprintf("at the latest by the flush at %s, in %s", at, in); {
		case !wait.Bounded():
			return outlook{woken, events, "or by the flush: time unknown"}
		case canvas.Width(latest)+minWoken <= room:
			return outlook{woken, events, latest}
		}
		return outlook{woken, events, fmt.Sprintf("at the latest by the flush, in %s", in)}
	case queue.Gated:
		return outlook{tried: "not tried until its gate opens"}
	default:
		return outlook{tried: "attempt running"}
	}
}

// events returns the events that may wake p.
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
