package tui

import (
	"fmt"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/canvas"
)

// comparison draws two timelines beside each other: how many pods each has in each tier, and the pods that are
// not in the same place.
type comparison struct {
	frame *session.Frame
	// offset is how many of the differing pods are above those in sight.
	offset int
}

// comparedTiers are the rows of sizes.
var comparedTiers = [...]queue.Tier{queue.Active, queue.Backoff, queue.Unschedulable, queue.Gated, queue.InFlight}

// comparisonHead is how many lines stand above the differing pods: the title, the names, the sizes, those
// bound, a blank and a heading.
const comparisonHead = 3 + len(comparedTiers) + 3

// last is the largest offset in an area of h lines.
func (c comparison) last(h int) int {
	if c.frame.Comparison == nil {
		return 0
	}
	return max(0, len(c.frame.Comparison.Differences)-(h-comparisonHead))
}

// Draw draws the sizes and below them as many pods as fit.
func (c comparison) Draw(a canvas.Area) {
	if a.Empty() {
		return
	}
	a.Row(0).Fill(dim, "─")
	a.Text(1, 0, canvas.Bold|chosen, " compare ")
	f := c.frame.Comparison
	if f == nil {
		for y, line := range canvas.Wrap("Nothing is compared: this timeline would stand beside itself. F goes to another, esc closes.", a.W-3) {
			a.Text(2, 2+y, dim, line)
		}
		return
	}
	a.Text(12, 0, dim, " at "+clockTime(f.At)+" ")
	first := min(max(a.W*2/5, 20), 44)
	second := first + (a.W-first)/2
	columns := [2]canvas.Area{a.Sub(first, 0, second-first-1, a.H), a.Sub(second, 0, a.W-second-1, a.H)}
	for i, name := range f.Names {
		columns[i].Text(0, 1, accent|canvas.Bold, canvas.Truncate(safe(string(name)), columns[i].W))
	}
	size := func(y int, name string, style canvas.Style, sizes [2]int) {
		a.Text(2, y, style, name)
		for i, n := range sizes {
			x := columns[i].Text(0, y, canvas.Bold, number(n))
			if difference := n - sizes[0]; i == 1 && difference != 0 {
				columns[i].Text(x+1, y, backoff, signed(difference))
			}
		}
	}
	for i, tier := range comparedTiers {
		size(2+i, tierName(tier), tierStyle(tier), [2]int{f.Sizes[0][tier], f.Sizes[1][tier]})
	}
	y := 2 + len(comparedTiers)
	size(y, "bound", scheduled, f.Placed)
	y += 2
	if f.Total == 0 {
		a.Text(2, y, dim, "Every pod is in the same place in both.")
		return
	}
	a.Text(2, y, dim, canvas.Truncate(plural(f.Total, "pod")+" in other places:", first-3))
	for n := 0; n < len(f.Differences)-c.offset && y+1+n < a.H; n++ {
		c.difference(a.Row(y+1+n), columns, y+1+n, first, f.Differences[c.offset+n])
	}
}

// difference draws one pod as it is in either.
func (c comparison) difference(row canvas.Area, columns [2]canvas.Area, y, first int, d session.ForkDifference) {
	row.Text(2, 0, plain, canvas.Middle(podName(d.Key, first-4), first-4))
	for i, p := range d.Pods {
		if p == nil {
			columns[i].Text(0, y, dim, "— not there")
			continue
		}
		tier := p.Tier
		if tier == queue.Deleted && p.Node != "" {
			tier = queue.Scheduled
		}
		text := provenance(p.Observed) + " " + tierName(tier)
		switch {
		case tier == queue.Scheduled:
			text += " on " + safe(p.Node)
		case len(p.RejectorPlugins()) > 0 && (tier == queue.Unschedulable || tier == queue.Backoff):
			text += " " + pluginNames(p.RejectorPlugins(), 24)
		}
		if p.Attempts > 0 {
			text += fmt.Sprintf(" · %s", plural(p.Attempts, "attempt"))
		}
		columns[i].Text(0, y, tierStyle(tier), canvas.Truncate(text, columns[i].W))
	}
}

// signed writes n with its sign.
func signed(n int) string {
	if n < 0 {
		return "−" + number(-n)
	}
	return "+" + number(n)
}
