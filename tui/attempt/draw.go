package attempt

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/theme"
)

// Draw implements page.Page: the answer, the extension points, a list or text, and the row at the cursor in detail.
func (a *Attempt) Draw(area canvas.Area) {
	if area.Empty() {
		return
	}
	a.title(area.Row(0))
	y := 1
	for _, line := range a.answerLines(area.W) {
		style := theme.Plain
		switch line.kind {
		case changed:
			style = theme.WhatIf | canvas.Bold
		case conclusion:
			style = canvas.Bold
		case note:
			style = theme.Dim
		}
		area.Text(1, y, style, line.text)
		y++
	}
	if a.shown == nil || a.shown.Inspection == nil {
		return
	}
	a.strip(area.Sub(0, y, area.W, 2))
	list := area.Sub(0, a.list.Y, area.W, a.list.H)
	switch n := a.rows(); {
	case n == 0:
		a.drawText(list)
	case a.point == score:
		a.scores(area.Row(a.list.Y-1), list)
	case a.point == filter:
		a.rejections(area.Row(a.list.Y-1), list)
	case a.point == postFilter:
		a.candidates(area.Row(a.list.Y-1), list)
	}
	rest := a.list.Y + a.list.H
	a.detail(area.Sub(0, rest, area.W, area.H-rest))
}

// title names the pod, its node, the attempt, and how it is known.
func (a *Attempt) title(row canvas.Area) {
	row.Fill(theme.Accent, "━")
	c := a.shown
	if c == nil {
		row.Text(1, 0, theme.Accent|canvas.Bold, " scheduling cycle ")
		return
	}
	aside := ""
	switch c.Provenance {
	case explain.Rerun:
		aside = fmt.Sprintf(" %s rerun of the attempt of %s ", theme.GlyphModelled, a.Frame.Zone.Precise(c.Time))
	case explain.Modelled:
		aside = fmt.Sprintf(" %s attempt of %s ", theme.GlyphModelled, a.Frame.Zone.Precise(c.Time))
	case explain.Hypothetical:
		aside = fmt.Sprintf(" %s if it were tried at %s ", theme.GlyphModelled, a.Frame.Zone.Precise(c.Time))
	}
	question := "why this node? "
	if c.Inspection != nil && c.Node == "" && c.Actual == nil {
		question = "why no node? "
	}
	row.Text(1, 0, theme.Accent|canvas.Bold, " "+canvas.TruncateMiddle(question+string(c.Pod), row.W-canvas.Width(aside)-5)+" ")
	row.Right(row.W-1, 0, theme.Dim, aside)
}

// maxAnswer limits the lines of the answer on a screen of h rows.
func maxAnswer(h int) int { return max(2, min(9, h/3)) }

// line is a line of the answer.
type line struct {
	text string
	kind kind
}

// answerLines returns the answer, wrapped to w cells and limited to what there is room for.
func (a *Attempt) answerLines(w int) []line {
	var lines []line
	for _, sentence := range a.answer() {
		for j, part := range canvas.Wrap(format.Safe(sentence.text), w-3) {
			if j > 0 {
				part = "  " + part
			}
			lines = append(lines, line{part, sentence.kind})
		}
	}
	if most := maxAnswer(a.room.H); len(lines) > most {
		lines = lines[:most]
		lines[most-1].text = canvas.Truncate(lines[most-1].text+" …", w-2)
	}
	return lines
}

// above returns how many rows stand above the list, with its headings.
func (a *Attempt) above(w, _ int) int {
	n := 1 + len(a.answerLines(w)) + 2
	if a.rows() > 0 {
		n++
	}
	return n
}

// below returns how many of h rows the row at the cursor needs, to be shown in detail.
func (a *Attempt) below(h int) int {
	if a.rows() == 0 {
		return 0
	}
	want := 2
	switch a.point {
	case score:
		want = max(a.differing, 1) + 4
	case postFilter:
		want = 8
	}
	return max(min(want, h/2), h-a.rows())
}

// strip draws the extension points in order, and below them the two threads.
func (a *Attempt) strip(area canvas.Area) {
	x, split := min(1, max(0, area.W-62)), 0
	for i, p := range a.points() {
		if i > 0 {
			arrow := " ▸ "
			if p == preBind {
				arrow, split = " ┃ ", x+1
			}
			if area.W < 80 {
				arrow = strings.TrimSpace(arrow)
			}
			x = area.Text(x, 0, theme.Dim, arrow)
		}
		style := theme.Plain
		if p == a.point {
			style = theme.Chosen
		}
		x = area.Text(x, 0, style, a.brief(p))
	}
	threads := area.Row(1)
	if split == 0 {
		threads.Text(1, 0, theme.Dim, canvas.Truncate("scheduling cycle: one pod at a time", area.W-2))
		return
	}
	threads.Text(1, 0, theme.Dim, canvas.Truncate("scheduling cycle: one pod at a time", split-1))
	threads.Text(split, 0, theme.Dim, "┃")
	threads.Text(split+2, 0, theme.Dim, canvas.Truncate("binding: parallel", area.W-split-2))
}

// drawText draws the text of a point without a list.
func (a *Attempt) drawText(area canvas.Area) {
	var lines []string
	for _, sentence := range a.text(area.W - 4) {
		for j, part := range canvas.Wrap(format.Safe(sentence), area.W-4) {
			if j > 0 {
				part = "  " + part
			}
			lines = append(lines, part)
		}
	}
	from := min(a.cursor, max(0, len(lines)-area.H))
	for y, text := range lines[from:] {
		area.Text(2, y, theme.Plain, text)
	}
}

// short are names of plugins for narrow columns.
var short = map[string]string{
	"NodeResourcesFit": "Fit", "NodeResourcesBalancedAllocation": "Balanced", "ImageLocality": "Image", "TaintToleration": "Taint",
	"NodeAffinity": "NodeAff", "InterPodAffinity": "PodAff", "PodTopologySpread": "Spread", "VolumeBinding": "Volume", "DynamicResources": "Devices",
}

// columnWidth is the width of a plugin's column.
const columnWidth = 9

// nameWidth returns the width of the nodes' names in w cells.
func (a *Attempt) nameWidth(w int) int {
	width := 8
	for y := range min(a.list.H, len(a.nodes)-a.top) {
		width = max(width, canvas.Width(string(a.shown.Nodes[a.nodes[a.top+y]].Node)))
	}
	return min(width, w/3)
}

// scores draws the nodes by score.
func (a *Attempt) scores(heading, list canvas.Area) {
	plugins, name := a.plugins, a.nameWidth(list.W)
	first := 2 + name + 1
	total := first + 6
	fit := max(1, (list.W-total-1)/columnWidth)
	from := max(0, min(a.column-fit, len(plugins)-fit)) // the sorted column is visible
	mark := func(column int) string {
		if column == a.column {
			return "▼"
		}
		return ""
	}
	heading.Text(2, 0, theme.Dim, "node")
	heading.Right(total, 0, theme.Dim, mark(0)+"total")
	for k := range min(fit, len(plugins)-from) {
		p := a.shown.Score.Plugins[plugins[from+k]]
		text := short[p.Plugin]
		if text == "" {
			text = canvas.Truncate(p.Plugin, columnWidth-2)
		}
		style := theme.Dim
		if from+k+1 == a.column {
			style = theme.Accent | canvas.Bold
		}
		heading.Right(total+(k+1)*columnWidth, 0, style, canvas.Truncate(mark(from+k+1)+text, columnWidth-1))
	}
	best := a.shown.Nodes[0].Total
	for y := range min(list.H, len(a.nodes)-a.top) {
		n, row := &a.shown.Nodes[a.nodes[a.top+y]], list.Row(y)
		style := theme.Plain
		glyph := " "
		switch {
		case n.Node == a.shown.Winner():
			style, glyph = theme.Active, "✓"
		case n.Total == best:
			style, glyph = theme.Active, "="
		}
		row.Text(1, 0, style, glyph)
		row.Text(2, 0, style, canvas.TruncateMiddle(string(n.Node), name))
		row.Right(total, 0, style|canvas.Bold, strconv.FormatInt(n.Total, 10))
		for k := range min(fit, len(plugins)-from) {
			row.Right(total+(k+1)*columnWidth, 0, theme.Plain, strconv.FormatInt(n.Scores[plugins[from+k]].Weighted, 10))
		}
		a.chosenRow(row, y)
	}
}

// chosenRow marks the row at the cursor.
func (a *Attempt) chosenRow(row canvas.Area, y int) {
	if a.top+y == a.cursor {
		row.Text(0, 0, canvas.Bold, theme.GlyphSelected)
		row.Restyle(theme.Chosen)
	}
}

// rejections draws the nodes with what rejects them.
func (a *Attempt) rejections(heading, list canvas.Area) {
	name := a.nameWidth(list.W)
	heading.Text(2, 0, theme.Dim, "node")
	text := "first rejection"
	if a.options.AllRejections {
		text = "all rejections"
	} else {
		text += a.Keys.Say("; {cycle-all-rejections} shows all")
	}
	heading.Text(2+name+1, 0, theme.Dim, text)
	for y := range min(list.H, len(a.nodes)-a.top) {
		n, row := &a.shown.Nodes[a.nodes[a.top+y]], list.Row(y)
		style, said := outcome(n)
		row.Text(2, 0, theme.Plain, canvas.TruncateMiddle(string(n.Node), name))
		row.Text(2+name+1, 0, style, canvas.Truncate(said, list.W-name-4))
		a.chosenRow(row, y)
	}
}

// outcome describes what became of a node.
func outcome(n *cycle.NodeResult) (canvas.Style, string) {
	var parts []string
	for _, r := range n.Rejections {
		said := joined(r.Reasons)
		if r.Plugin != "" {
			said = format.Safe(r.Plugin) + ": " + said
		}
		parts = append(parts, said)
	}
	said := strings.Join(parts, "; ")
	switch n.Outcome {
	case cycle.Feasible:
		return theme.Active, "✓ fits"
	case cycle.Excluded:
		return theme.Gated, "excluded by PreFilter: " + said
	case cycle.NotEvaluated:
		return theme.Dim, "not looked at: enough nodes fit"
	}
	return theme.Unschedulable, said
}

// candidates draws the nodes on which preemption makes room, and those tried in vain.
func (a *Attempt) candidates(heading, list canvas.Area) {
	p := a.shown.PostFilter
	name := min(24, list.W/3)
	heading.Text(2, 0, theme.Dim, "candidate")
	heading.Text(2+name+1, 0, theme.Dim, "victims, and why another node was chosen")
	for y := range min(list.H, a.rows()-a.top) {
		i, row := a.top+y, list.Row(y)
		if i >= len(p.Candidates) {
			n := &p.Rejected[i-len(p.Candidates)]
			_, said := outcome(n)
			row.Text(2, 0, theme.Dim, canvas.TruncateMiddle(string(n.Node), name))
			row.Text(2+name+1, 0, theme.Dim, canvas.Truncate("in vain: "+said, list.W-name-4))
			a.chosenRow(row, y)
			continue
		}
		c := p.Candidates[i]
		said := format.Plural(len(c.Victims), "victim")
		if len(c.Victims) > 0 {
			said += fmt.Sprintf(", priority up to %d", c.Victims[0].Priority)
		}
		if c.PDBViolations > 0 {
			said += ", violates PodDisruptionBudgets: " + strconv.Itoa(c.PDBViolations)
		}
		style := theme.Plain
		if c.Node == p.Node {
			style = theme.Active
			row.Text(1, 0, style, "✓")
			if p.Rule != "" {
				said += "; chosen by " + explain.RuleText(p.Rule)
			}
		} else if c.Lost != "" {
			said += "; lost by " + explain.RuleText(c.Lost)
		}
		row.Text(2, 0, style, canvas.TruncateMiddle(string(c.Node), name))
		row.Text(2+name+1, 0, style, canvas.Truncate(said, list.W-name-4))
		a.chosenRow(row, y)
	}
}

// detail draws the row at the cursor in detail.
func (a *Attempt) detail(area canvas.Area) {
	if area.H < 2 || a.cursor >= a.rows() {
		return
	}
	area.Row(0).Fill(theme.Dim, "─")
	if len(a.nodes) > a.list.H && a.list.H > 0 {
		area.Right(area.W-1, 0, theme.Dim, fmt.Sprintf(" %s–%s of %s ", format.Number(a.top+1), format.Number(min(a.top+a.list.H, len(a.nodes))), format.Number(len(a.nodes))))
	}
	body := area.Sub(0, 1, area.W, area.H-1)
	switch a.point {
	case score:
		a.scoreDetail(area.Row(0), body)
	case filter:
		n := &a.shown.Nodes[a.nodes[a.cursor]]
		area.Text(1, 0, canvas.Bold, " "+canvas.TruncateMiddle(string(n.Node), area.W/2)+" ")
		style, said := outcome(n)
		if len(n.Nominated) > 0 {
			said += "; counts nominated pods: " + joined(n.Nominated)
		}
		for y, text := range canvas.Wrap(said, area.W-4) {
			body.Text(2, y, style, text)
		}
	case postFilter:
		a.victims(area.Row(0), body)
	}
}

// scoreDetail compares the node at the cursor with the chosen one, or the chosen one with the runner-up.
func (a *Attempt) scoreDetail(title, body canvas.Area) {
	n := a.shown.Nodes[a.nodes[a.cursor]]
	other, _ := a.shown.Find(a.shown.Winner())
	if n.Node == other.Node {
		if next, ok := a.shown.RunnerUp(); ok {
			other = next
		} else {
			other = a.shown.Nodes[a.nodes[(a.cursor+1)%len(a.nodes)]]
		}
	}
	title.Text(1, 0, canvas.Bold, " "+canvas.TruncateMiddle(string(n.Node), title.W/4)+" and "+canvas.TruncateMiddle(string(other.Node), title.W/4)+": score × weight ")
	const figures = 24
	name := min(32, body.W-2*figures-4)
	for y, i := range a.plugins[:a.differing] {
		p, row := a.shown.Score.Plugins[i], body.Row(y)
		row.Text(2, 0, theme.Plain, canvas.Truncate(format.Safe(p.Plugin), name))
		x := 2 + name + 1
		one, two := n.Scores[i], other.Scores[i]
		row.Text(x, 0, theme.Plain, fmt.Sprintf("%3d × %d = %d", one.Normalized, p.Weight, one.Weighted))
		row.Text(x+15, 0, theme.Dim, fmt.Sprintf("%3d × %d = %d", two.Normalized, p.Weight, two.Weighted))
		switch d := two.Weighted - one.Weighted; { // as in the sentence above
		case p.Error != "":
			row.Text(x+30, 0, theme.Alarm, canvas.Truncate("unknown: "+string(p.Error), body.W-x-30))
		case d != 0:
			style, sign := theme.Active, "+"
			if d < 0 {
				style, sign = theme.Unschedulable, "−"
			}
			row.Text(x+30, 0, style, sign+strconv.FormatInt(max(d, -d), 10))
			if body.W >= 110 {
				row.Text(x+36, 0, theme.Dim, canvas.Truncate(a.shown.Advantage(p.Plugin, d > 0), body.W-x-36))
			}
		}
	}
	var same []string
	for _, i := range a.plugins[a.differing:] {
		same = append(same, fmt.Sprintf("%s %d", format.Safe(a.shown.Score.Plugins[i].Plugin), n.Scores[i].Weighted))
	}
	y := a.differing
	below := func(style canvas.Style, text string) {
		for _, part := range canvas.Wrap(text, body.W-3) {
			body.Text(2, y, style, part)
			y++
		}
	}
	if len(same) > 0 {
		below(theme.Dim, "the same on all nodes: "+strings.Join(same, ", "))
	}
	for _, d := range a.shown.Compare(n, other) {
		if meaning := a.shown.Meaning(d.Plugin); meaning != "" {
			below(theme.Plain, d.Plugin+" "+meaning+".")
		}
	}
}

// victims draws the victims on the candidate at the cursor.
func (a *Attempt) victims(title, body canvas.Area) {
	p := a.shown.PostFilter
	if a.cursor >= len(p.Candidates) {
		return
	}
	c := p.Candidates[a.cursor]
	title.Text(1, 0, canvas.Bold, " evicted from "+canvas.TruncateMiddle(string(c.Node), title.W/2)+" ")
	for y, v := range c.Victims {
		if y == body.H-1 && len(c.Victims) > body.H {
			body.Text(2, y, theme.Dim, fmt.Sprintf("and %d more", len(c.Victims)-y))
			return
		}
		started := ""
		if !v.Started.IsZero() {
			started = ", started " + a.Frame.Zone.Precise(v.Started)
		}
		body.Text(2, y, theme.Plain, canvas.Truncate(fmt.Sprintf("%s  priority %d%s", v.Pod, v.Priority, started), body.W-3))
	}
}
