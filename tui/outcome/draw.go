package outcome

import (
	"fmt"
	"strings"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/theme"
)

// Draw implements page.Page: the title, the answer, and as many rows as fit.
func (p *Panel) Draw(a canvas.Area) {
	if a.Empty() {
		return
	}
	focused := p.Pages.Top() == page.Page(p)
	p.title(a.Row(0), focused)
	for y, line := range p.text {
		a.Text(2, 1+y, theme.Plain, line)
	}
	name := p.nameWidth(a.W)
	for y := range min(p.list.H, len(p.rows)-p.top) {
		i := p.top + y
		p.row(a.Row(p.list.Y+y), p.rows[i], name)
		if i == p.cursor && focused {
			a.Row(p.list.Y+y).Text(0, 0, canvas.Bold, theme.GlyphSelected)
			a.Row(p.list.Y + y).Restyle(theme.Chosen)
		}
	}
}

func (p *Panel) title(a canvas.Area, focused bool) {
	line, style := "─", theme.Dim
	if focused {
		line, style = "━", theme.WhatIf
	}
	a.Fill(style, line)
	x := a.Text(1, 0, theme.WhatIf|canvas.Bold, " result ")
	x = a.Text(x, 0, theme.Dim, p.Frame.Zone.Precise(p.at)+" ")
	end := p.Keys.Say(" {outcome}: choose here · {back}: close ")
	if focused {
		end = p.Keys.Say(" {row-down}/{row-up} choose · {back}: close ")
	}
	if n := len(p.rows); n > p.list.H && p.list.H > 0 {
		end = fmt.Sprintf(" %s–%s of %s ·", format.Number(p.top+1), format.Number(min(p.top+p.list.H, n)), format.Number(n)) + end
	}
	a.Right(a.W-1, 0, theme.Dim, canvas.Truncate(end, a.W-x-1))
}

// nameWidth returns the width of the visible names, out of w cells.
func (p *Panel) nameWidth(w int) int {
	widest := 8
	for i := p.top; i < min(p.top+p.list.H, len(p.rows)); i++ {
		widest = max(widest, canvas.Width(p.rows[i].name()))
	}
	return min(widest, max(8, w/2-4))
}

func (r row) name() string {
	if r.node != "" {
		return "node " + format.Safe(r.node)
	}
	return strings.TrimPrefix(format.Safe(r.pod.Key.String()), "default/")
}

// row draws a node or a pod.
func (p *Panel) row(a canvas.Area, r row, name int) {
	x := 2 + name + 2
	if r.node != "" {
		a.Text(2, 0, theme.Accent, canvas.TruncateMiddle(r.name(), name))
		a.Text(x, 0, theme.Dim, canvas.Truncate(p.onNode(r.node), a.W-x-1))
		return
	}
	a.Text(2, 0, theme.Plain, canvas.TruncateMiddle(r.name(), name))
	end := a.Text(x, 0, theme.Tier(r.pod.Tier), theme.Provenance(r.pod.Observed)+" "+theme.TierName(r.pod.Tier))
	a.Text(end+1, 0, theme.Plain, canvas.Truncate(where(r.pod), a.W-end-2))
}

// onNode returns how many pods were bound to a node.
func (p *Panel) onNode(name string) string {
	bound := 0
	for _, pod := range p.said.Moved {
		if pod.Tier == queue.Scheduled && pod.Node == name {
			bound++
		}
	}
	if bound == 0 {
		return "no pod was bound to it"
	}
	return format.Plural(bound, "pod") + " bound to it"
}

// where completes the place of a pod: its node, or what keeps it there.
func where(p *board.Pod) string {
	plugins := p.RejectorPlugins()
	switch {
	case p.Tier == queue.Scheduled && p.Node != "":
		return "to " + format.Safe(p.Node)
	case p.Tier == queue.Gated:
		return "by " + format.Safe(p.GatingPlugin)
	case len(plugins) > 0 && (p.Tier == queue.Unschedulable || p.Tier == queue.Backoff):
		return "rejected by " + format.SafeList(plugins, ", ")
	}
	return ""
}
