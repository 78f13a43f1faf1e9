package queue_test

import (
	"testing"

	"github.com/schedq/schedq/queue"
	fwk "k8s.io/kube-scheduler/framework"
)

// TestEveryEvent checks that SchedulingGates is registered only for the removal of gates, and other plugins for
// every event.
func TestEveryEvent(t *testing.T) {
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
			t.Errorf("Registered(%s, %s) = %t", c.plugin, c.event.Label(), got)
		}
		hint, err := (queue.EveryEvent{}).Hint(c.plugin, nil, c.event, nil, nil)
		if err != nil || (hint == fwk.Queue) != c.want {
			t.Errorf("Hint(%s, %s) = %v, %v", c.plugin, c.event.Label(), hint, err)
		}
	}
}
