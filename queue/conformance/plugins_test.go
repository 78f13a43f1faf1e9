package conformance

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	upstream "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/schedq/schedq/queue"
)

// Plugins. A, B and C reject pods; SchedulingGates and two others gate them. Gating plugins and plugins without registered
// events may reject pods, too.
var (
	gatekeepers = []string{"Gate", "Quota"}
	allPlugins  = append([]string{queue.SchedulingGates, "A", "B", "C"}, gatekeepers...)
	rejectors   = []string{"A", "B", "C", "A", "B", "C", "Gate", "Unregistered"}
)

// Events in the cluster, including one with two actions, and events of a pod.
var (
	clusterEvents = []fwk.ClusterEvent{
		{Resource: fwk.Node, ActionType: fwk.Add},
		{Resource: fwk.AssignedPod, ActionType: fwk.Delete},
		{Resource: fwk.Node, ActionType: fwk.UpdateNodeTaint},
		{Resource: fwk.Node, ActionType: fwk.UpdateNodeLabel | fwk.UpdateNodeTaint},
	}
	podEvents = []fwk.ClusterEvent{
		{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodSchedulingGatesEliminated},
		{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodLabel},
		{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodToleration},
		{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodScaleUp},
		{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodScaleDown},
		{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodGeneratedResourceClaim},
		{Resource: fwk.TargetPod, ActionType: fwk.Update},
	}
)

// registrations are events that plugins can register for. Some match several others, so that two
// hint functions of a plugin apply to one event.
var registrations = slices.Concat(clusterEvents[:3], podEvents[:5], []fwk.ClusterEvent{
	{Resource: fwk.Node, ActionType: fwk.Update},
	{Resource: fwk.Node, ActionType: fwk.All},
	{Resource: fwk.Pod, ActionType: fwk.Update},
	{Resource: fwk.Pod, ActionType: fwk.All},
	{Resource: fwk.WildCard, ActionType: fwk.Update},
})

// plugins implements the plugins of both queues. Its results depend on the plugin, the event, a
// seed and a mood.
type plugins struct {
	seed, mood int
	looks      bool // hints depend on the pod, its labels and the presence of objects
	// closed are the gated pods with their gating plugins.
	closed map[string][]string
	// heard are the registrations by profile and plugin.
	heard map[[2]string][]fwk.ClusterEvent
}

func newPlugins(seed int, looks bool) *plugins {
	p := &plugins{seed: seed, looks: looks, closed: map[string][]string{}, heard: map[[2]string][]fwk.ClusterEvent{}}
	for _, profile := range profiles {
		for _, plugin := range allPlugins {
			for _, r := range registrations {
				if p.registers(profile, plugin, r) {
					p.heard[[2]string{profile, plugin}] = append(p.heard[[2]string{profile, plugin}], r)
				}
			}
		}
	}
	return p
}

func (p *plugins) draw(words ...any) uint32 {
	h := fnv.New32a()
	fmt.Fprint(h, p.seed, words)
	return h.Sum32()
}

// Profiles of the scheduler. Upstream's event handlers do not queue pods of others.
var profiles = []string{"", "second"}

// registered returns the registrations of plugin in a profile that match e.
func (p *plugins) registered(profile, plugin string, e fwk.ClusterEvent) []fwk.ClusterEvent {
	var matching []fwk.ClusterEvent
	for _, r := range p.heard[[2]string{profile, plugin}] {
		if framework.MatchClusterEvents(r, e) {
			matching = append(matching, r)
		}
	}
	return matching
}

// registers reports whether plugin registers for r in a profile.
func (p *plugins) registers(profile, plugin string, r fwk.ClusterEvent) bool {
	switch plugin {
	case queue.SchedulingGates:
		return r.ActionType == fwk.UpdatePodSchedulingGatesEliminated
	case "Gate":
		return r.Resource == fwk.AssignedPod
	case "Unregistered":
		return false
	}
	return p.draw(profile, plugin, r.Resource, r.ActionType)%3 == 0
}

// Registered implements queue.Plugins.
func (p *plugins) Registered(plugin string, e fwk.ClusterEvent) bool {
	return slices.ContainsFunc(profiles, func(profile string) bool { return len(p.registered(profile, plugin, e)) > 0 })
}

// answer returns the result of plugin's hint function for a registration: queue, skip, fail, or
// fail with queue.
func (p *plugins) answer(plugin string, r fwk.ClusterEvent, pod *v1.Pod, oldObj, newObj any) (fwk.QueueingHint, error) {
	words := []any{plugin, r.Resource, r.ActionType, p.mood}
	if p.looks && pod != nil {
		words = append(words, pod.UID, len(pod.Labels), oldObj == nil, newObj == nil)
	}
	broken := errors.New("the hint is broken")
	switch p.draw(words...) % 6 {
	case 0, 1:
		return fwk.Queue, nil
	case 2:
		return fwk.QueueSkip, broken
	case 3:
		return fwk.Queue, broken
	}
	return fwk.QueueSkip, nil
}

// Hint implements queue.Plugins.
func (p *plugins) Hint(plugin string, pod *v1.Pod, e fwk.ClusterEvent, oldObj, newObj any) (fwk.QueueingHint, error) {
	for _, r := range p.registered(pod.Spec.SchedulerName, plugin, e) {
		if hint, err := p.answer(plugin, r, pod, oldObj, newObj); hint == fwk.Queue || err != nil {
			return hint, err
		}
	}
	return fwk.QueueSkip, nil
}

// Interested implements queue.Plugins.
func (p *plugins) Interested(e fwk.ClusterEvent) bool {
	return slices.ContainsFunc(allPlugins, func(plugin string) bool {
		return slices.ContainsFunc(profiles, func(profile string) bool { return len(p.registered(profile, plugin, e)) > 0 })
	})
}

// PreEnqueue implements queue.Plugins. It calls the plugin that gates the pod first.
func (p *plugins) PreEnqueue(pod *v1.Pod, gating string) string {
	held := p.closed[pod.Name]
	switch {
	case len(pod.Spec.SchedulingGates) > 0:
		return queue.SchedulingGates
	case slices.Contains(held, gating):
		return gating
	case len(held) > 0:
		return held[0]
	}
	return ""
}

// hintMap converts p for upstream.
func (p *plugins) hintMap() upstream.QueueingHintMapPerProfile {
	all := upstream.QueueingHintMapPerProfile{}
	for _, profile := range profiles {
		hints := upstream.QueueingHintMap{}
		all[profile] = hints
		for _, plugin := range allPlugins {
			for _, r := range p.heard[[2]string{profile, plugin}] {
				hints[r] = append(hints[r], &upstream.QueueingHintFunction{
					PluginName: plugin,
					QueueingHintFn: func(_ klog.Logger, pod *v1.Pod, oldObj, newObj any) (fwk.QueueingHint, error) {
						return p.answer(plugin, r, pod, oldObj, newObj)
					},
				})
			}
		}
	}
	return all
}

// preEnqueue converts p for upstream.
func (p *plugins) preEnqueue() map[string]map[string]fwk.PreEnqueuePlugin {
	all := map[string]fwk.PreEnqueuePlugin{queue.SchedulingGates: gate{queue.SchedulingGates, p}}
	for _, name := range gatekeepers {
		all[name] = gate{name, p}
	}
	of := map[string]map[string]fwk.PreEnqueuePlugin{}
	for _, profile := range profiles {
		of[profile] = all
	}
	return of
}

type gate struct {
	name string
	of   *plugins
}

func (g gate) Name() string { return g.name }

func (g gate) PreEnqueue(_ context.Context, pod *v1.Pod) *fwk.Status {
	held := slices.Contains(g.of.closed[pod.Name], g.name)
	if g.name == queue.SchedulingGates {
		held = len(pod.Spec.SchedulingGates) > 0
	}
	if held {
		return fwk.NewStatus([]fwk.Code{fwk.UnschedulableAndUnresolvable, fwk.Pending, fwk.Error}[g.of.draw(pod.Name, g.name)%3], "gated")
	}
	return nil
}

// script returns p as the hint commands of a script, which cannot express hints that depend on
// pods.
func (p *plugins) script() string {
	var s strings.Builder
	if p.looks {
		s.WriteString("# The hints look at pods.\n\n")
	}
	for _, plugin := range allPlugins {
		for _, e := range slices.Concat(clusterEvents, podEvents) {
			if len(p.registered("", plugin, e)) > 0 {
				hint, err := p.Hint(plugin, &v1.Pod{}, e, nil, nil)
				answer := map[fwk.QueueingHint]string{fwk.Queue: "queue", fwk.QueueSkip: "skip"}[hint]
				if err != nil {
					answer = "fail"
				}
				fmt.Fprintf(&s, "hint %s %s %s\n----\n\n", plugin, e.Label(), answer)
			}
		}
	}
	return s.String()
}

// means returns the events of a pod's update, from upstream.
func means(oldPod, newPod *v1.Pod) []fwk.ClusterEvent {
	return framework.PodSchedulingPropertiesChange(newPod, oldPod, true)
}
