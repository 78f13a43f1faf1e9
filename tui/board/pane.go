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
	// spacing is the number of lines per pod.
	spacing int
	// columns are the configured columns, important their names, most important first.
	columns   []*column
	important []string
	// fitted are the columns that fit.
	fitted []fitted
	// arrows draws arrows in place of priorities.
	arrows bool
}

// shows reports whether the column with that name fits.
func (p pane) shows(name string) bool {
	return slices.ContainsFunc(p.fitted, func(c fitted) bool { return c.name == name })
}

// paneRows returns how many pods fit in a pane of height h with spacing lines each, below title and
// headings.
func paneRows(h, spacing int) int { return max(0, h-paneHeadings(h)-1) / max(spacing, 1) }

func paneHeadings(h int) int {
	if h >= 6 {
		return 1
	}
	return 0
}

// Draw draws title, headings and the visible rows.
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
	p.arrows = p.tooNarrowForPriority(height)
	p.inSight(height, func(i int, pod *board.Pod) {
		row := body.Row((i - p.rows.top) * p.spacing)
		x := row.Text(1, 0, theme.Tier(pod.Tier), story.PodProvenance(pod))
		if pod.Tier == queue.Gated {
			row.Text(x, 0, theme.Gated, theme.GlyphGated)
		}
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

// headings draws the column headings. An arrow marks the sort column.
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

// headingOf returns the heading of a column.
func (p pane) headingOf(c *column) (string, canvas.Style) {
	tier := p.rows.tiers[0]
	by := p.frame.Board.Sort(tier)
	if by != (board.Sort{}) && by.By == c.by {
		return c.heading(tier) + sortArrow(by), theme.Accent
	}
	return c.heading(tier), theme.Dim
}

// rightEdge returns the right edge of a column's text: before the bar, if it has one.
func rightEdge(c fitted) int {
	if c.name == "next" {
		return waitEdge(c.w)
	}
	return c.w
}

// paneStyle returns the colour of a pane.
func paneStyle(id paneID) canvas.Style {
	return [...]canvas.Style{theme.Active, theme.Backoff, theme.Unschedulable, theme.InFlight, theme.Accent}[id]
}

// rule draws a pane's title on a line across a: heavy and in the pane's colour if it has the focus.
func rule(a canvas.Area, id paneID, focused bool, title string) int {
	line, stroke, style := theme.Dim, "─", paneStyle(id)|canvas.Bold
	if focused {
		line, stroke = paneStyle(id), "━"
	}
	a.Fill(line, stroke)
	x := a.Text(a.Text(1, 0, style, " "), 0, style, canvas.Truncate(title, max(a.W-3, 0)))
	return a.Text(x, 0, style, " ")
}

// numbered returns the title of a pane: its key, its name and the count.
func numbered(id paneID, count string) string {
	return strings.TrimSpace(strconv.Itoa(int(id)+1) + " " + paneTitles[id] + count)
}

// heading returns the pane's title. call names the tiers after the first.
func (p pane) heading(call func(queue.Tier) string) string { return numbered(p.id, p.count(call)) }

// tierSign returns the tier's glyph if rows show it, or its name.
func tierSign(tier queue.Tier) string {
	if tier == queue.Gated {
		return theme.GlyphGated
	}
	return theme.TierName(tier)
}

// briefHeading returns a short title of at most width cells. It shortens the pane's name and never the counts.
func (p pane) briefHeading(width int) string {
	text := " "
	if shown, total := p.counts(); shown < total && p.frame.Filter != "" {
		text += format.Number(shown) + " of "
	}
	for i, tier := range p.rows.tiers {
		n := p.frame.Board.Total(tier)
		switch {
		case i == 0:
			text += format.Number(n)
		case n > 0:
			text += "+" + format.Number(n) + tierSign(tier)
		}
	}
	name := numbered(p.id, "")
	return canvas.Truncate(name, max(width-canvas.Width(text), 1)) + text
}

// counts returns how many pods match the filter, and how many there are.
func (p pane) counts() (shown, total int) {
	for _, tier := range p.rows.tiers {
		shown, total = shown+p.frame.Board.Len(tier), total+p.frame.Board.Total(tier)
	}
	return shown, total
}

func (p pane) title(a canvas.Area, height int) {
	text, room := p.heading(theme.TierName), a.W-3
	if canvas.Width(text) > room {
		text = p.heading(tierSign)
	}
	if canvas.Width(text) > room {
		text = p.briefHeading(room)
	}
	x := rule(a, p.id, p.focused, text)
	if by := p.order(); canvas.Width(by) <= a.W-x {
		x = a.Text(x, 0, theme.Accent, by)
	}
	if seen := p.extent(height); a.W-canvas.Width(seen)-1 > x {
		a.Right(a.W-1, 0, theme.Dim, seen)
	}
}

// order returns the sort order for the title. Empty for the queue's order, or if a heading shows
// it.
func (p pane) order() string {
	by := p.frame.Board.Sort(p.rows.tiers[0])
	if slices.ContainsFunc(p.columns, func(c *column) bool { return c.by == by.By }) {
		return ""
	}
	return sortedBy(by)
}

// extent returns the range of visible rows, or "" if all are visible.
func (p pane) extent(height int) string {
	n := p.rows.len(p.frame.Board)
	if n <= height || height <= 0 {
		return ""
	}
	var buf [64]byte
	text := format.AppendNumber(append(buf[:0], ' '), p.rows.top+1)
	text = format.AppendNumber(append(text, "–"...), min(p.rows.top+height, n))
	text = format.AppendNumber(append(text, " of "...), n)
	return string(append(text, ' '))
}

// count returns the number of pods of each tier, and how many match the filter.
func (p pane) count(call func(queue.Tier) string) string {
	var buf [96]byte
	text := buf[:0]
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

// empty says how pods get here.
func (p pane) empty(a canvas.Area) {
	text := ""
	for _, tier := range p.rows.tiers {
		if p.frame.Board.Total(tier) > 0 {
			text = p.keys.Say("No pod here matches the filter. {back} clears it.")
		}
	}
	if text == "" {
		switch p.id {
		case activePane:
			text = "No pod is ready: new pods come here, and pods to retry after an event or their backoff."
		case backoffPane:
			text = "No pod is backing off: a pod comes here when an event wakes it before its backoff is over, or when its attempt failed with an error."
		case unschedulablePane:
			text = "No pod is unschedulable: a rejected pod comes here and waits for an event that could help. Gated pods are listed here too."
		}
	}
	lines := canvas.Wrap(text, a.W-3)
	if short, _, cut := strings.Cut(text, ":"); cut && len(lines) > a.H { // a short sentence is better than a cut one
		lines = canvas.Wrap(short+".", a.W-3)
	}
	for y, line := range lines {
		a.Text(2, y, theme.Dim, line)
	}
}
