package board

import (
	"fmt"
	"strconv"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/story"
	"github.com/schedq/schedq/tui/theme"
)

// pane draws the pods of one part of the queue.
type pane struct {
	id       paneID
	frame    *session.Frame
	rows     *rows
	selected page.Selection
	focused  bool
	// spacing is how many lines a pod takes.
	spacing int
}

// paneRows returns how many pods, of spacing lines each, a pane of height h shows: the rest is its title and
// the headings.
func paneRows(h, spacing int) int { return max(0, h-paneHeadings(h)-1) / max(spacing, 1) }

func paneHeadings(h int) int {
	if h >= 6 {
		return 1
	}
	return 0
}

// Draw draws title, headings and the rows that are in sight.
func (p pane) Draw(a canvas.Area) {
	if a.Empty() {
		return
	}
	height := paneRows(a.H, p.spacing)
	p.title(a.Row(0), height)
	c := p.columns(a.W)
	if paneHeadings(a.H) > 0 {
		c.headings(a.Row(1))
	}
	body := a.Sub(0, 1+paneHeadings(a.H), a.W, a.H)
	n := p.rows.len(p.frame.Board)
	if n == 0 {
		p.empty(body)
		return
	}
	for y := range min(height, n-p.rows.top) {
		i := p.rows.top + y
		row := body.Row(y * p.spacing)
		pod := p.rows.at(p.frame.Board, i)
		if pod == nil {
			continue
		}
		p.pod(row, c, pod)
		switch {
		case p.selected.Row(p.frame, pod):
			row.Text(0, 0, canvas.Bold, theme.GlyphSelected)
			if p.focused {
				row.Restyle(theme.Chosen)
			}
		case p.focused && i == p.rows.cursor:
			row.Text(0, 0, theme.Dim, "·")
		}
	}
}

// paneStyle is the colour of what a pane shows.
func paneStyle(id paneID) canvas.Style {
	return [...]canvas.Style{theme.Active, theme.Backoff, theme.Unschedulable, theme.InFlight, theme.Accent}[id]
}

// rule draws a pane's title and count on a line across a: heavy and in the pane's colour where the next key goes.
func rule(a canvas.Area, id paneID, focused bool, count string) int {
	line, stroke, style := theme.Dim, "─", paneStyle(id)|canvas.Bold
	if focused {
		line, stroke, style = paneStyle(id), "━", style|canvas.Reverse
	}
	a.Fill(line, stroke)
	return a.Text(1, 0, style, " "+strconv.Itoa(int(id)+1)+" "+paneTitles[id]+count+" ")
}

func (p pane) title(a canvas.Area, height int) {
	x := rule(a, p.id, p.focused, p.count())
	if by := sortedBy(p.frame.Board.Sort(p.rows.tiers[0])); canvas.Width(by) < a.W-x {
		x = a.Text(x, 0, theme.Accent, by)
	}
	if n := p.rows.len(p.frame.Board); n > height && height > 0 {
		seen := fmt.Sprintf(" %s–%s of %s ", format.Number(p.rows.top+1), format.Number(min(p.rows.top+height, n)), format.Number(n))
		if a.W-canvas.Width(seen)-1 > x {
			a.Right(a.W-1, 0, theme.Dim, seen)
		}
	}
}

// count says how many pods there are, of each tier, and how many of them the filter lets through.
func (p pane) count() string {
	b := p.frame.Board
	text, shown, total := "", 0, 0
	for i, tier := range p.rows.tiers {
		if i > 0 {
			text += " · " + theme.TierName(tier) + " "
		}
		text += format.Number(b.Total(tier))
		shown, total = shown+b.Len(tier), total+b.Total(tier)
	}
	if shown < total && p.frame.Filter != "" {
		text += ", " + format.Number(shown) + " match"
	}
	return " " + text
}

// empty says what would bring a pod here.
func (p pane) empty(a canvas.Area) {
	text := ""
	for _, tier := range p.rows.tiers {
		if p.frame.Board.Total(tier) > 0 {
			text = "No pod here matches the filter: esc drops it."
		}
	}
	if text == "" {
		switch p.id {
		case activePane:
			text = "No pod is ready: new pods come here, and those that an event or a finished backoff lets try again."
		case backoffPane:
			text = "No pod backs off: a pod comes here when an event wakes it before its backoff is over, or when its attempt failed by an error."
		case unschedulablePane:
			text = "No pod is unschedulable: a pod comes here when plugins reject it, and waits for an event that could help. Gated pods are listed here too."
		}
	}
	for y, line := range canvas.Wrap(text, a.W-3) {
		a.Text(2, y, theme.Dim, line)
	}
}

// pod draws one pod in one row.
func (p pane) pod(a canvas.Area, c columnWidths, pod *session.Pod) {
	style := theme.Tier(pod.Tier)
	a.Text(1, 0, style, story.PodProvenance(pod))
	p.name(a.Sub(3, 0, c.name, 1), pod)
	x := 3 + c.name
	if c.reason > 0 {
		drawReason(a.Sub(x+1, 0, c.reason, 1), pod)
		x += 1 + c.reason
	}
	age := p.frame.Now.Sub(pod.Arrived)
	x += c.age
	a.Right(x, 0, ageStyle(age), format.Countdown(age))
	if x += c.attempts; c.attempts > 0 {
		a.Right(x, 0, theme.Plain, attempts(pod))
	}
	if x += c.wait; c.wait == 0 {
		return
	}
	wait := p.frame.Wait(pod)
	if !wait.Bounded() {
		a.Right(x, 0, theme.Dim, "?")
		return
	}
	left := format.Countdown(wait.Remaining(p.frame.Now))
	if pod.Tier == queue.Backoff && wait.Early {
		left = theme.GlyphEarly + left
	}
	a.Right(x, 0, theme.Plain, left)
	switch share := wait.RemainingShare(p.frame.Now); {
	case c.bar == 1:
		a.Text(x+1, 0, style, format.Level(share))
	case c.bar > 1:
		heavy, light := format.Bar(share, c.bar)
		x = a.Text(x+1, 0, style, heavy)
		a.Text(x, 0, theme.Dim, light)
	}
}

// drawReason draws what keeps the pod where it is: the plugins that rejected it or gate it, or an error.
func drawReason(a canvas.Area, pod *session.Pod) {
	style := theme.Tier(pod.Tier)
	switch plugins := pod.RejectorPlugins(); {
	case pod.Tier == queue.Gated:
		end := a.Text(0, 0, style, theme.GlyphGated+" gated ")
		if plugin := format.Safe(pod.GatingPlugin); len(plugin) <= a.W-end {
			a.Text(end, 0, style, plugin)
		}
	case len(plugins) == 0 && pod.ConsecutiveErrorsCount > 0:
		a.Text(0, 0, theme.Alarm, "an error")
	default:
		a.Text(0, 0, style, PluginNames(plugins, a.W))
	}
}

// name draws the pod's name and, if it has one, its priority.
func (p pane) name(a canvas.Area, pod *session.Pod) {
	style := theme.Plain
	if pod.Since.Equal(p.frame.Now) {
		style = canvas.Bold // it moved just now
	}
	if pod.Priority == 0 {
		a.Text(0, 0, style, story.RowName(p.frame.Board, pod, a.W))
		return
	}
	priority := " p" + strconv.Itoa(int(pod.Priority))
	room := a.W - len(priority)
	if room < 8 { // where both do not fit, an arrow says that it has one
		priority, room = theme.GlyphHigh, a.W-1
		if pod.Priority < 0 {
			priority = theme.GlyphLow
		}
	}
	x := a.Text(0, 0, style, story.RowName(p.frame.Board, pod, room))
	a.Text(x, 0, theme.Accent, priority)
}

func attempts(pod *session.Pod) string {
	if pod.Attempts > 999 {
		return "1k+"
	}
	return strconv.Itoa(pod.Attempts)
}

// PluginNames writes as many names as fit into width, and how many more there are.
func PluginNames(plugins []string, width int) string {
	switch len(plugins) {
	case 0:
		return "—"
	case 1:
		return canvas.Truncate(format.Safe(plugins[0]), width)
	}
	for n := len(plugins); n > 1; n-- {
		text := format.SafeList(plugins[:n], " ")
		if n < len(plugins) {
			text += "+" + strconv.Itoa(len(plugins)-n)
		}
		if canvas.Width(text) <= width {
			return text
		}
	}
	more := "+" + strconv.Itoa(len(plugins)-1)
	return canvas.Truncate(format.Safe(plugins[0]), width-len(more)) + more
}
