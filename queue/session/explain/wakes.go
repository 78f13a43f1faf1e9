package explain

import (
	"slices"
	"strings"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/verdict"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// NewHints returns the events that the in-tree plugins listen for according to plugins. Nil means that
// nothing is known.
func NewHints(plugins queue.Plugins) Hints {
	w := Hints{events: queue.InjectableLabels()}
	if plugins == nil {
		return w
	}
	w.plugins, w.own = map[string][]string{}, map[string][]string{}
	for _, name := range append(cluster.RejectorPlugins(), queue.SchedulingGates, names.DefaultPreemption) {
		for i, event := range queue.InjectableEvents() {
			if plugins.Registered(name, event) {
				w.plugins[name] = append(w.plugins[name], w.events[i])
			}
		}
		for _, action := range ownUpdates {
			if event := (fwk.ClusterEvent{Resource: fwk.TargetPod, ActionType: action}); plugins.Registered(name, event) {
				w.own[name] = append(w.own[name], event.Label())
			}
		}
	}
	return w
}

// ownUpdates are the updates of a waiting pod that may make it schedulable.
var ownUpdates = []fwk.ActionType{
	fwk.UpdatePodLabel, fwk.UpdatePodScaleDown, fwk.UpdatePodToleration,
	fwk.UpdatePodSchedulingGatesEliminated, fwk.UpdatePodGeneratedResourceClaim,
}

// PluginWakes are the events that a plugin listens for. The plugin's hint function then decides whether
// one helps the pod.
type PluginWakes struct {
	Plugin string `json:"plugin"`
	// Events is empty if it is unknown what the plugin listens for: any event may wake the pod then.
	Events []string `json:"events"`
}

// Wakes returns what may wake p, by plugin: those that rejected its last attempt, or the one that gates
// it. It is empty for other pods.
func (m *Moment) Wakes(p *board.Pod) []PluginWakes {
	plugins := p.RejectorPlugins()
	switch p.Tier {
	case queue.Unschedulable:
	case queue.Gated:
		plugins = nil
		if p.GatingPlugin != "" {
			plugins = []string{p.GatingPlugin}
		}
	default:
		return nil
	}
	var all []PluginWakes
	for _, name := range plugins {
		all = append(all, PluginWakes{name, append(append([]string{}, m.Hints.plugins[name]...), m.Hints.own[name]...)})
	}
	return all
}

// String describes which pods an event moves in a what-if.
func (w Hints) String() string {
	if w.plugins == nil {
		return "no queueing hints: any event may wake any rejected pod"
	}
	return "events wake only pods whose rejecting plugins listen for them"
}

// waitsFor says in a sentence which events may wake a pod that plugins rejected.
func (w Hints) waitsFor(plugins []string) string {
	if verdict.Incomplete(plugins) && len(plugins) == 1 {
		return "Any event may wake it."
	}
	var waits []string
	for _, event := range w.events {
		if slices.ContainsFunc(plugins, func(p string) bool { return slices.Contains(w.plugins[p], event) }) {
			waits = append(waits, event)
		}
	}
	known := !slices.ContainsFunc(plugins, func(p string) bool { return w.plugins[p] == nil })
	switch {
	case verdict.Incomplete(plugins) && len(waits) == 0:
		return "Events that the known plugins listen for can wake it, and others that are unknown."
	case verdict.Incomplete(plugins):
		return "Events that can wake it: " + strings.Join(waits, ", ") + ", and others that are unknown."
	case len(waits) > 0 && known:
		return "Events that can wake it: " + strings.Join(waits, ", ") + "."
	case len(plugins) == 1:
		return "Events that this plugin listens for can wake it."
	}
	return "Events that one of these plugins listens for can wake it."
}
