package queue

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestGroupsAreFreed checks that a group is freed with its last pod, and its number reused.
func TestGroupsAreFreed(t *testing.T) {
	opts := Defaults()
	opts.GenericWorkload = true
	q := New(opts, nil, nil)
	for i := range 100 {
		now, pod, group := time.Unix(int64(i), 0), &v1.Pod{}, fmt.Sprint("group-", i)
		pod.Name, pod.Spec.SchedulingGroup = "one", &v1.PodSchedulingGroup{PodGroupName: &group}
		q.Add(now, pod)
		if info, _ := q.Get("", "one"); info.Tier != Incomplete || len(q.groups) != 1 {
			t.Fatalf("the pod is %s, want incomplete; %d groups, want 1", info.Tier, len(q.groups))
		}
		q.Delete(now, pod)
		q.Activate(now, pod)
		q.Update(now, pod, pod, nil)
		q.DeletePodGroup(now, &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: group}})
		if err := q.AddAttemptedPodGroupIfNeeded(now, types.NamespacedName{Name: group}, GroupFailed); err == nil {
			t.Fatal("AddAttemptedPodGroupIfNeeded succeeded for an unknown group")
		}
		if _, ok := q.Group(types.NamespacedName{Name: group}); ok {
			t.Fatalf("%s was not freed", group)
		}
	}
}
