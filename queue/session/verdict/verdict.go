package verdict

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/sources"
)

// Verdict is the outcome of a scheduling attempt in the model.
type Verdict struct {
	// At is when the attempt ended.
	At time.Time
	// Took is the duration of the scheduling cycle, in model time.
	Took time.Duration
	// Message is upstream's message. Empty if a node was chosen.
	Message sources.SafeText
	// Reasons count the rejected nodes by plugin and reason, most nodes first.
	Reasons []Reason
	// Nodes is the number of nodes in the cluster, Evaluated of those that were filtered, Feasible of those that fit.
	Nodes, Evaluated, Feasible int
	// Nominated is the node on which victims are preempted, Placed the node that was chosen.
	Nominated, Placed string
}

// Reason is a plugin's reason to reject nodes.
type Reason struct {
	Plugin string
	Text   sources.SafeText
	Nodes  int
	// Final is true if preemption on those nodes can't help.
	Final bool
}

// New returns the verdict of attempt a, whose scheduling cycle lasted from began to at.
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

// Rest returns the message without the reasons: the part about preemption, or the whole message if it does not count
// nodes.
func (v *Verdict) Rest() string {
	_, _, rest := ReadMessage(string(v.Message))
	return rest
}

// ByPlugin returns the reasons with one count for each plugin and text, ignoring Final.
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

// ReadMessage parses a message such as "0/5 nodes are available: 2 Insufficient cpu, 3 node(s) were unschedulable.
// preemption: ..." (framework/types.go, FitError). A reason without a count, which PreFilter gives, counts for all nodes.
// rest is the part after the reasons, or for another message all of it.
func ReadMessage(message string) (nodes int, reasons []Reason, rest string) {
	count, list, ok := strings.Cut(message, " nodes are available: ")
	count, none := strings.CutPrefix(count, "0/")
	nodes, err := strconv.Atoi(count)
	if !ok || !none || err != nil {
		return 0, nil, message
	}
	list, rest, _ = strings.Cut(list, ". ")
	for _, part := range strings.Split(strings.TrimSuffix(list, "."), ", ") {
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

// DoesNotFit is the prefix of the message of an attempt that plugins rejected (framework.NoNodeAvailableMsg). Other
// messages are those of errors and of clusters without nodes, which no plugin caused.
const DoesNotFit = "0/"

// FailsBinding reports whether message is that of a failed binding cycle, whose scheduling cycle had chosen a node
// (framework/runtime/framework.go, RunPreBindPreFlights, RunPreBindPlugins and RunBindPlugins).
func FailsBinding(message string) bool {
	return strings.HasPrefix(message, "running PreBind") || strings.HasPrefix(message, "running Bind plugin ")
}
