// Package registered knows which events the plugins of each release of kube-scheduler registered for, and of which
// of them a hint function was asked. It answers the queue by that.
//
// Each table is what buildQueueingHintMap (pkg/scheduler/scheduler.go) of that release makes with the plugins and the
// feature gates that it has by default: "make" beside this file has a release's own code write it. The hint functions
// themselves are not in it. They are today's, found by the event.
package registered

import (
	"embed"
	"fmt"
	"strings"

	fwk "k8s.io/kube-scheduler/framework"
)

//go:embed v*.txt
var tables embed.FS

// Event is what a plugin registered for.
type Event struct {
	fwk.ClusterEvent
	// Hint is the name of the hint function that was asked. It is empty if every such event woke the pods that the
	// plugin had rejected.
	Hint string
}

// In returns what the plugins of that minor release, such as v1.31, registered for, by plugin. It is nil for a release
// of which there is no table: that is today's, which tells itself, or one that is not known.
func In(release string) (map[string][]Event, error) {
	if release == newest {
		return nil, nil
	}
	return read(release)
}

// newest is the release that is built in. Its table is for who has not built it in: see ByTable.
const newest = "v1.37"

// read returns the table of that minor release, or nil if there is none.
func read(release string) (map[string][]Event, error) {
	data, err := tables.ReadFile(release + ".txt")
	if err != nil {
		return nil, nil
	}
	return parse(string(data))
}

// parse reads a table: a line for each event, of plugin, resource, actions and hint function, with "-" for none.
func parse(table string) (map[string][]Event, error) {
	events := map[string][]Event{}
	for n, line := range strings.Split(table, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) != 4 {
			return nil, fmt.Errorf("line %d has %d words in place of plugin, resource, actions and hint function", n+1, len(fields))
		}
		e := Event{ClusterEvent: fwk.ClusterEvent{Resource: fwk.EventResource(fields[1])}, Hint: strings.TrimPrefix(fields[3], "-")}
		for _, name := range strings.Split(fields[2], "|") {
			bit := action(name)
			if bit == 0 {
				return nil, fmt.Errorf("line %d: there is no action %q", n+1, name)
			}
			e.ActionType |= bit
		}
		events[fields[0]] = append(events[fields[0]], e)
	}
	return events, nil
}

// WithHints returns what a plugin registered for in an older release, with the hint functions that it has today: the
// one for the same event, or else one for the same resource. Events of pods without a node that it registers for no
// more are left out: before v1.37 every kind of pod was registered for at once, and the hint told them apart.
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

// kindsOfPod are what an event of any pod is one of.
var kindsOfPod = []fwk.EventResource{fwk.AssignedPod, fwk.UnscheduledPod, fwk.TargetPod}

// Unrolled returns events with those of any pod as those of assigned, unscheduled and target pods.
func Unrolled(events []fwk.ClusterEventWithHint) []fwk.ClusterEventWithHint {
	var all []fwk.ClusterEventWithHint
	for _, e := range events {
		if e.Event.Resource != fwk.Pod {
			all = append(all, e)
			continue
		}
		for _, kind := range kindsOfPod { // framework.UnrollPodEvent
			all = append(all, fwk.ClusterEventWithHint{Event: fwk.ClusterEvent{Resource: kind, ActionType: e.Event.ActionType}, QueueingHintFn: e.QueueingHintFn})
		}
	}
	return all
}

// action returns the ActionType of that name, which another release may have had, or 0 if there is none.
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
	case "UpdatePodToleration", "UpdatePodTolerations": // as v1.32 called it
		return fwk.UpdatePodToleration
	case "UpdatePodSchedulingGatesEliminated":
		return fwk.UpdatePodSchedulingGatesEliminated
	case "UpdatePodGeneratedResourceClaim":
		return fwk.UpdatePodGeneratedResourceClaim
	}
	return 0
}
