package cycle

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle/registered"
)

var _ queue.Plugins = (*Plugins)(nil)

// TestRegistered: what upstream's documentation says of its plugins' events.
func TestRegistered(t *testing.T) {
	p, err := InTree()
	if err != nil {
		t.Fatal(err)
	}
	event := func(r fwk.EventResource, a fwk.ActionType) fwk.ClusterEvent {
		return fwk.ClusterEvent{Resource: r, ActionType: a}
	}
	for _, c := range []struct {
		plugin string
		event  fwk.ClusterEvent
		want   bool
	}{
		{"NodeResourcesFit", event(fwk.AssignedPod, fwk.Delete), true},
		{"NodeResourcesFit", event(fwk.Node, fwk.UpdateNodeAllocatable), true},
		{"NodeResourcesFit", event(fwk.PersistentVolume, fwk.Add), false},
		{"TaintToleration", event(fwk.Node, fwk.UpdateNodeTaint), true},
		{"TaintToleration", event(fwk.Node, fwk.UpdateNodeAllocatable), false},
		{"TaintToleration", event(fwk.AssignedPod, fwk.Delete), false},
		{"NodePorts", event(fwk.AssignedPod, fwk.Delete), true},
		{"NodePorts", event(fwk.AssignedPod, fwk.Add), false},
		{"InterPodAffinity", event(fwk.AssignedPod, fwk.Add), true},
		{"VolumeBinding", event(fwk.PersistentVolumeClaim, fwk.Add), true},
		{"SchedulingGates", event(fwk.Node, fwk.Add), false},
		{"SchedulingGates", event(fwk.TargetPod, fwk.UpdatePodSchedulingGatesEliminated), true},
		{"NoPluginOfOurs", event(fwk.Node, fwk.Add), true},
	} {
		if got := p.Registered(c.plugin, c.event); got != c.want {
			t.Errorf("%s registered for %s: %v, want %v", c.plugin, c.event.Label(), got, c.want)
		}
		hint, err := p.Hint(c.plugin, &v1.Pod{}, c.event, nil, nil)
		if err != nil || (hint == fwk.Queue) != c.want {
			t.Errorf("%s hints %v, %v for %s without objects", c.plugin, hint, err, c.event.Label())
		}
	}
	if p.Interested(event(fwk.Node, fwk.UpdateNodePreemptionPolicy)) {
		t.Error("a plugin is interested in a node's preemption policy")
	}
}

// TestHintIsAsked: with objects, the plugin's own function decides.
func TestHintIsAsked(t *testing.T) {
	p, err := InTree()
	if err != nil {
		t.Fatal(err)
	}
	tainted := &v1.Node{}
	tainted.Spec.Taints = []v1.Taint{{Key: "dedicated", Value: "gpu", Effect: v1.TaintEffectNoSchedule}}
	clean, cordoned := tainted.DeepCopy(), tainted.DeepCopy()
	clean.Spec.Taints = nil
	cordoned.Spec.Taints = append(cordoned.Spec.Taints, v1.Taint{Key: "maintenance", Effect: v1.TaintEffectNoSchedule})
	taint := fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.UpdateNodeTaint}
	if hint, err := p.Hint("TaintToleration", &v1.Pod{}, taint, tainted, clean); err != nil || hint != fwk.Queue {
		t.Errorf("a taint goes: %v, %v", hint, err)
	}
	if hint, err := p.Hint("TaintToleration", &v1.Pod{}, taint, tainted, cordoned); err != nil || hint != fwk.QueueSkip {
		t.Errorf("another taint comes: %v, %v", hint, err)
	}
}

// TestNewestTable: the table of the newest release says of each plugin and each event what the plugins themselves say.
func TestNewestTable(t *testing.T) {
	p, err := InTree()
	if err != nil {
		t.Fatal(err)
	}
	table, err := registered.ByTable("", "default-scheduler")
	if err != nil {
		t.Fatal(err)
	}
	events := append(queue.InjectableEvents(), queue.MoveAll)
	for _, action := range []fwk.ActionType{fwk.Update, fwk.UpdatePodLabel, fwk.UpdatePodScaleDown, fwk.UpdatePodToleration,
		fwk.UpdatePodSchedulingGatesEliminated, fwk.UpdatePodGeneratedResourceClaim} {
		events = append(events, fwk.ClusterEvent{Resource: fwk.TargetPod, ActionType: action}, fwk.ClusterEvent{Resource: fwk.UnscheduledPod, ActionType: action})
	}
	for plugin := range plugins.NewInTreeRegistry() {
		for _, event := range events {
			if got, want := table.Registered(plugin, event), p.Registered(plugin, event); got != want {
				t.Errorf("%s registered for %s: %v in the table, want %v", plugin, event.Label(), got, want)
			}
			if got, want := table.Interested(event), p.Interested(event); got != want {
				t.Errorf("a plugin registered for %s: %v in the table, want %v", event.Label(), got, want)
			}
		}
	}
}
