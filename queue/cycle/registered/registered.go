// Package registered contains the events that the plugins of each release of kube-scheduler registered for, and
// implements queue.Plugins with them.
//
// A release's table is the result of its buildQueueingHintMap (pkg/scheduler/scheduler.go) with the default plugins and
// feature gates. The command in make creates it. A table contains the names of hint functions; the functions
// themselves are v1.37's.
package registered

import (
	"embed"
	"fmt"
	"strings"

	fwk "k8s.io/kube-scheduler/framework"
)

//go:embed v*.txt
var tables embed.FS

// Event is an event that a plugin registered for.
type Event struct {
	fwk.ClusterEvent
	// Hint is the name of the hint function. If it is empty, every such event woke the pods that the plugin rejected.
	Hint string
}

// In returns the registered events of a minor release such as v1.31, by plugin. It returns nil for a release without a
// table: v1.37, whose plugins are built in, and unknown ones.
func In(release string) (map[string][]Event, error) {
	data, err := tables.ReadFile(release + ".txt")
	if err != nil {
		return nil, nil
	}
	return parse(string(data))
}

// parse parses a table. Each line contains a plugin, a resource, actions and a hint function, or "-" without one.
func parse(table string) (map[string][]Event, error) {
	events := map[string][]Event{}
	for n, line := range strings.Split(table, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) != 4 {
			return nil, fmt.Errorf("line %d has %d words, want plugin, resource, actions and hint function", n+1, len(fields))
		}
		e := Event{ClusterEvent: fwk.ClusterEvent{Resource: fwk.EventResource(fields[1])}, Hint: strings.TrimPrefix(fields[3], "-")}
		for _, name := range strings.Split(fields[2], "|") {
			bit := action(name)
			if bit == 0 {
				return nil, fmt.Errorf("line %d: unknown action %q", n+1, name)
			}
			e.ActionType |= bit
		}
		events[fields[0]] = append(events[fields[0]], e)
	}
	return events, nil
}

// WithHints returns the events that a plugin registered for in an older release, with its hint functions of today: the one
// for the same event or, without one, for the same resource. It omits events of unassigned pods that the plugin no longer
// registers for: before v1.37, plugins registered for all pods, and the hint function distinguished them.
func WithHints(older []Event, today []fwk.ClusterEventWithHint) []fwk.ClusterEventWithHint {
	today = Unrolled(today)
	var events []fwk.ClusterEventWithHint
	for _, o := range older {
		for _, e := range Unrolled([]fwk.ClusterEventWithHint{{Event: o.ClusterEvent}}) {
			if o.Hint == "" {
				events = append(events, e)
				continue
			}
			for _, t := range today {
				if t.Event.Resource != e.Event.Resource {
					continue
				}
				e.QueueingHintFn = t.QueueingHintFn
				if both := t.Event.ActionType & e.Event.ActionType; both != 0 {
					events = append(events, fwk.ClusterEventWithHint{
						Event: fwk.ClusterEvent{Resource: e.Event.Resource, ActionType: both}, QueueingHintFn: t.QueueingHintFn,
					})
					e.Event.ActionType &^= both
				}
			}
			if unbound := e.Event.Resource == fwk.UnscheduledPod || e.Event.Resource == fwk.TargetPod; e.Event.ActionType != 0 && !unbound {
				events = append(events, e)
			}
		}
	}
	return events
}

// podResources are the resources that fwk.Pod stands for.
var podResources = []fwk.EventResource{fwk.AssignedPod, fwk.UnscheduledPod, fwk.TargetPod}

// Unrolled replaces events of fwk.Pod by those of assigned, unscheduled and target pods.
func Unrolled(events []fwk.ClusterEventWithHint) []fwk.ClusterEventWithHint {
	var all []fwk.ClusterEventWithHint
	for _, e := range events {
		if e.Event.Resource != fwk.Pod {
			all = append(all, e)
			continue
		}
		for _, resource := range podResources { // as framework.UnrollPodEvent
			all = append(all, fwk.ClusterEventWithHint{Event: fwk.ClusterEvent{Resource: resource, ActionType: e.Event.ActionType}, QueueingHintFn: e.QueueingHintFn})
		}
	}
	return all
}

// action returns the ActionType with that name in any release, or 0.
func action(name string) fwk.ActionType {
	switch name {
	case "Add":
		return fwk.Add
	case "Delete":
		return fwk.Delete
	case "Update":
		return fwk.Update
	case "UpdateNodeAllocatable":
		return fwk.UpdateNodeAllocatable
	case "UpdateNodeLabel":
		return fwk.UpdateNodeLabel
	case "UpdateNodeTaint":
		return fwk.UpdateNodeTaint
	case "UpdateNodeCondition":
		return fwk.UpdateNodeCondition
	case "UpdateNodeAnnotation":
		return fwk.UpdateNodeAnnotation
	case "UpdateNodeDeclaredFeature":
		return fwk.UpdateNodeDeclaredFeature
	case "UpdatePodLabel":
		return fwk.UpdatePodLabel
	case "UpdatePodScaleDown":
		return fwk.UpdatePodScaleDown
	case "UpdatePodToleration", "UpdatePodTolerations": // v1.32's name
		return fwk.UpdatePodToleration
	case "UpdatePodSchedulingGatesEliminated":
		return fwk.UpdatePodSchedulingGatesEliminated
	case "UpdatePodGeneratedResourceClaim":
		return fwk.UpdatePodGeneratedResourceClaim
	}
	return 0
}
