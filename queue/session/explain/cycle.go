package explain

import (
	"cmp"
	"fmt"
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
	// Attempt is the number of the attempt, and 0 for a hypothetical one.
	Attempt words.AttemptCount `json:"-"`
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
	Time time.Time        `json:"time"`
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
	c.Attempt = popped.AttemptCount()
	if bound == nil || bound.Pod.Node == "" {
		return
	}
	c.Actual = &Placement{Node: sources.Sanitize(bound.Pod.Node), Time: bound.Time.UTC(), Match: Different}
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

// Find returns the result of a node, or false if there is no node of that name.
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

// Lost says why other has a lower score than node: "node-b lost by 4: NodeResourcesBalancedAllocation −11, ImageLocality +7".
func (c *Cycle) Lost(node, other cycle.NodeResult) string {
	lost := node.Total - other.Total
	text := fmt.Sprintf("%s lost by %d", other.Node, lost)
	switch {
	case lost == 0:
		text = fmt.Sprintf("%s has the same score", other.Node)
	case lost < 0:
		text = fmt.Sprintf("%s has %d more", other.Node, -lost)
	}
	var parts []string
	for _, d := range c.Compare(node, other) {
		sign := "+"
		if d.Points < 0 {
			sign = "−"
		}
		parts = append(parts, fmt.Sprintf("%s %s%d", d.Plugin, sign, max(d.Points, -d.Points)))
	}
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text
}
