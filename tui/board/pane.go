package board

import (
	"slices"
	"strconv"
	"strings"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/story"
	"github.com/schedq/schedq/tui/theme"
)

// pane draws the pods of one part of the queue.
type pane struct {
	id       paneID
	keys     *keymap.Map
	frame    *session.Frame
	rows     *rows
	selected page.Selection
	focused  bool
	// spacing is how many lines a pod takes.
	spacing int
	// columns are those that a person wants to see, important their names, the most important first.
	columns   []*column
	important []string
	// fitted are the columns that there is room for.
	fitted []fitted
}

// shows reports whether one of the columns that there is room for has that name.
func (p pane) shows(name string) bool {
	return slices.ContainsFunc(p.fitted, func(c fitted) bool { return c.name == name })
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
	if paneHeadings(a.H) > 0 {
		p.headings(a.Row(1))
	}
	body := a.Sub(0, 1+paneHeadings(a.H), a.W, a.H)
	n := p.rows.len(p.frame.Board)
	if n == 0 {
		p.empty(body)
		return
	}
	p.inSight(height, func(i int, pod *board.Pod) {
		row := body.Row((i - p.rows.top) * p.spacing)
		row.Text(1, 0, theme.Tier(pod.Tier), story.PodProvenance(pod))
		for _, c := range p.fitted {
			c.draw(p, row.Sub(c.x, 0, c.w, 1), pod)
		}
		switch {
		case p.selected.Row(p.frame, pod):
			row.Text(0, 0, canvas.Bold, theme.GlyphSelected)
			if p.focused {
				row.Restyle(theme.Chosen)
			}
		case p.focused && i == p.rows.cursor:
			row.Text(0, 0, theme.Dim, "·")
		}
	})
}

// headings draws what stands above the columns. The one that the pods are sorted by has a mark.
func (p pane) headings(a canvas.Area) {
	for _, c := range p.fitted {
		text, style := p.headingOf(c.column)
		if c.right {
			a.Right(c.x+min(c.w, rightEdge(c)), 0, style, text)
		} else {
			mark := text[len(c.heading(p.rows.tiers[0])):]
			a.Text(c.x, 0, style, canvas.Truncate(text[:len(text)-len(mark)], c.w-canvas.Width(mark))+mark)
		}
	}
}

// headingOf is what stands above a column.
func (p pane) headingOf(c *column) (string, canvas.Style) {
	tier := p.rows.tiers[0]
	by := p.frame.Board.Sort(tier)
	if by != (board.Sort{}) && by.By == c.by {
		return c.heading(tier) + sortArrow(by), theme.Accent
	}
	return c.heading(tier), theme.Dim
}

// rightEdge is where in a column what stands at the right ends: before the bar, if it has one.
func rightEdge(c fitted) int {
	if c.name == "next" {
		return waitEdge(c.w)
	}
	return c.w
}

// paneStyle is the colour of what a pane shows.
func paneStyle(id paneID) canvas.Style {
	return [...]canvas.Style{theme.Active, theme.Backoff, theme.Unschedulable, theme.InFlight, theme.Accent}[id]
}

// rule draws a pane's title and count on a line across a: heavy and in the pane's colour where the next key goes.
func rule(a canvas.Area, id paneID, focused bool, title string) int {
	line, stroke, style := theme.Dim, "─", paneStyle(id)|canvas.Bold
	if focused {
		line, stroke = paneStyle(id), "━"
	}
	a.Fill(line, stroke)
	x := a.Text(a.Text(1, 0, style, " "), 0, style, canvas.Truncate(title, max(a.W-3, 0)))
	return a.Text(x, 0, style, " ")
}

// numbered is the title of a pane: its key, its name, and how many pods there are.
func numbered(id paneID, count string) string {
	return strings.TrimSpace(strconv.Itoa(int(id)+1) + " " + paneTitles[id] + count)
}

// heading is what the pane's title says, with tiers called so beside the one that the pane is called after.
func (p pane) heading(call func(queue.Tier) string) string { return numbered(p.id, p.count(call)) }

// tierSign is the tier's sign, where it has one in the rows, or its name.
func tierSign(tier queue.Tier) string {
	if tier == queue.Gated {
		return theme.GlyphGated
	}
	return theme.TierName(tier)
}

// briefHeading is that where there is little room: how many pods are shown, and of how many.
func (p pane) briefHeading() string {
	shown, total := p.counts()
	text := " " + format.Number(total)
	if shown < total && p.frame.Filter != "" {
		text = " " + format.Number(shown) + " of " + format.Number(total)
	}
	return numbered(p.id, text)
}

// counts are how many pods the filter lets through, and how many there are.
func (p pane) counts() (shown, total int) {
	for _, tier := range p.rows.tiers {
		shown, total = shown+p.frame.Board.Len(tier), total+p.frame.Board.Total(tier)
	}
	return shown, total
}

func (p pane) title(a canvas.Area, height int) {
	text := p.heading(theme.TierName)
	if canvas.Width(text)+3 > a.W {
		text = p.heading(tierSign)
	}
	if canvas.Width(text)+3 > a.W {
		text = p.briefHeading()
	}
	x := rule(a, p.id, p.focused, text)
	if by := p.order(); canvas.Width(by) <= a.W-x {
		x = a.Text(x, 0, theme.Accent, by)
	}
	if seen := p.extent(height); a.W-canvas.Width(seen)-1 > x {
		a.Right(a.W-1, 0, theme.Dim, seen)
	}
}

// order is what the title says of the pane's order: nothing if that is the queue's, or if a heading has its mark.
func (p pane) order() string {
	by := p.frame.Board.Sort(p.rows.tiers[0])
	if slices.ContainsFunc(p.columns, func(c *column) bool { return c.by == by.By }) {
		return ""
	}
	return sortedBy(by)
}

// extent is which rows are in sight of height, if not all are.
func (p pane) extent(height int) string {
	n := p.rows.len(p.frame.Board)
	if n <= height || height <= 0 {
		return ""
	}
	var room [64]byte
	text := format.AppendNumber(append(room[:0], ' '), p.rows.top+1)
	text = format.AppendNumber(append(text, "–"...), min(p.rows.top+height, n))
	text = format.AppendNumber(append(text, " of "...), n)
	return string(append(text, ' '))
}

// count says how many pods there are, of each tier, and how many of them the filter lets through.
func (p pane) count(call func(queue.Tier) string) string {
	var room [96]byte
	text := room[:0]
	for i, tier := range p.rows.tiers {
		if i > 0 {
			text = append(append(text, " · "...), call(tier)...)
		}
		text = format.AppendNumber(append(text, ' '), p.frame.Board.Total(tier))
	}
	shown, total := p.counts()
	if shown < total && p.frame.Filter != "" {
		text = append(format.AppendNumber(append(text, ", "...), shown), " match"...)
	}
	return string(text)
}

// empty says what would bring a pod here.
func (p pane) empty(a canvas.Area) {
	text := ""
	for _, tier := range p.rows.tiers {
		if p.frame.Board.Total(tier) > 0 {
			text = p.keys.Say("No pod here matches the filter: {back} drops it.")
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
	lines := canvas.Wrap(text, a.W-3)
	if short, _, cut := strings.Cut(text, ":"); cut && len(lines) > a.H { // a sentence that stops in the middle says less
		lines = canvas.Wrap(short+".", a.W-3)
	}
	for y, line := range lines {
		a.Text(2, y, theme.Dim, line)
	}
}
