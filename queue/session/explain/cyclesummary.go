package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// Summary says why the pod got its node, or none: the conclusion first.
func (c *Cycle) Summary(zone words.Zone) []string {
	if c.Inspection == nil {
		return []string{"The cycle is unknown: " + c.Unknown + "."}
	}
	var said []string
	say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	switch {
	case c.Error != "":
		say("The cycle ended early: %s.", c.Error)
	case c.Node == "":
		say("No node fits: %s", c.Message)
		if p := c.PostFilter; p != nil && p.Node != "" {
			say("%s", preemption(p))
		}
	case c.Score.Skipped != "" && c.Filter.Feasible == 1:
		say("%s is the only node that fits. kube-scheduler computes no scores then.", c.Node)
	case c.Score.Skipped != "":
		say("%s fits, and nodes have no scores: %s.", c.Node, c.Score.Skipped)
	case len(c.Ties) > 0:
		say("%s: %d points, as %s. kube-scheduler takes any of them at random.", c.Node, c.Nodes[0].Total, others(c.Ties, c.Node))
	default:
		say("%s has the highest score: %d points, of %s that fit.", c.Node, c.Nodes[0].Total, words.Plural(c.Filter.Feasible, "node"))
	}
	if next, ok := c.RunnerUp(); ok {
		say("%s.", c.Lost(c.Nodes[0], next))
	}
	if a := c.Actual; a != nil {
		switch {
		case !c.Change.None():
			say("Without this change, the scheduler bound the pod to %s at %s.", a.Node, zone.Precise(a.Time))
		case a.Match == Equal:
			say("The scheduler bound the pod to %s, too, at %s.", a.Node, zone.Precise(a.Time))
		case a.Match == Tie:
			say("The scheduler bound the pod to %s at %s, which has the same score.", a.Node, zone.Precise(a.Time))
		default:
			say("But the scheduler bound the pod to %s at %s. %s", a.Node, zone.Precise(a.Time), strings.Join(a.Why, " "))
		}
	}
	if f := c.Filter; f.Evaluated < f.Candidates && f.Nominated == "" && c.Node != "" {
		say("Filter looked at %d of %d nodes, from %s on: %d that fit are enough (percentageOfNodesToScore).", f.Evaluated, f.Candidates, f.StartNode, f.Enough)
	}
	if text := c.rejectedBy(); text != "" && c.Node != "" {
		said = append(said, text)
	}
	return said
}

// rejectedBy counts the nodes that do not fit by their first rejection.
func (c *Cycle) rejectedBy() string {
	counts, rejected := map[string]int{}, 0
	for _, n := range c.Nodes {
		if len(n.Rejections) > 0 {
			rejected++
			counts[cmp.Or(n.Rejections[0].Plugin, "PreFilter")]++
		}
	}
	if rejected == 0 {
		return ""
	}
	plugins := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	var parts []string
	for _, p := range plugins {
		parts = append(parts, fmt.Sprintf("%s %d", p, counts[p]))
	}
	return fmt.Sprintf("%d of %s rejected: %s.", rejected, words.Plural(len(c.Nodes), "node"), strings.Join(firstOf(parts, 4), ", "))
}

// Meaning says what a Score plugin of upstream prefers, as a predicate. It is empty for other plugins.
func (c *Cycle) Meaning(plugin string) string {
	switch plugin {
	case names.NodeResourcesFit:
		switch c.Strategy {
		case "LeastAllocated":
			return "prefers nodes with more free CPU and memory"
		case "MostAllocated":
			return "prefers nodes with less free CPU and memory"
		}
		return "prefers nodes by the shape of its strategy, " + c.Strategy
	case names.NodeResourcesBalancedAllocation:
		return "prefers nodes whose CPU and memory would be used equally"
	case names.ImageLocality:
		return "prefers nodes that have the pod's images"
	case names.TaintToleration:
		return "prefers nodes with fewer untolerated PreferNoSchedule taints"
	case names.NodeAffinity:
		return "prefers nodes that match the pod's preferred node affinity"
	case names.InterPodAffinity:
		return "prefers nodes by the pod affinity of this and of running pods"
	case names.PodTopologySpread:
		return "prefers zones and nodes with fewer matching pods"
	case names.VolumeBinding:
		return "prefers nodes whose free volumes fit the claims closely"
	case names.DynamicResources:
		return "prefers nodes by the devices that they would allocate"
	}
	return ""
}

// RunnerUp returns the best node with a lower score than the chosen one.
func (c *Cycle) RunnerUp() (cycle.NodeResult, bool) {
	for _, n := range c.Nodes {
		if n.Rank > 1 {
			return n, true
		}
	}
	return cycle.NodeResult{}, false
}

// others lists the names other than one: "node-b and node-c have", at most three of them.
func others(all []sources.SafeText, without sources.SafeText) string {
	var names []string
	for _, name := range all {
		if name != without {
			names = append(names, string(name))
		}
	}
	verb := " have"
	if len(names) == 1 {
		verb = " has"
	}
	return words.And(firstOf(names, 3)) + verb
}

// preemption says which node preemption chose, whom it evicts, and which rule decided.
func preemption(p *cycle.PostFilter) string {
	for _, candidate := range p.Candidates {
		if candidate.Node != p.Node {
			continue
		}
		var victims []string
		for _, v := range candidate.Victims {
			victims = append(victims, string(v.Pod))
		}
		text := fmt.Sprintf("Preemption chooses %s and evicts %s", p.Node, words.And(firstOf(victims, 4)))
		if p.Rule != "" {
			text += ": " + RuleText(p.Rule)
		}
		return text + "."
	}
	return fmt.Sprintf("Preemption chooses %s.", p.Node)
}

// RuleText describes a criterion of preemption's choice.
func RuleText(r cycle.PreemptionRule) string {
	switch r {
	case cycle.FewestPDBViolations:
		return "fewest violations of PodDisruptionBudgets"
	case cycle.LowestHighestPriority:
		return "its most important victim has the lowest priority"
	case cycle.LowestPrioritySum:
		return "lowest sum of the victims' priorities"
	case cycle.FewestVictims:
		return "fewest victims"
	case cycle.LatestStart:
		return "its most important victims started last"
	case cycle.AnyOfEqual:
		return "equal by all criteria: any of them"
	}
	return string(r)
}
