package model_test

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/queue/session/world/replayed"
	"github.com/schedq/schedq/sources"
)

// TestShadow: without the scheduler's log, its attempts are modelled and its writes observed.
func TestShadow(t *testing.T) {
	var c world.Cluster
	n := world.Change(&c, 1, sources.Added, world.Node("node-a", "1"), nil)
	p := world.Change(&c, 2, sources.Added, world.PendingPod("web", "2"), nil)
	p = world.Change(&c, 2.01, sources.Updated, p, func(p *v1.Pod) {
		p.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonUnschedulable,
			Message: "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."}}
	})
	world.Change(&c, 10, sources.Updated, n, func(n *v1.Node) { n.Status.Allocatable[v1.ResourceCPU] = resource.MustParse("4") })
	world.Change(&c, 10.01, sources.Updated, p, func(p *v1.Pod) { p.Spec.NodeName = "node-a" })
	replayed.Compare(t, replayed.Moves(t, c.Recording(20), "web"), []string{
		"2 >active UnscheduledPodAdd modelled",
		"2 active>inflight modelled",
		"2 inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled",
		"10 unschedulable>active NodeUpdateNodeAllocatable NodeResourcesFit modelled",
		"10 active>inflight NodeResourcesFit modelled",
		"10 inflight>scheduled NodeResourcesFit observed",
	})
}
