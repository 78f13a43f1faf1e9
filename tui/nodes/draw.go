package nodes

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/theme"
)

// Draw implements page.Page: the list above, the node at the cursor below.
func (n *Nodes) Draw(a canvas.Area) {
	if a.Empty() {
		return
	}
	n.title(a.Row(0))
	if len(n.shown.nodes) == 0 {
		text := "Loading the nodes ..."
		if n.shown.of != nil {
			text = "There are no nodes at this time."
		}
		if n.shown.problem != "" {
			text = "Nodes unknown: " + format.Safe(n.shown.problem) + "."
		}
		for y, line := range canvas.Wrap(text, a.W-4) {
			a.Text(2, 2+y, theme.Dim, line)
		}
		return
	}
	c := n.columns(a.W)
	n.headings(a.Row(1), c)
	for y := range min(n.list.H, len(n.shown.nodes)-n.top) {
		n.row(a.Row(n.list.Y+y), c, n.top+y)
	}
	rest := n.list.Y + n.list.H
	n.detail(a.Sub(0, rest, a.W, a.H-rest), n.cursor)
}

func (n *Nodes) title(a canvas.Area) {
	a.Fill(theme.Accent, "━")
	if len(n.shown.nodes) == 0 {
		a.Text(1, 0, theme.Accent|canvas.Bold, " nodes ")
		return
	}
	said := "by name"
	switch p := n.shown.needs; {
	case p != nil && len(p.Fits) == 0:
		said = fmt.Sprintf("%s fits on none, nearest first", format.Safe(p.Pod.Name))
	case p != nil:
		said = fmt.Sprintf("%s fits on %s", format.Safe(p.Pod.Name), format.Plural(len(p.Fits), "node"))
	case n.working && n.Selected.Any:
		said += ", checking what " + format.Safe(n.Selected.Key.Name) + " lacks"
	case n.Selected.Any && n.shown.problem == "" && n.fitAll:
		said += ", requests of " + format.Safe(n.Selected.Key.Name) + " unknown"
	}
	x := a.Text(1, 0, theme.Accent|canvas.Bold, " "+format.Plural(len(n.shown.nodes), "node")+" ")
	seen := ""
	if len(n.shown.nodes) > n.list.H {
		seen = fmt.Sprintf(" %s–%s of %s ", format.Number(n.top+1), format.Number(min(n.top+n.list.H, len(n.shown.nodes))), format.Number(len(n.shown.nodes)))
		a.Right(a.W-1, 0, theme.Dim, seen)
	}
	a.Text(x, 0, theme.Plain, canvas.Truncate(said, a.W-x-canvas.Width(seen)-3)+" ")
}

// listed are the resources with a meter in the list.
var listed = [...]sources.SafeText{"cpu", "memory", "pods"}

// columns has the widths of a node's name and of each meter with its figures. The rest of the row
// shows taints, conditions and what the pod lacks.
type columns struct{ name, meter, figures int }

func (n *Nodes) columns(w int) columns {
	c := columns{name: 8, meter: 4, figures: 10}
	for i := n.top; i < min(n.top+n.list.H, len(n.shown.nodes)); i++ {
		c.name = max(c.name, canvas.Width(string(n.shown.nodes[i].Name)))
	}
	c.name = min(c.name, w/5)
	if w >= 120 {
		c.meter = 8
	}
	if w < 80 {
		c.meter, c.figures = 1, 9
	}
	return c
}

func (c columns) width() int { return c.meter + 1 + c.figures + 1 }

func (n *Nodes) headings(a canvas.Area, c columns) {
	a.Text(2, 0, theme.Dim, "node")
	x := 2 + c.name + 1
	for _, name := range listed {
		a.Text(x, 0, theme.Dim, string(name)+" used")
		x += c.width()
	}
	text := "taints, conditions"
	if n.shown.needs != nil {
		text = n.shown.needs.Pod.Name + " lacks"
	}
	a.Text(x, 0, theme.Dim, canvas.Truncate(format.Safe(text), a.W-x-1))
}

// row draws the i-th node.
func (n *Nodes) row(a canvas.Area, c columns, i int) {
	node := n.shown.nodes[i]
	a.Text(2, 0, theme.Plain, canvas.TruncateMiddle(string(node.Name), c.name))
	x := 2 + c.name + 1
	for _, name := range listed {
		for _, r := range node.Resources {
			if r.Name == name {
				meter(a.Sub(x, 0, c.meter, 1), r.UsedShare())
				a.Text(x+c.meter+1, 0, theme.Plain, canvas.Truncate(words.Quantity(r.Used)+"/"+words.Quantity(r.Allocatable), c.figures))
			}
		}
		x += c.width()
	}
	style, text := n.verdict(i)
	a.Text(x, 0, style, canvas.Truncate(text, a.W-x-1))
	if i == n.cursor {
		a.Text(0, 0, canvas.Bold, theme.GlyphSelected)
		a.Restyle(theme.Chosen)
	}
}

// verdict returns what keeps the selected pod off the i-th node, or without one, what keeps any pod
// off it.
func (n *Nodes) verdict(i int) (canvas.Style, string) {
	node := n.shown.nodes[i]
	if n.shown.needs != nil {
		if lacks := n.shown.lacks[i]; lacks != nil {
			return theme.Unschedulable, lacking(lacks)
		}
		return theme.Active, "✓ fits"
	}
	return theme.Dim, strings.Join(append(texts(node.Conditions), texts(node.Taints)...), " ")
}

// lacking summarizes what a pod lacks on a node: resources, labels, taints.
func lacking(lacks *explain.NodeNeeds) string {
	var parts []string
	for _, l := range lacks.Lacks {
		said := texts(l.Details)
		for _, r := range l.Resources {
			said = append(said, words.Quantity(r.Lacks)+" "+string(r.Resource))
		}
		if len(said) == 0 {
			said = texts(l.Reasons)
		}
		parts = append(parts, strings.Join(said, ", ")+" ("+format.Safe(l.Plugin)+")")
	}
	if len(parts) == 0 {
		return "only the cluster-wide reason"
	}
	return strings.Join(parts, "; ")
}

func texts(all []sources.SafeText) []string {
	var plain []string
	for _, t := range all {
		plain = append(plain, string(t))
	}
	return plain
}

// meter draws the used share of a resource.
func meter(a canvas.Area, share float64) {
	style := theme.Active
	switch {
	case share >= 0.95:
		style = theme.Unschedulable
	case share >= 0.75:
		style = theme.Backoff
	}
	if a.W == 1 {
		a.Text(0, 0, style, format.Level(share))
		return
	}
	heavy, light := format.Bar(share, a.W)
	x := a.Text(0, 0, style, heavy)
	a.Text(x, 0, theme.Dim, light)
}

// detail draws the i-th node in detail, as far as it fits.
func (n *Nodes) detail(a canvas.Area, i int) {
	if a.H < 2 {
		return
	}
	node := n.shown.nodes[i]
	a.Row(0).Fill(theme.Dim, "─")
	a.Text(1, 0, canvas.Bold, " "+canvas.TruncateMiddle(string(node.Name), a.W-4)+" ")
	left := a.Sub(2, 1, (a.W-4)/2, a.H-1)
	right := a.Sub(2+left.W+2, 1, a.W-left.W-5, a.H-1)
	n.resources(left, node, i)
	pods(right, node)
}

// resources draws the node's free resources, and what keeps pods off it.
func (n *Nodes) resources(a canvas.Area, node *explain.Node, i int) {
	y := 0
	say := func(style canvas.Style, text string) {
		for j, line := range canvas.Wrap(text, a.W) {
			if j > 0 {
				line = "  " + line
			}
			a.Text(0, y, style, canvas.Truncate(line, a.W))
			y++
		}
	}
	if n.shown.needs != nil {
		style, text := n.verdict(i)
		if n.shown.lacks[i] != nil {
			text = format.Safe(n.shown.needs.Pod.Name) + " lacks here: " + text
		}
		say(style, text)
	}
	width, name := 12, 8
	if a.W < 45 {
		width = 4
	}
	for _, r := range node.Resources {
		name = max(name, min(canvas.Width(string(r.Name)), a.W/3))
	}
	for _, r := range node.Resources {
		row := a.Row(y)
		row.Text(0, 0, theme.Plain, canvas.TruncateMiddle(string(r.Name), name))
		meter(row.Sub(name+1, 0, width, 1), r.UsedShare())
		free := r.Free()
		row.Text(name+width+2, 0, theme.Plain, canvas.Truncate(fmt.Sprintf("%s free of %s", words.Quantity(free), words.Quantity(r.Allocatable)), a.W-name-width-2))
		y++
	}
	if len(node.Conditions) > 0 {
		say(theme.Alarm, strings.Join(texts(node.Conditions), ", "))
	}
	for _, t := range node.Taints {
		say(theme.Backoff, "taint "+string(t))
	}
	if len(node.Nominated) > 0 {
		say(theme.InFlight, "nominated: "+strings.Join(texts(node.Nominated), ", "))
	}
}

// pods draws the pods on the node, highest priority first.
func pods(a canvas.Area, node *explain.Node) {
	on, all := node.Pods(max(0, a.H-1))
	a.Text(0, 0, theme.Dim, canvas.Truncate(format.Plural(all, "pod")+" here, highest priority first", a.W))
	for i, p := range on {
		row := a.Row(i + 1)
		if i+1 == a.H-1 && all > len(on) {
			row.Text(0, 0, theme.Dim, fmt.Sprintf("and %s more", format.Number(all-i)))
			return
		}
		var asks []string
		for _, r := range p.Requests {
			if r.Name != "pods" {
				asks = append(asks, words.Quantity(r.Used)+" "+string(r.Name))
			}
		}
		text := strings.Join(asks, ", ")
		width := min(canvas.Width(text), row.W/2)
		priority := ""
		if p.Priority != 0 {
			priority = " p" + strconv.Itoa(int(p.Priority))
		}
		x := row.Text(0, 0, theme.Plain, canvas.TruncateMiddle(strings.TrimPrefix(string(p.Name), "default/"), max(1, row.W-width-len(priority)-2)))
		row.Text(x, 0, theme.Accent, priority)
		row.Right(row.W, 0, theme.Dim, canvas.Truncate(text, width))
	}
}
