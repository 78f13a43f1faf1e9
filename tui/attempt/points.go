package attempt

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
)

// point is an extension point of the scheduling framework, by upstream's name.
type point string

// The points of a cycle in upstream's order. queueSort stands for the queue.
const (
	queueSort  point = "queue"
	preFilter  point = "PreFilter"
	filter     point = "Filter"
	postFilter point = "PostFilter"
	score      point = "Score"
	reserve    point = "Reserve"
	permit     point = "Permit"
	preBind    point = "PreBind"
	bind       point = "Bind"
)

// waits and skips are two of upstream's codes: see cycle.PluginResult.
const waits, skips = "Wait", "Skip"

// points returns the points that the cycle shown passes.
func (a *Attempt) points() []point {
	c := a.shown
	switch {
	case c == nil || c.Inspection == nil:
		return nil
	case c.Node == "" && c.PostFilter == nil:
		return []point{queueSort, preFilter, filter}
	case c.Node == "":
		return []point{queueSort, preFilter, filter, postFilter}
	}
	return []point{queueSort, preFilter, filter, score, reserve, permit, preBind, bind}
}

// answering returns the point that answers why the pod got its node, or none.
func answering(c *explain.Cycle) point {
	switch {
	case c.Inspection == nil:
		return queueSort
	case c.Score.Plugins != nil:
		return score
	case c.PostFilter != nil && len(c.PostFilter.Candidates) > 0:
		return postFilter
	}
	return filter
}

// brief summarizes a point for the strip: "Filter 3/12".
func (a *Attempt) brief(p point) string {
	c := a.shown
	switch p {
	case preFilter:
		if c.Filter.Candidates < c.Filter.Nodes {
			return fmt.Sprintf("%s %d/%d", p, c.Filter.Candidates, c.Filter.Nodes)
		}
	case filter:
		return fmt.Sprintf("%s %d/%d", p, c.Filter.Feasible, c.Filter.Evaluated)
	case permit:
		if slices.ContainsFunc(c.Permit, func(r cycle.PluginResult) bool { return r.Status == waits }) {
			return string(p) + " waits"
		}
	}
	return string(p)
}

// kind is what a sentence of the answer is about.
type kind int

const (
	plain      kind = iota
	conclusion      // which node is chosen
	changed         // what a change does
	note            // how it is known
)

type sentence struct {
	text string
	kind kind
}

// answer returns why it was the pod's turn, in a line, and why it got its node, or none: the most important first.
func (a *Attempt) answer() []sentence {
	c := a.shown
	switch {
	case c == nil:
		return []sentence{{"Running the scheduling cycle of " + format.Safe(a.Selected.Key.String()) + " ...", conclusion}}
	case c.Inspection == nil:
		return []sentence{{"The cycle is unknown: " + format.Safe(c.Unknown) + ".", conclusion}}
	}
	var all []sentence
	add := func(k kind, texts ...string) {
		for _, text := range texts {
			all = append(all, sentence{text, k})
		}
	}
	if c.Turn != nil {
		add(note, canvas.Truncate(turn(c)+".", a.room.W-3))
	}
	add(changed, a.changed()...)
	summary := c.Summary(a.Frame.Zone)
	add(conclusion, summary[0])
	add(plain, summary[1:]...)
	if rejected := c.Rejected(); rejected != "" && c.Node != "" {
		add(plain, rejected)
	}
	if f := c.Filter; f.Evaluated < f.Candidates && f.Nominated == "" && c.Node != "" {
		add(plain, fmt.Sprintf("Filter looked at %s of %s nodes: %s that fit are enough (percentageOfNodesToScore).", format.Number(f.Evaluated), format.Number(f.Candidates), format.Number(f.Enough)))
	}
	if c.Provenance != explain.Modelled && len(c.Notes) > 0 {
		add(note, c.Notes[1:]...) // the title says what the first one does
	} else {
		add(note, c.Notes...)
	}
	return all
}

// turn says why it was the pod's turn.
func turn(c *explain.Cycle) string {
	if c.Turn.Provenance == explain.Modelled {
		return "Queue (modelled): " + c.Turn.String()
	}
	return "Queue: " + c.Turn.String()
}

// changed says what the change does, if there is one.
func (a *Attempt) changed() []string {
	c := a.shown
	if c.Change.None() {
		return nil
	}
	text := "With " + format.Safe(c.Change.String()) + ": " + string(orNone(c.Node))
	if a.before != nil && a.before.Inspection != nil {
		if a.before.Node == c.Node {
			text += ", as without it."
		} else {
			text += " instead of " + string(orNone(a.before.Node)) + "."
		}
	}
	return []string{text}
}

func orNone(node sources.SafeText) sources.SafeText {
	if node == "" {
		return "no node"
	}
	return node
}

// results describes what plugins returned, a line for each.
func results(of []cycle.PluginResult) []string {
	var lines []string
	var skipped, idle []string
	for _, r := range of {
		switch {
		case r.Status == skips:
			skipped = append(skipped, r.Plugin)
			continue
		case r.Status == cycle.NotRun:
			idle = append(idle, r.Plugin)
			continue
		}
		line := r.Plugin + ": " + r.Status
		if r.Nodes != nil {
			line += fmt.Sprintf(", leaves %s", format.Plural(*r.Nodes, "node"))
		}
		if len(r.Reasons) > 0 {
			line += ": " + joined(r.Reasons)
		}
		if r.TimeoutSeconds > 0 {
			line += ", for at most " + words.Short(time.Duration(r.TimeoutSeconds*float64(time.Second)))
		}
		lines = append(lines, line)
	}
	if len(idle) > 0 {
		lines = append(lines, "Not run: "+strings.Join(idle, ", "))
	}
	if len(skipped) > 0 {
		lines = append(lines, "Skip, as they have nothing to do for this pod: "+strings.Join(skipped, ", "))
	}
	return lines
}

func joined(texts []sources.SafeText) string {
	var all []string
	for _, t := range texts {
		all = append(all, string(t))
	}
	return strings.Join(all, ", ")
}

// text returns the lines of a point that has no list.
func (a *Attempt) text(w int) []string {
	c := a.shown
	if c == nil || c.Inspection == nil {
		return nil
	}
	switch a.point {
	case queueSort:
		return a.queued()
	case preFilter:
		return append([]string{"PreFilter plugins look at the pod once and may exclude nodes before Filter."}, results(c.PreFilter)...)
	case filter:
		return []string{"The cluster has no nodes."}
	case postFilter:
		return []string{string(c.PostFilter.Message)}
	case score:
		return []string{"No scores: " + c.Score.Skipped + "."}
	case reserve:
		return append([]string{"The pod is assumed on " + string(c.Node) + " from here: later cycles count it there, although it is not bound yet."}, results(c.Reserve)...)
	case permit:
		lines := []string{"Permit plugins may make the pod wait. It waits in the binding cycle: the scheduling cycle of the next pod begins meanwhile."}
		if len(c.Permit) == 0 {
			return append(lines, "No Permit plugin is enabled: the pod does not wait.")
		}
		return append(lines, results(c.Permit)...)
	case preBind:
		return append([]string{"The binding cycle runs in a goroutine of its own. PreBind prepares the node, and may wait for volumes or devices."}, results(c.PreBind)...)
	case bind:
		return append([]string{"Bind writes the node to the API server. The pod is assumed until the scheduler sees that write. A rerun binds nothing."}, results(c.Bind)...)
	}
	return nil
}

// queued says how the pod came to its turn.
func (a *Attempt) queued() []string {
	c, p := a.shown, a.Pod()
	if p == nil {
		return nil
	}
	lines := []string{"activeQ is sorted by priority, then by the time at which pods came to the queue."}
	if c.Turn != nil {
		lines = append(lines, turn(c)+".")
	}
	if c.Provenance == explain.Hypothetical {
		lines = append(lines, "The pod was not popped at this moment: the cycle shows what would happen if it were.")
	}
	if p.PriorityKnown() {
		lines = append(lines, fmt.Sprintf("Its priority is %d.", p.Priority))
	}
	var moves []string
	for t := p.Last; t != nil && len(moves) < 4; t = t.Prev() {
		if !t.Time.After(c.Time) && !t.Restated() {
			moves = append(moves, t.Line(a.Frame.Zone))
		}
	}
	slices.Reverse(moves)
	return append(append(lines, moves...), c.Notes...)
}
