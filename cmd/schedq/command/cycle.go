package command

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
)

// textWidth is the width of the text of a cycle.
const textWidth = 80

// writeCycle writes c for people: the conclusion first, then the extension points.
func writeCycle(w io.Writer, c *explain.Cycle) error {
	var b strings.Builder
	title := fmt.Sprintf("%s at %s UTC, %s", c.Pod, c.Time.Format("2006-01-02 15:04:05.000"), c.Provenance)
	if n := (words.AttemptCount{N: c.Attempts, AtLeast: c.AttemptsAtLeast}); c.Attempts > 0 {
		title += ", attempt " + n.String()
	}
	fmt.Fprintln(&b, title)
	for _, line := range c.Summary(words.Zone{}) {
		writeWrapped(&b, line)
	}
	if c.Inspection != nil {
		writePoints(&b, c)
		writeScores(&b, c)
	}
	if len(c.Notes) > 0 {
		fmt.Fprintln(&b)
	}
	for _, n := range c.Notes {
		writeWrapped(&b, "Note: "+n)
	}
	return cli.WriteText(w, b.String())
}

// writeWrapped writes a line, wrapped at textWidth.
func writeWrapped(b *strings.Builder, line string) {
	for _, part := range canvas.Wrap(line, textWidth) {
		fmt.Fprintln(b, part)
	}
}

// writePoints writes a line or more for each extension point but Score.
func writePoints(b *strings.Builder, c *explain.Cycle) {
	f := c.Filter
	var rows [][]string
	point := func(name string, texts ...string) {
		for _, text := range texts {
			for _, part := range canvas.Wrap(text, textWidth-14) {
				rows = append(rows, []string{name, part})
				name = ""
			}
		}
	}
	if c.Turn != nil {
		turn := c.Turn.String()
		if c.Turn.Provenance == explain.Modelled {
			turn += " (modelled)"
		}
		point("Queue", turn)
	}
	left := fmt.Sprintf("%s of %s left", format.Number(f.Candidates), format.Plural(f.Nodes, "node"))
	var by []string
	for _, p := range c.PreFilter {
		switch {
		case p.Nodes != nil:
			by = append(by, fmt.Sprintf("%s leaves %d", p.Plugin, *p.Nodes))
		case p.Status != "Success" && p.Status != "Skip" && p.Status != cycle.NotRun:
			by = append(by, p.Plugin+": "+reasonsOf(p))
		}
	}
	point("PreFilter", strings.Join(append([]string{left}, by...), "; "))
	search := fmt.Sprintf("%s of %s evaluated, %s feasible", format.Number(f.Evaluated), format.Number(f.Candidates), format.Number(f.Feasible))
	if f.Evaluated < f.Candidates && f.Nominated != "" && f.Feasible == 1 {
		search += fmt.Sprintf("; %s is the pod's nominated node and was evaluated first", f.Nominated)
	} else if f.Evaluated < f.Candidates {
		search += fmt.Sprintf("; the search began at %s and ends at %d feasible nodes", f.StartNode, f.Enough)
	}
	point("Filter", append([]string{search}, rejectedBy(c)...)...)
	for _, e := range f.Extenders {
		point("", fmt.Sprintf("extender %s: %s", e.Plugin, cmp.Or(reasonsOf(e), e.Status)))
	}
	if p := c.PostFilter; p != nil {
		point("PostFilter", preemptionLines(p)...)
	}
	if c.Score.Skipped != "" {
		point("Score", c.Score.Skipped)
	}
	for _, at := range []struct {
		name    string
		results []cycle.PluginResult
	}{{"Reserve", c.Reserve}, {"Permit", c.Permit}, {"PreBind", c.PreBind}, {"Bind", c.Bind}} {
		var texts []string
		for _, p := range at.results {
			text := p.Plugin
			switch {
			case p.Status == cycle.NotRun && at.name == "Bind":
				text += " binds"
			case p.Status == cycle.NotRun:
				text += " not run"
			case p.Status == "Skip":
				text += " has nothing to do"
			case p.TimeoutSeconds > 0:
				text += fmt.Sprintf(" waits up to %gs", p.TimeoutSeconds)
			case p.Status != "Success":
				text += " " + p.Status + ": " + reasonsOf(p)
			}
			texts = append(texts, text)
		}
		if len(texts) > 0 && c.Node != "" {
			point(at.name, strings.Join(texts, ", "))
		}
	}
	fmt.Fprintln(b)
	cli.WriteColumns(b, rows)
}

func reasonsOf(p cycle.PluginResult) string {
	var all []string
	for _, r := range p.Reasons {
		all = append(all, string(r))
	}
	return strings.Join(all, ", ")
}

// rejectedBy counts the rejected nodes by plugin and reason, most first.
func rejectedBy(c *explain.Cycle) []string {
	counts := map[string]int{}
	for _, n := range c.Nodes {
		if n.Outcome != cycle.Rejected || len(n.Rejections) == 0 {
			continue
		}
		r := n.Rejections[0]
		var reasons []string
		for _, reason := range r.Reasons {
			reasons = append(reasons, string(reason))
		}
		counts[r.Plugin+": "+strings.Join(reasons, ", ")]++
	}
	var keys []string
	for k := range counts {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b)) })
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%d by %s", counts[k], k)
	}
	return keys
}

// candidatesShown limits the candidates of a preemption and the victims on each.
const candidatesShown = 5

func preemptionLines(p *cycle.PostFilter) []string {
	lines := []string{cmp.Or(explain.PostFilter(string(p.Message), string(p.Node)), "no plugin helps")}
	if p.DryRun > 0 {
		lines = append(lines, fmt.Sprintf("%d of %s tried, %d candidates", p.DryRun, format.Plural(p.Potential, "potential node"), len(p.Candidates)))
	}
	for _, c := range p.Candidates[:min(candidatesShown, len(p.Candidates))] {
		var victims []string
		for _, v := range c.Victims[:min(candidatesShown, len(c.Victims))] {
			victims = append(victims, fmt.Sprintf("%s (priority %d)", v.Pod, v.Priority))
		}
		if more := len(c.Victims) - candidatesShown; more > 0 {
			victims = append(victims, fmt.Sprintf("%d more", more))
		}
		line := fmt.Sprintf("%s evicts %s", c.Node, strings.Join(victims, ", "))
		if c.PDBViolations > 0 {
			line += fmt.Sprintf("; PodDisruptionBudget violations: %d", c.PDBViolations)
		}
		if c.Lost != "" {
			line += "; lost on " + explain.RuleText(c.Lost)
		}
		lines = append(lines, line)
	}
	if more := len(p.Candidates) - candidatesShown; more > 0 {
		lines = append(lines, fmt.Sprintf("%d more candidates", more))
	}
	return lines
}

// writeScores writes the weighted scores of the best nodes, and of the one the pod was bound to, a row for each plugin.
func writeScores(b *strings.Builder, c *explain.Cycle) {
	if c.Score.Skipped != "" {
		return
	}
	label := utf8.RuneCountInString("NodeResourcesBalancedAllocation ×1")
	shown, width := []cycle.NodeResult{}, label+2
	add := func(n cycle.NodeResult) {
		w := max(utf8.RuneCountInString(string(n.Node)), 5) + 2
		if n.Scores != nil && (len(shown) < 2 || width+w <= textWidth) {
			shown, width = append(shown, n), width+w
		}
	}
	add(c.Nodes[0])
	if c.Actual != nil && c.Actual.Node != c.Node {
		if n, ok := c.Find(c.Actual.Node); ok {
			add(n)
		}
	}
	for _, n := range c.Nodes[1:] {
		if c.Actual == nil || n.Node != c.Actual.Node {
			add(n)
		}
	}
	title := []string{"score × weight"}
	total := []string{"total"}
	for _, n := range shown {
		title = append(title, string(n.Node))
		total = append(total, strconv.FormatInt(n.Total, 10))
	}
	rows := [][]string{title}
	for i, p := range c.Score.Plugins {
		row := []string{fmt.Sprintf("%s ×%d", p.Plugin, p.Weight)}
		for _, n := range shown {
			cell := strconv.FormatInt(n.Scores[i].Weighted, 10)
			if p.Skipped {
				cell = "–"
			}
			if p.Error != "" {
				cell = "?"
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	fmt.Fprintln(b)
	cli.WriteColumns(b, rightAligned(append(rows, total)))
	if more := c.Filter.Feasible - len(shown); more > 0 {
		fmt.Fprintf(b, "  and %s: -o json lists all\n", format.Plural(more, "more feasible node"))
	}
	for _, p := range c.Score.Plugins {
		if p.Error != "" {
			writeWrapped(b, fmt.Sprintf("  Extender %s gave no scores, and kube-scheduler goes on without them: %s", p.Plugin, p.Error))
		}
	}
}

// rightAligned pads all cells but those of the first column on the left.
func rightAligned(rows [][]string) [][]string {
	for col := 1; col < len(rows[0]); col++ {
		width := 0
		for _, row := range rows {
			width = max(width, utf8.RuneCountInString(row[col]))
		}
		for _, row := range rows {
			row[col] = strings.Repeat(" ", width-utf8.RuneCountInString(row[col])) + row[col]
		}
	}
	return rows
}
