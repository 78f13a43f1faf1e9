package queue

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

// TestIndex compares the index with a map.
func TestIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := newIndex(byName)
		var entries pool
		want := map[string]int32{}
		for range rapid.IntRange(1, 400).Draw(t, "operations") {
			namespace := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "namespace")
			name := fmt.Sprint(rapid.IntRange(0, 60).Draw(t, "name"))
			key := namespace + "/" + name
			if rapid.Bool().Draw(t, "put") {
				pod := &v1.Pod{}
				pod.Namespace, pod.Name = namespace, name
				i := entries.Allocate()
				entries.At(i).pod = pod
				want[key] = i
				x.put(&entries, want[key])
				if x.used*2 > len(x.slots) {
					t.Fatalf("%d of %d places are used: a name is far to look for", x.used, len(x.slots))
				}
			} else {
				if i, ok := want[key]; ok && !x.remove(&entries, i) {
					t.Fatalf("%s was not found", key)
				}
				delete(want, key)
			}
			if x.used != len(want) {
				t.Fatalf("%d are used, want %d", x.used, len(want))
			}
			for _, ns := range []string{"a", "b"} {
				for i := range 61 {
					w, ok := want[ns+"/"+fmt.Sprint(i)]
					if !ok {
						w = none
					}
					if got := x.get(&entries, ns, fmt.Sprint(i)); got != w {
						t.Fatalf("%s/%d is at %d, want %d", ns, i, got, w)
					}
				}
			}
		}
	})
}

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
