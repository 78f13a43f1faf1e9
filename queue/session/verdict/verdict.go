package verdict

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/sources"
)

// Verdict is what an attempt came to in the model.
type Verdict struct {
	// At is when the attempt ended.
	At time.Time
	// Took is how long the scheduling cycle took in the model.
	Took time.Duration
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

// New returns what attempt a came to, whose cycle lasted from began to at.
func New(began, at time.Time, a *cycle.Attempt) *Verdict {
	v := &Verdict{
		At: at, Took: at.Sub(began), Message: sources.Sanitize(a.Message), Nodes: a.Nodes, Evaluated: a.Evaluated, Feasible: a.Feasible,
		Nominated: a.Nominated, Placed: a.Node,
	}
	for _, r := range a.Reasons {
		v.Reasons = append(v.Reasons, Reason{Plugin: r.Plugin, Text: sources.Sanitize(r.Text), Nodes: r.Nodes, Final: r.Final})
	}
	return v
}

// Rest returns what the message says besides the reasons: of preemption. All of it if it is no count of
// nodes.
func (v *Verdict) Rest() string {
	_, _, rest := ReadMessage(string(v.Message))
	return rest
}

// ByPlugin returns the reasons with one count for each plugin and text, whether preemption can help or not.
func (v *Verdict) ByPlugin() []Reason {
	var merged []Reason
	for _, r := range v.Reasons {
		r.Final = false
		i := slices.IndexFunc(merged, func(m Reason) bool { return m.Plugin == r.Plugin && m.Text == r.Text })
		if i < 0 {
			merged = append(merged, r)
		} else {
			merged[i].Nodes += r.Nodes
		}
	}
	slices.SortStableFunc(merged, func(a, b Reason) int { return b.Nodes - a.Nodes })
	return merged
}

// ReadMessage reads upstream's "0/5 nodes are available: 2 Insufficient cpu, 3 node(s) were unschedulable.
// preemption: ...". A reason that PreFilter gave has no count: it is about all nodes. (framework/types.go,
// FitError.)
func ReadMessage(message string) (nodes int, reasons []Reason, rest string) {
	count, said, ok := strings.Cut(message, " nodes are available: ")
	count, none := strings.CutPrefix(count, "0/")
	nodes, err := strconv.Atoi(count)
	if !ok || !none || err != nil {
		return 0, nil, message
	}
	said, rest, _ = strings.Cut(said, ". ")
	for _, part := range strings.Split(strings.TrimSuffix(said, "."), ", ") {
		number, text, _ := strings.Cut(part, " ")
		n, err := strconv.Atoi(number)
		last := len(reasons) - 1
		switch {
		case last >= 0 && PluginOf(string(reasons[last].Text)) == "" && PluginOf(string(reasons[last].Text)+", "+part) != "":
			reasons[last].Text += sources.SafeText(", " + part) // a comma and a number in a reason
		case err == nil && text != "":
			reasons = append(reasons, Reason{Text: sources.SafeText(text), Nodes: n})
		case last >= 0: // a comma in a reason
			reasons[last].Text += sources.SafeText(", " + part)
		default:
			reasons = append(reasons, Reason{Text: sources.SafeText(part), Nodes: nodes})
		}
	}
	return nodes, reasons, rest
}

// DoesNotFit begins the message of an attempt that plugins rejected (framework.NoNodeAvailableMsg). Others
// are errors, and of a cluster without nodes: no plugin is to blame.
const DoesNotFit = "0/"

// FailsBinding reports whether message is that of a binding cycle which failed: the loop had placed the pod
// (framework/runtime/framework.go, RunPreBindPreFlights, RunPreBindPlugins and RunBindPlugins).
func FailsBinding(message string) bool {
	return strings.HasPrefix(message, "running PreBind") || strings.HasPrefix(message, "running Bind plugin ")
}
