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

// The plugins of the test. A, B and C reject pods, SchedulingGates and Gate keep them out of activeQ.
var (
	rejectors  = []string{"A", "B", "C"}
	allPlugins = append([]string{queue.SchedulingGates, "Gate"}, rejectors...)
)

// The events of the test. The first three happen in the cluster, the others to the pod itself.
var events = []fwk.ClusterEvent{
	{Resource: fwk.Node, ActionType: fwk.Add},
	{Resource: fwk.AssignedPod, ActionType: fwk.Delete},
	{Resource: fwk.Node, ActionType: fwk.UpdateNodeTaint},
	{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodSchedulingGatesEliminated},
	{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodLabel},
	{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodToleration},
}

// plugins answers for both queues alike: what it says of a plugin and an event depends on its seed.
type plugins struct {
	seed int
	// closed are the pods that Gate keeps out.
	closed map[string]bool
}

func (p *plugins) draw(words ...string) uint32 {
	h := fnv.New32a()
	fmt.Fprint(h, p.seed, words)
	return h.Sum32()
}

// Registered implements queue.Plugins. An event that is more specific than a registered one matches it,
// which the events here leave no room for.
func (p *plugins) Registered(plugin string, e fwk.ClusterEvent) bool {
	switch plugin {
	case queue.SchedulingGates:
		return e.ActionType == fwk.UpdatePodSchedulingGatesEliminated
	case "Gate":
		return e.Resource == fwk.AssignedPod
	}
	return slices.Contains(events, e) && p.draw(plugin, e.Label())%3 != 0
}

// answer is what plugin's hint function for e says: queue, skip or fail.
func (p *plugins) answer(plugin string, e fwk.ClusterEvent) string {
	return [...]string{"queue", "queue", "skip", "fail"}[p.draw(plugin, e.Label(), "hint")%4]
}

// Hint implements queue.Plugins.
func (p *plugins) Hint(plugin string, _ *v1.Pod, e fwk.ClusterEvent, _, _ any) (fwk.QueueingHint, error) {
	if !p.Registered(plugin, e) {
		return fwk.QueueSkip, nil
	}
	switch p.answer(plugin, e) {
	case "queue":
		return fwk.Queue, nil
	case "fail":
		return fwk.QueueSkip, errors.New("the hint is broken")
	}
	return fwk.QueueSkip, nil
}

// Interested implements queue.Plugins.
func (p *plugins) Interested(e fwk.ClusterEvent) bool {
	return slices.ContainsFunc(allPlugins, func(plugin string) bool { return p.Registered(plugin, e) })
}

// PreEnqueue implements queue.Plugins. No pod of the test is held by both plugins: upstream asks them in
// the order of a map.
func (p *plugins) PreEnqueue(pod *v1.Pod, _ string) string {
	switch {
	case len(pod.Spec.SchedulingGates) > 0:
		return queue.SchedulingGates
	case p.closed[pod.Name]:
		return "Gate"
	}
	return ""
}

// hintMap is p for upstream.
func (p *plugins) hintMap() upstream.QueueingHintMapPerProfile {
	hints := upstream.QueueingHintMap{}
	for _, e := range events {
		for _, plugin := range allPlugins {
			if p.Registered(plugin, e) {
				hints[e] = append(hints[e], &upstream.QueueingHintFunction{
					PluginName: plugin,
					QueueingHintFn: func(_ klog.Logger, pod *v1.Pod, oldObj, newObj any) (fwk.QueueingHint, error) {
						return p.Hint(plugin, pod, e, oldObj, newObj)
					},
				})
			}
		}
	}
	return upstream.QueueingHintMapPerProfile{"": hints}
}

// preEnqueue is p for upstream.
func (p *plugins) preEnqueue() map[string]map[string]fwk.PreEnqueuePlugin {
	return map[string]map[string]fwk.PreEnqueuePlugin{"": {
		queue.SchedulingGates: gate{queue.SchedulingGates, p}, "Gate": gate{"Gate", p},
	}}
}

type gate struct {
	name string
	of   *plugins
}

func (g gate) Name() string { return g.name }

func (g gate) PreEnqueue(_ context.Context, pod *v1.Pod) *fwk.Status {
	if g.of.PreEnqueue(pod, "") == g.name {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "gated")
	}
	return nil
}

// script writes p as the hint commands of a queue script.
func (p *plugins) script() string {
	var s strings.Builder
	for _, plugin := range allPlugins {
		for _, e := range events {
			if p.Registered(plugin, e) {
				fmt.Fprintf(&s, "hint %s %s %s\n----\n\n", plugin, e.Label(), p.answer(plugin, e))
			}
		}
	}
	return s.String()
}

// means is what an update of a pod means, by upstream's own rules.
func means(oldPod, newPod *v1.Pod) []fwk.ClusterEvent {
	return framework.PodSchedulingPropertiesChange(newPod, oldPod, true)
}
