package queue_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue"
)

// TestUpcoming checks that Upcoming yields pods in pop order.
func TestUpcoming(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := noon
		opts := queue.Defaults()
		opts.PopFromBackoffQ = rapid.Bool().Draw(t, "PopFromBackoffQ")
		q := queue.New(opts, nil, nil)
		for i := range rapid.IntRange(0, 40).Draw(t, "pods") {
			pod := newPod(fmt.Sprint(i), fmt.Sprint(i))
			priority := rapid.Int32Range(0, 3).Draw(t, "priority")
			pod.Spec.Priority = &priority
			now = now.Add(time.Duration(i) * time.Millisecond)
			if !rapid.Bool().Draw(t, "in backoff") {
				q.Add(now, pod)
				continue
			}
			q.Restore(now, queue.PodInfo{Pod: pod, Tier: queue.Backoff, Timestamp: now, Attempts: 1, UnschedulableCount: rapid.IntRange(1, 3).Draw(t, "failures"),
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
			t.Errorf("Upcoming yields %v, want %v", got, want)
		}
	})
}
