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

// TestGroupsAreFreed: what was known of a group is let go with the last that named it, and its place taken by the next.
func TestGroupsAreFreed(t *testing.T) {
	opts := Defaults()
	opts.GenericWorkload = true
	q := New(opts, nil, nil)
	for i := range 100 {
		pod, group := &v1.Pod{}, fmt.Sprint("group-", i)
		pod.Name, pod.Spec.SchedulingGroup = "one", &v1.PodSchedulingGroup{PodGroupName: &group}
		q.Add(time.Unix(int64(i), 0), pod)
		if info, _ := q.Get("", "one"); info.Tier != Incomplete || len(q.groups) != 1 {
			t.Fatalf("the pod is %s, and there are %d groups", info.Tier, len(q.groups))
		}
		q.Delete(time.Unix(int64(i), 0), pod)
		q.Activate(time.Unix(int64(i), 0), pod)
		q.Update(time.Unix(int64(i), 0), pod, pod, nil)
		q.DeletePodGroup(time.Unix(int64(i), 0), &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: group}})
		if err := q.AddAttemptedPodGroupIfNeeded(time.Unix(int64(i), 0), types.NamespacedName{Name: group}, GroupFailed); err == nil {
			t.Fatal("an attempt of nothing ended")
		}
		if _, ok := q.Group(types.NamespacedName{Name: group}); ok {
			t.Fatalf("%s is known still", group)
		}
	}
}
