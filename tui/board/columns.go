package board

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/queue/session/opinion"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/story"
	"github.com/schedq/schedq/tui/theme"
)

// column is a column of a pane.
type column struct {
	// name is the name in the configuration, says the description.
	name, says string
	// alias is the name in configurations of earlier versions.
	alias string
	// heading returns the heading. If right is true, heading and cells are right-aligned.
	heading func(queue.Tier) string
	right   bool
	// by is the sort order for a click on the heading. ByQueue: the column has none.
	by board.Column
	// least is the smallest useful width, most the largest.
	least, most int
	// width returns the full width of the column for pod. draw draws what fits.
	width func(p pane, pod *board.Pod) int
	draw  func(p pane, a canvas.Area, pod *board.Pod)
	// takes returns how many of w cells the column uses for pod, if its content shrinks in steps.
	// Nil: all it needs.
	takes func(pod *board.Pod, w int) int
}

// always returns a heading that is the same in all panes.
func always(text string) func(queue.Tier) string { return func(queue.Tier) string { return text } }

// columns returns all columns in the order of the list.
func columns() []*column {
	number := func(text func(p pane, pod *board.Pod) (string, canvas.Style)) (func(pane, *board.Pod) int, func(pane, canvas.Area, *board.Pod)) {
		return func(p pane, pod *board.Pod) int { s, _ := text(p, pod); return canvas.Width(s) },
			func(p pane, a canvas.Area, pod *board.Pod) {
				s, style := text(p, pod)
				a.Right(a.W, 0, style, canvas.Truncate(s, a.W))
			}
	}
	word := func(text func(pod *board.Pod) string) (func(pane, *board.Pod) int, func(pane, canvas.Area, *board.Pod)) {
		return func(_ pane, pod *board.Pod) int { return canvas.Width(text(pod)) },
			func(_ pane, a canvas.Area, pod *board.Pod) {
				a.Text(0, 0, theme.Plain, canvas.TruncateMiddle(text(pod), a.W))
			}
	}
	all := []*column{
		{name: "pod", says: "The pod's name and priority.", heading: always("pod"), by: board.ByName, least: 9, most: 60, width: pane.nameWidth, draw: pane.name},
		{name: "reason", says: "The plugins that rejected or gate the pod, or an error.", heading: always("rejected by"), by: board.ByPlugin, least: 9, most: 60,
			width: func(_ pane, pod *board.Pod) int { return reasonWidth(pod) }, takes: reasonTakes, draw: func(_ pane, a canvas.Area, pod *board.Pod) { drawReason(a, pod) }},
		{name: "waiting", alias: "age", says: "Time since the pod was created; ≥ if that is unknown.", heading: always("waits"), right: true, by: board.ByWaiting, least: 5, most: 6},
		{name: "attempts", says: "Number of attempts; ≥ if earlier ones are unknown.", heading: always("att"), right: true, by: board.ByAttempts, least: 3, most: 4},
		{name: "next", says: "Time until the next try: the remaining backoff, or until the leftover flush; gone? if a retry that was due does not show.", heading: waitHeading, right: true, by: board.ByExpiry, least: 5, most: 6 + maxBar,
			width: func(pane, *board.Pod) int { return 6 }, draw: pane.wait},
		{name: "here", says: "Time in the current tier; ≤ if the pod may have come later.", heading: always("here"), right: true, by: board.ByDwell, least: 5, most: 6},
		{name: "namespace", says: "The namespace.", heading: always("namespace"), by: board.ByNamespace, least: 9, most: 40},
		{name: "priority", says: "The priority.", heading: always("priority"), right: true, by: board.ByPriority, least: 8, most: 11},
		{name: "owner", says: "The controller that created the pod.", heading: always("owner"), by: board.ByOwner, least: 8, most: 50},
		{name: "requests", says: "The CPU, memory and devices that the pod requests.", heading: always("requests"), least: 8, most: 40},
		{name: "node", says: "The nominated node.", heading: always("nominated to"), by: board.ByNode, least: 8, most: 40},
	}
	of := func(name string) *column {
		return all[slices.IndexFunc(all, func(c *column) bool { return c.name == name })]
	}
	for name, text := range map[string]func(p pane, pod *board.Pod) (string, canvas.Style){
		"waiting": func(p pane, pod *board.Pod) (string, canvas.Style) {
			age := pod.WaitedAt(p.frame.Now)
			text := format.Countdown(age)
			if pod.WaitIsAtLeast() {
				text = "≥" + text
			}
			return text, ageStyle(age)
		},
		"here": func(p pane, pod *board.Pod) (string, canvas.Style) {
			text, style := p.since(pod.Since)
			if pod.SinceIsEarliest() {
				text = theme.GlyphEarly + text
			}
			return text, style
		},
		"attempts": func(_ pane, pod *board.Pod) (string, canvas.Style) { return attempts(pod), theme.Plain },
		"priority": func(_ pane, pod *board.Pod) (string, canvas.Style) {
			return strconv.Itoa(int(pod.Priority)), theme.Accent
		},
	} {
		c := of(name)
		c.width, c.draw = number(text)
	}
	for name, text := range map[string]func(pod *board.Pod) string{
		"namespace": func(pod *board.Pod) string { return format.Safe(pod.Key.Namespace) },
		"owner": func(pod *board.Pod) string {
			kind, name := pod.Owner()
			if name == "" {
				return "—"
			}
			return format.Safe(kind + "/" + name)
		},
		"requests": func(pod *board.Pod) string {
			return format.Safe(cmp.Or(strings.Join(explain.Requests(pod), ", "), "—"))
		},
		"node": func(pod *board.Pod) string { return format.Safe(cmp.Or(pod.NominatedNode, "—")) },
	} {
		c := of(name)
		c.width, c.draw = word(text)
	}
	return all
}

// ColumnNames returns the names of all columns in the order of the list.
func ColumnNames() []string {
	var names []string
	for _, c := range columns() {
		names = append(names, c.name)
	}
	return names
}

// columnNamed returns the column with that name, or nil.
func columnNamed(name string) *column {
	for _, c := range columns() {
		if c.name == name || name != "" && c.alias == name {
			return c
		}
	}
	return nil
}

// columnsNamed returns the columns with those names, in that order.
func columnsNamed(names []string) []*column {
	var named []*column
	for _, name := range names {
		if c := columnNamed(name); c != nil {
			named = append(named, c)
		}
	}
	return named
}

// usualColumns returns the default columns of a pane, and their names by importance. If not all
// fit, the important ones stay: the waiting time always, then the reason, or for backoffQ the time
// left.
func usualColumns(id paneID) (names, important []string) {
	switch id {
	case activePane:
		return []string{"pod", "waiting", "attempts"}, []string{"pod", "waiting", "attempts"}
	case backoffPane:
		return []string{"pod", "reason", "waiting", "attempts", "next"}, []string{"pod", "waiting", "next", "reason", "attempts"}
	default:
		return []string{"pod", "reason", "waiting", "attempts", "next"}, []string{"pod", "waiting", "reason", "attempts", "next"}
	}
}

func waitHeading(tier queue.Tier) string {
	if tier == queue.Backoff {
		return "left"
	}
	return "flush"
}

// The width of the bar beside the time until the next try. A bar with fewer than leastBar cells
// only shows a level.
const leastBar, maxBar = 4, 20

// since returns the time since t for a column.
func (p pane) since(t time.Time) (string, canvas.Style) {
	age := p.frame.Now.Sub(t)
	return format.Countdown(age), ageStyle(age)
}

// ageStyle returns the style for a waiting time. A second is normal, a minute is not, and after
// five minutes the leftover flush retries a pod without any event.
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

// waitEdge returns where the time until the next try ends in w cells. The bar follows.
func waitEdge(w int) int {
	if w == 7 {
		return 5 // one cell still shows the level
	}
	return min(w, 6)
}

// wait draws the time until the next try and, if it fits, the remaining share of the wait.
func (p pane) wait(a canvas.Area, pod *board.Pod) {
	wait := p.frame.Wait(pod)
	end := waitEdge(a.W)
	bar := a.W - end - 1
	if !pod.GoneSince.IsZero() {
		a.Right(end, 0, theme.Dim, "gone?")
		return
	}
	if !wait.Bounded() {
		a.Right(end, 0, theme.Dim, "?")
		return
	}
	left := format.Countdown(wait.Remaining(p.frame.Now))
	if pod.Tier == queue.Backoff && wait.Early {
		left = theme.GlyphEarly + left
	}
	a.Right(end, 0, theme.Plain, left)
	style := theme.Tier(pod.Tier)
	switch share := wait.RemainingShare(p.frame.Now); {
	case bar == 1:
		a.Text(end+1, 0, style, format.Level(share))
	case bar > 1:
		heavy, light := format.Bar(share, bar)
		x := a.Text(end+1, 0, style, heavy)
		a.Text(x, 0, theme.Dim, light)
	}
}

// nameWidth returns the width of the pod's name and priority.
func (p pane) nameWidth(pod *board.Pod) int {
	const any = 200 // wide enough for any name
	w := canvas.Width(p.mark(pod)) + canvas.Width(story.RowName(p.frame.Board, p.named(pod), any))
	if pod.Priority != 0 && !p.shows("priority") {
		w += len(priorityText(pod))
	}
	return w
}

// named returns pod without its namespace if the namespace has its own column.
func (p pane) named(pod *board.Pod) *board.Pod {
	if pod.Group != "" || !p.shows("namespace") {
		return pod
	}
	own := *pod
	own.Key.Namespace = ""
	return &own
}

// name draws the pod's name and priority.
func (p pane) name(a canvas.Area, pod *board.Pod) {
	style := theme.Plain
	if pod.Since.Equal(p.frame.Now) {
		style = canvas.Bold // it has just moved
	}
	if mark := p.mark(pod); mark != "" {
		x := a.Text(0, 0, theme.Unschedulable|canvas.Bold, mark)
		a = a.Sub(x, 0, a.W-x, a.H)
	}
	if pod.Priority == 0 || p.shows("priority") {
		a.Text(0, 0, style, story.RowName(p.frame.Board, p.named(pod), a.W))
		return
	}
	priority := priorityText(pod)
	if p.arrows {
		priority = theme.GlyphHigh
		if pod.Priority < 0 {
			priority = theme.GlyphLow
		}
	}
	x := a.Text(0, 0, style, story.RowName(p.frame.Board, p.named(pod), a.W-canvas.Width(priority)))
	a.Text(x, 0, theme.Accent, priority)
}

// mark returns what stands before the name of a pod that the scheduler treats wrongly, according to the second opinion. The tier says
// enough of a pod that is held.
func (p pane) mark(pod *board.Pod) string {
	if pod.Opinion == nil || pod.Opinion.Code == opinion.Held || p.frame.WhatIf {
		return ""
	}
	return "! "
}

func priorityText(pod *board.Pod) string { return " p" + strconv.Itoa(int(pod.Priority)) }

// besidePriority is the width kept for a longer name of a pod beside its priority.
const besidePriority = 8

// tooNarrowForPriority reports whether the priority of a pod visible in height rows does not fit. Then the pane shows only whether
// priorities are above or below 0: a column with both forms is hard to read.
func (p pane) tooNarrowForPriority(height int) (narrow bool) {
	i := slices.IndexFunc(p.fitted, func(c fitted) bool { return c.name == "pod" })
	if i < 0 || p.shows("priority") {
		return false
	}
	p.inSight(height, func(_ int, pod *board.Pod) {
		if pod.Priority == 0 || narrow {
			return
		}
		name := canvas.Width(story.RowName(p.frame.Board, p.named(pod), besidePriority))
		narrow = p.fitted[i].w-len(priorityText(pod)) < name
	})
	return narrow
}

// attempts returns the number of attempts, with ≥ if it is a lower bound.
func attempts(pod *board.Pod) string {
	if pod.Attempts > 999 {
		return "1k+"
	}
	return pod.AttemptCount().String()
}
