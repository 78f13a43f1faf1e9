package queue_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue"
)

// TestUpcoming: the pods come in the order in which Pop takes them.
func TestUpcoming(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
		opts := queue.Defaults()
		opts.PopFromBackoffQ = rapid.Bool().Draw(t, "PopFromBackoffQ")
		q := queue.New(opts, nil, nil)
		for i := range rapid.IntRange(0, 40).Draw(t, "pods") {
			pod := &v1.Pod{}
			pod.Namespace, pod.Name, pod.UID = "default", fmt.Sprint(i), types.UID(fmt.Sprint(i))
			priority := rapid.Int32Range(0, 3).Draw(t, "priority")
			pod.Spec.Priority = &priority
			now = now.Add(time.Duration(i) * time.Millisecond)
			if !rapid.Bool().Draw(t, "in backoff") {
				q.Add(now, pod)
				continue
			}
			queue.Restore(q, now, queue.PodInfo{Pod: pod, Tier: queue.Backoff, Timestamp: now, Attempts: 1, UnschedulableCount: rapid.IntRange(1, 3).Draw(t, "failures"),
				UnschedulablePlugins: []string{"A"}})
		}
		var got, want []string
		for pod := range q.Upcoming() {
			got = append(got, pod.Name)
		}
		for info, ok := q.Pop(now); ok; info, ok = q.Pop(now) {
			want = append(want, info.Pod.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v are to come, %v came", got, want)
		}
	})
}
