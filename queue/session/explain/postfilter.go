package explain

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/verdict"
	"github.com/schedq/schedq/queue/session/words"
)

// placement is upstream's message about a preemption that found victims (v1.37: framework/preemption/preemption.go).
var placement = regexp.MustCompile(`^found a potential placement for pod on node (\S+), preempting (\d+) victims$`)

// PostFilter returns a sentence for the part of a scheduler's message after its reasons, which the PostFilter plugins
// wrote. A part of an unknown form stays as it is, with its origin in front. nominated is the node to which the pod is
// nominated now; empty if it is not.
func PostFilter(rest, nominated string) string {
	before, said, preemption := strings.Cut(rest, "preemption: ")
	before = strings.TrimSuffix(before, ", ")
	switch before {
	case "", "no new claims to deallocate", "not found": // by DynamicResources: it had nothing to do
	default:
		return "PostFilter: " + rest
	}
	if !preemption {
		return ""
	}
	switch said = strings.TrimSuffix(said, "."); said {
	case "not eligible due to preemptionPolicy=Never":
		return "Preemption: the pod's preemptionPolicy is Never."
	case "not eligible due to a terminating pod on the nominated node":
		return "Preemption: it waits for evicted pods on its nominated node to end."
	}
	if m := placement.FindStringSubmatch(said); m != nil {
		n, _ := strconv.Atoi(m[2])
		text := fmt.Sprintf("Preemption: it chose %s and evicts %s there.", m[1], words.Plural(n, "pod"))
		if nominated == "" {
			text += fmt.Sprintf(" The pod is not nominated to %s any more.", m[1])
		}
		return text
	}
	nodes, reasons, after := verdict.ReadMessage(said + ".")
	if nodes == 0 || after != "" {
		return rest
	}
	var parts []string
	for _, r := range reasons {
		all := r.Nodes == nodes && len(reasons) == 1
		count := words.Plural(r.Nodes, "node")
		switch {
		case r.Text == noHelp && all:
			parts = append(parts, "it would not help on any node")
		case r.Text == noHelp:
			parts = append(parts, "it would not help on "+count)
		case r.Text == noVictims && all:
			parts = append(parts, "no node has a lower-priority pod to evict")
		case r.Text == noVictims && r.Nodes == 1:
			parts = append(parts, "1 node has no lower-priority pod to evict")
		case r.Text == noVictims:
			parts = append(parts, count+" have no lower-priority pod to evict")
		default:
			parts = append(parts, fmt.Sprintf("on %s, evicting all lower-priority pods would leave %q", count, r.Text))
		}
	}
	return fmt.Sprintf("Preemption: %s.", strings.Join(parts, "; "))
}

// Upstream's reasons for nodes where preemption was not tried or found no victims (v1.37:
// framework/preemption/preemption.go, plugins/defaultpreemption/default_preemption.go).
const (
	noHelp    = "Preemption is not helpful for scheduling"
	noVictims = "No preemption victims found for incoming pod"
)

// PostFilterOf returns what the PostFilter plugins reported in p's last attempt. It is empty if the message has no
// reasons before, since it is all shown then.
func PostFilterOf(v *verdict.Verdict, p *board.Pod) string {
	if len(v.Reasons) == 0 {
		return ""
	}
	return PostFilter(v.Rest(), p.NominatedNode)
}
