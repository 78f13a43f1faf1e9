package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// Cycle is a scheduling cycle of a pod at one moment. It is never modified. Its field names in JSON are stable: see
// docs/reference/outputs.md.
type Cycle struct {
	Source sources.SafeText     `json:"source,omitempty"`
	Key    types.NamespacedName `json:"-"`
	Pod    sources.SafeText     `json:"pod"`
	// Time is the moment whose objects the cycle was run over: the moment shown, or that of an earlier attempt.
	Time time.Time `json:"time"`
	// Unknown says why there is no Inspection. Empty if there is one.
	Unknown string `json:"unknown,omitempty"`
	// Provenance is "rerun" if a real scheduler made the attempt, and schedq ran it again over the objects known of that
	// moment; "modelled" if the local scheduler of a what-if made it; and "hypothetical" if the pod has not been
	// attempted at that moment.
	Provenance string `json:"provenance"`
	// Attempts is the number of the attempt, and 0 for a hypothetical one. AttemptsAtLeast is true if that is a lower bound.
	Attempts        int  `json:"attempts,omitempty"`
	AttemptsAtLeast bool `json:"attemptsAtLeast,omitempty"`
	// Turn is how the pod's turn for this attempt came. Nil if that is unknown.
	Turn *Turn `json:"queue,omitempty"`
	// Change is what was changed before the cycle was run.
	Change Change `json:"-"`
	// Strategy is the scoring strategy of NodeResourcesFit.
	Strategy string `json:"scoringStrategy,omitempty"`
	*cycle.Inspection
	// Actual is the node to which the pod was bound after the attempt. Nil if it was not, or if that is unknown.
	Actual *Placement `json:"actual,omitempty"`
	// Notes say what the cycle omits, and what is missing.
	Notes []string `json:"notes,omitempty"`
}

// The provenances of cycles.
const (
	Rerun        = "rerun"
	Modelled     = "modelled"
	Hypothetical = "hypothetical"
)

// Placement is where a pod was bound, compared with the node that the cycle chooses.
type Placement struct {
	Node sources.SafeText `json:"node"`
	// Time is when it was bound, zero if that is unknown.
	Time time.Time `json:"time,omitzero"`
	// Match is "equal" if the cycle chooses the same node, "tie" if the node has the same score as the chosen one, and
	// "different" otherwise.
	Match string `json:"match"`
	// Why says which information the real scheduler may have had that schedq has not, for a different node.
	Why []string `json:"why,omitempty"`
}

// The values of Placement.Match.
const (
	Equal     = "equal"
	Tie       = "tie"
	Different = "different"
)

// FindCycle runs a cycle of pod over the objects of a scheduler and the queue at that moment.
func FindCycle(sched *cycle.Scheduler, q *queue.Queue, pod *v1.Pod, at time.Time, opts cycle.InspectOptions) (*Cycle, error) {
	sched.Drive(q) // for the nominated pods
	return InspectWith(sched, pod, at, opts)
}

// InspectWith runs a cycle of pod over the objects and the queue of a scheduler.
func InspectWith(sched *cycle.Scheduler, pod *v1.Pod, at time.Time, opts cycle.InspectOptions) (*Cycle, error) {
	i, err := sched.Inspect(at, pod, opts)
	if err != nil {
		return nil, err
	}
	return &Cycle{
		Key: types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, Pod: sources.Sanitize(pod.Namespace + "/" + pod.Name),
		Time: at.UTC(), Provenance: Hypothetical, Inspection: i,
	}, nil
}

// SetAttempt sets the attempt that the cycle is: the move that began it, and the one that bound the pod, if it did.
func (c *Cycle) SetAttempt(popped, bound *board.Transition) {
	n := popped.AttemptCount()
	c.Attempts, c.AttemptsAtLeast = n.N, n.AtLeast
	if bound != nil && bound.Pod.Node != "" {
		c.CompareWith(bound.Pod.Node, bound.Time)
	}
}

// CompareWith sets the node on which the pod is, and since when; zero if that is unknown.
func (c *Cycle) CompareWith(node string, since time.Time) {
	c.Actual = &Placement{Node: sources.Sanitize(node), Time: since.UTC(), Match: Different}
	switch {
	case c.Actual.Node == c.Node:
		c.Actual.Match = Equal
	case c.Won(c.Actual.Node):
		c.Actual.Match = Tie
	}
}

// Difference is a plugin's part in the difference between two nodes' scores.
type Difference struct {
	Plugin string
	// Points is the second node's weighted score minus the first one's.
	Points int64
}

// Compare returns how other's score differs from node's, the largest differences first. It is nil unless both were scored.
func (c *Cycle) Compare(node, other cycle.NodeResult) []Difference {
	if node.Scores == nil || other.Scores == nil {
		return nil
	}
	var all []Difference
	for i, p := range c.Score.Plugins {
		if d := other.Scores[i].Weighted - node.Scores[i].Weighted; d != 0 {
			all = append(all, Difference{p.Plugin, d})
		}
	}
	slices.SortStableFunc(all, func(a, b Difference) int { return cmp.Compare(max(b.Points, -b.Points), max(a.Points, -a.Points)) })
	return all
}

// Find returns the result of a node, or false if it has no such node.
func (c *Cycle) Find(node sources.SafeText) (cycle.NodeResult, bool) {
	if c.Inspection != nil {
		for _, n := range c.Nodes {
			if n.Node == node {
				return n, true
			}
		}
	}
	return cycle.NodeResult{}, false
}

// Lost says why other has a lower score than node, the plugins against it first: "node-b lost by 4: its requests less balanced
// (NodeResourcesBalancedAllocation −11), but more of the pod's images (ImageLocality +7)".
func (c *Cycle) Lost(node, other cycle.NodeResult) string {
	lost := node.Total - other.Total
	text := fmt.Sprintf("%s lost by %d", other.Node, lost)
	switch {
	case lost == 0:
		text = fmt.Sprintf("%s has the same score", other.Node)
	case lost < 0:
		text = fmt.Sprintf("%s has %d more", other.Node, -lost)
	}
	var against, favour []string
	for _, d := range c.Compare(node, other) {
		sign, points, parts := "+", d.Points, &favour
		if d.Points < 0 {
			sign, points, parts = "−", -d.Points, &against
		}
		if advantage := c.Advantage(d.Plugin, d.Points > 0); advantage != "" {
			*parts = append(*parts, fmt.Sprintf("%s (%s %s%d)", advantage, d.Plugin, sign, points))
		} else {
			*parts = append(*parts, fmt.Sprintf("%s %s%d", d.Plugin, sign, points))
		}
	}
	switch {
	case len(against) > 0 && len(favour) > 0:
		text += ": " + strings.Join(against, ", ") + ", but " + strings.Join(favour, ", ")
	case len(against)+len(favour) > 0:
		text += ": " + strings.Join(append(against, favour...), ", ")
	}
	return text
}

// Summary says which node the cycle chooses and why, the conclusion first. Times are in zone.
func (c *Cycle) Summary(zone words.Zone) []string {
	if c.Inspection == nil {
		return []string{"The cycle is unknown: " + c.Unknown + "."}
	}
	a := c.Actual
	when := ""
	if a != nil && !a.Time.IsZero() {
		when = " at " + zone.Precise(a.Time)
	}
	switch {
	case a == nil:
		return c.choice()
	case !c.Change.None():
		return append(c.choice(), fmt.Sprintf("Without this change, it was bound to %s%s.", a.Node, when))
	case a.Match == Equal:
		return append(c.choice(), fmt.Sprintf("It was bound to %s%s.", a.Node, when))
	case a.Match == Tie:
		return append(c.choice(), fmt.Sprintf("It was bound to %s%s.", a.Node, when))
	}
	lines := []string{fmt.Sprintf("It was bound to %s%s. The rerun has another result: the scheduler had other information.", a.Node, when)}
	lines = append(lines, c.choice()...)
	if actual, ok := c.Find(a.Node); ok && c.Node != "" && actual.Scores != nil {
		lines = append(lines, c.Lost(c.Nodes[0], actual)+".")
	} else if ok {
		lines = append(lines, fmt.Sprintf("Here %s is %s.", a.Node, outcomeText(actual)))
	}
	return append(lines, a.Why...)
}

// Winner returns the node that the cycle chooses: of equal ones, the node to which the pod was bound.
func (c *Cycle) Winner() sources.SafeText {
	if c.Actual != nil && c.Actual.Match == Tie && c.Change.None() {
		return c.Actual.Node
	}
	return c.Node
}

// choice says what the cycle chooses.
func (c *Cycle) choice() []string {
	switch {
	case c.Error != "":
		return []string{"The cycle failed: " + string(c.Error) + "."}
	case c.Node == "":
		return append([]string{"No node is feasible: " + c.rejections() + "."}, c.preemption()...)
	case c.Score.Skipped != "":
		return []string{fmt.Sprintf("%s: %s.", c.Node, c.Score.Skipped)}
	}
	first, _ := c.Find(c.Winner())
	lines := []string{fmt.Sprintf("%s: %d points, the most of %s.", first.Node, first.Total, words.Plural(c.Filter.Feasible, "feasible node"))}
	if others := slices.DeleteFunc(slices.Clone(c.Ties), func(n sources.SafeText) bool { return n == first.Node }); len(others) > 0 {
		with := words.Plural(len(others), "other node")
		if len(others) == 1 {
			with = string(others[0])
		}
		lines[0] = fmt.Sprintf("%s ties with %s at %d points, the most of %s: kube-scheduler chooses between equal nodes at random.", first.Node, with, first.Total, words.Plural(c.Filter.Feasible, "feasible node"))
	}
	if next, ok := c.RunnerUp(); ok {
		lines = append(lines, c.Lost(first, next)+".")
	}
	return lines
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

// Rejected counts the nodes by the plugin that rejected them first, in a sentence. It is empty if none was rejected.
func (c *Cycle) Rejected() string {
	if !slices.ContainsFunc(c.Nodes, func(n cycle.NodeResult) bool { return n.Outcome != cycle.NotEvaluated && len(n.Rejections) > 0 }) {
		return ""
	}
	return c.rejections() + "."
}

// rejections counts the nodes by the plugin that rejected them first.
func (c *Cycle) rejections() string {
	counts := map[string]int{}
	for _, n := range c.Nodes {
		if n.Outcome != cycle.NotEvaluated && len(n.Rejections) > 0 {
			counts[cmp.Or(n.Rejections[0].Plugin, "PreFilter")]++
		}
	}
	if len(counts) == 0 {
		return "there are no nodes"
	}
	var parts []string
	for _, plugin := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b)) }) {
		parts = append(parts, fmt.Sprintf("%s rejects %d", plugin, counts[plugin]))
	}
	parts[0] += fmt.Sprintf(" of %s", words.Plural(c.Filter.Nodes, "node"))
	return strings.Join(parts, ", ")
}

// preemption says what preemption does for a pod that fits nowhere.
func (c *Cycle) preemption() []string {
	p := c.PostFilter
	switch {
	case p == nil:
		return nil
	case p.Node == "" && p.DryRun == 0:
		return []string{"Preemption helps on no node."}
	case p.Node == "":
		return []string{fmt.Sprintf("Preemption was tried on %s and helps on none.", words.Plural(p.DryRun, "node"))}
	}
	text := fmt.Sprintf("Preemption chooses %s", p.Node)
	if n := len(p.Candidates); n > 1 {
		text += fmt.Sprintf(" of %d candidates, decided by %s", n, ruleText[p.Rule])
	}
	lines := []string{text + "."}
	for _, candidate := range p.Candidates {
		if candidate.Node != p.Node {
			continue
		}
		var names []sources.SafeText
		for _, v := range candidate.Victims {
			names = append(names, v.Pod)
		}
		line := "It evicts " + firstNames(names)
		if candidate.PDBViolations > 0 {
			line += fmt.Sprintf("; PodDisruptionBudget violations: %d", candidate.PDBViolations)
		}
		lines = append(lines, line+".")
	}
	return lines
}

// ruleText names what the criteria of preemption compare.
var ruleText = map[cycle.PreemptionRule]string{
	cycle.FewestPDBViolations:   "PodDisruptionBudget violations",
	cycle.LowestHighestPriority: "the priority of the most important victim",
	cycle.LowestPrioritySum:     "the sum of the victims' priorities",
	cycle.FewestVictims:         "the number of victims",
	cycle.LatestStart:           "the start time of the most important victims",
	cycle.AnyOfEqual:            "chance: they are equal",
}

// RuleText names what a criterion of preemption compares: "the number of victims".
func RuleText(rule cycle.PreemptionRule) string { return ruleText[rule] }

func outcomeText(n cycle.NodeResult) string {
	switch n.Outcome {
	case cycle.NotEvaluated:
		return "not evaluated"
	case cycle.Feasible:
		return "feasible"
	}
	if len(n.Rejections) == 0 {
		return "rejected"
	}
	r := n.Rejections[0]
	var reasons []string
	for _, reason := range r.Reasons {
		reasons = append(reasons, string(reason))
	}
	return fmt.Sprintf("rejected by %s: %s", cmp.Or(r.Plugin, "PreFilter"), strings.Join(reasons, ", "))
}
