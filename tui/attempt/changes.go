package attempt

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/widget"
)

// maxWeights limits the plugins whose weights are offered.
const maxWeights = 4

// chooseChange lists changes that may lead to another node, and runs the cycle again with the chosen one.
func (a *Attempt) chooseChange() tea.Cmd {
	c := a.before
	if c == nil {
		c = a.shown
	}
	if c == nil || c.Inspection == nil {
		return a.Refuse("the cycle is unknown")
	}
	note := "The cycle is run again over the same objects with this change. Nothing else changes, in the recording or the cluster."
	items := []widget.Item{{Text: "no change", Note: "Show the cycle as it was."}}
	changes := []string{""}
	add := func(text, change string) {
		items, changes = append(items, widget.Item{Text: text, Aside: change, Note: note}), append(changes, change)
	}
	add("fill the emptiest node first", "LeastAllocated")
	add("fill the fullest node first", "MostAllocated")
	add("score by a shape of your own", "RequestedToCapacityRatio 0:0 100:10")
	if next, ok := c.RunnerUp(); ok {
		for i, d := range c.Compare(c.Nodes[0], next) {
			if i == maxWeights {
				break
			}
			weight := weightOf(c, d.Plugin)
			if d.Points > 0 { // the plugin prefers the runner-up
				add(fmt.Sprintf("a larger weight, instead of %d", weight), fmt.Sprintf("%s=%d", d.Plugin, 10*max(1, weight)))
			} else {
				add(fmt.Sprintf("no scores of %s", d.Plugin), d.Plugin+"=0")
			}
		}
	}
	if c.Node != "" {
		add("without the chosen node", string(c.Node)+" cordon")
	}
	items = append(items, widget.Item{Text: "another change ...", Note: explain.ChangeUsage})
	return widget.OpenList(a.UI, widget.List{Title: "what would change it?", Items: items, Choose: func(chosen []int) tea.Cmd {
		if chosen[0] == len(changes) {
			return a.askChange()
		}
		if mistake := a.change(changes[chosen[0]]); mistake != "" {
			return a.Refuse(mistake)
		}
		return nil
	}}, min(1, len(items)-1))
}

// weightOf returns the weight of a plugin.
func weightOf(c *explain.Cycle, plugin string) int64 {
	for _, p := range c.Score.Plugins {
		if p.Plugin == plugin {
			return p.Weight
		}
	}
	return 0
}

// askChange asks for a change.
func (a *Attempt) askChange() tea.Cmd {
	return widget.Ask(a.UI, widget.Prompt{
		Title: "change",
		Hint:  explain.ChangeUsage,
		Complete: func(text string) []string {
			return widget.Starting(text, a.completions())
		},
		Accept: a.change,
	}, "")
}

// completions returns the beginnings of changes.
func (a *Attempt) completions() []string {
	all := []string{"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio 0:0 100:10"}
	if c := a.shown; c != nil && c.Inspection != nil {
		for _, p := range c.Score.Plugins {
			all = append(all, p.Plugin+"=")
		}
		for _, n := range c.Nodes[:min(len(c.Nodes), maxCompleted)] {
			all = append(all, string(n.Node)+" cordon")
		}
	}
	return all
}

// maxCompleted limits how many nodes are completed.
const maxCompleted = 1000

// change runs the cycle again with a change, or without one, or returns what is wrong with it.
func (a *Attempt) change(text string) (mistake string) {
	var c explain.Change
	if text != "" {
		var err error
		if c, err = explain.ParseChange(text); err != nil {
			return format.Safe(err.Error())
		}
	}
	a.options.Change, a.chosen = c, false
	a.Follow()
	return ""
}
