package queue_test

import (
	"testing"

	"github.com/schedq/schedq/queue"
	fwk "k8s.io/kube-scheduler/framework"
)

// TestEveryEvent: without plugins every event may help every pod, but one with scheduling gates waits for these alone.
func TestEveryEvent(t *testing.T) {
	nodeAdd := fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}
	ungated := fwk.ClusterEvent{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodSchedulingGatesEliminated}
	for _, c := range []struct {
		plugin string
		event  fwk.ClusterEvent
		want   bool
	}{
		{"NodeResourcesFit", nodeAdd, true},
		{"NodeResourcesFit", ungated, true},
		{queue.SchedulingGates, nodeAdd, false},
		{queue.SchedulingGates, ungated, true},
	} {
		if got := (queue.EveryEvent{}).Registered(c.plugin, c.event); got != c.want {
			t.Errorf("%s is registered for %s: %v", c.plugin, c.event.Label(), got)
		}
		hint, err := (queue.EveryEvent{}).Hint(c.plugin, nil, c.event, nil, nil)
		if err != nil || (hint == fwk.Queue) != c.want {
			t.Errorf("the hint of %s for %s is %v, %v", c.plugin, c.event.Label(), hint, err)
		}
	}
}
