package cycle

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/schedq/schedq/queue"
)

var _ queue.Plugins = (*Plugins)(nil)

// TestRegistered compares the plugins' registered events with upstream's documentation.
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
			t.Errorf("Registered(%s, %s) = %t, want %t", c.plugin, c.event.Label(), got, c.want)
		}
		hint, err := p.Hint(c.plugin, &v1.Pod{}, c.event, nil, nil)
		if err != nil || (hint == fwk.Queue) != c.want {
			t.Errorf("Hint(%s, %s) without objects = %v, %v", c.plugin, c.event.Label(), hint, err)
		}
	}
	if p.Interested(event(fwk.Node, fwk.UpdateNodePreemptionPolicy)) {
		t.Error("a plugin is interested in a node's preemption policy")
	}
}

// TestHintFunction checks that Hint calls the plugin's hint function for an event with objects.
func TestHintFunction(t *testing.T) {
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
		t.Errorf("a taint is removed: %v, %v", hint, err)
	}
	if hint, err := p.Hint("TaintToleration", &v1.Pod{}, taint, tainted, cordoned); err != nil || hint != fwk.QueueSkip {
		t.Errorf("another taint is added: %v, %v", hint, err)
	}
}
