package classic_test

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/classic"
)

// TestPodGroup checks that the pods of a group wait for the PodGroup, are popped together, and back off together.
func TestPodGroup(t *testing.T) {
	opts := queue.Defaults()
	opts.GenericWorkload = true
	q := classic.New(opts)
	group := &schedulingv1beta1.PodGroup{}
	group.Namespace, group.Name = "default", "g"
	name := types.NamespacedName{Namespace: "default", Name: "g"}
	for _, pod := range []*v1.Pod{newPod("a"), newPod("b")} {
		pod.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &group.Name}
		check(t, q.Add(pod))
	}
	if got := q.Len(queue.Incomplete); got != 2 {
		t.Errorf("%d pods wait for their PodGroup, want 2", got)
	}
	check(t, q.AddPodGroup(group))
	entity, err := q.PopEntity()
	check(t, err)
	if entity.Group == nil || len(entity.Group.Members) != 2 {
		t.Fatalf("popped %+v, want the group of two", entity)
	}
	for _, member := range entity.Group.Members {
		member.UnschedulablePlugins = []string{"GangScheduling"}
		check(t, q.AddUnschedulableIfNotPresent(&member, 0))
	}
	check(t, q.AddAttemptedPodGroupIfNeeded(name, queue.GroupRejected))
	if info, ok := q.Group(name); !ok || info.Tier != queue.Backoff || len(q.PodsIn(queue.Backoff)) != 2 {
		t.Errorf("the group is %+v, want backoff, with two pods", info)
	}
	check(t, q.DeletePodGroup(group))
	if got := q.Len(queue.Incomplete); got != 2 {
		t.Errorf("%d pods wait for another PodGroup, want 2", got)
	}
	if err := q.AddPodGroup(nil); err == nil {
		t.Error("AddPodGroup accepted nil")
	}
}
