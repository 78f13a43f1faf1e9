package session

import (
	"time"

	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/sources"
)

// Verdict is what an attempt came to in the model.
type Verdict struct {
	At time.Time
	// Message is upstream's sentence. Empty if the pod was placed.
	Message sources.SafeText
	// Reasons count the nodes by plugin and reason, most nodes first.
	Reasons []Reason
	// Nodes counts the nodes there were, Evaluated those that were looked at, Feasible those that fit.
	Nodes, Evaluated, Feasible int
	// Nominated is where victims are preempted, Placed where the pod was assumed to run.
	Nominated, Placed string
}

// Reason is why a plugin turned nodes down, and how many.
type Reason struct {
	Plugin string
	Text   sources.SafeText
	Nodes  int
	// Final is true if no preemption on those nodes can help.
	Final bool
}

func newVerdict(at time.Time, a *cycle.Attempt) *Verdict {
	v := &Verdict{
		At: at, Message: sources.Sanitize(a.Message), Nodes: a.Nodes, Evaluated: a.Evaluated, Feasible: a.Feasible,
		Nominated: a.Nominated, Placed: a.Node,
	}
	for _, r := range a.Reasons {
		v.Reasons = append(v.Reasons, Reason{Plugin: r.Plugin, Text: sources.Sanitize(r.Text), Nodes: r.Nodes, Final: r.Final})
	}
	return v
}
