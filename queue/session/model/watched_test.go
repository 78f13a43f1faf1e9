package model_test

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/queue/session/world/replayed"
	"github.com/schedq/schedq/sources"
)

// TestWatchedAtWork: where a source came to a scheduler at work and tells objects alone, as kube-scheduler-simulator's
// recorder does, a change of a pod's condition is the sign that an attempt failed.
func TestWatchedAtWork(t *testing.T) {
	var c world.Cluster
	world.Change(&c, 1, sources.Added, world.Node("node-a", "2"), nil)
	c.Add(1, &sources.Attached{Nodes: true})
	web := world.Change(&c, 2, sources.Added, world.PendingPod("web", "1"), nil) // which fits
	world.Change(&c, 2.005, sources.Updated, web, func(p *v1.Pod) {
		p.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonUnschedulable,
			Message: "0/1 nodes are available: 1 Insufficient cpu.", LastTransitionTime: metav1.NewTime(world.At(2))}}
	})
	replayed.Compare(t, replayed.Moves(t, c.Recording(4), "web"), []string{
		"2 >active UnscheduledPodAdd modelled",
		"2 active>inflight modelled",
		"2 inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled",
	})
}
