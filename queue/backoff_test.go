package queue_test

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/follow"
)

// TestBackoff: how long a pod, or a group of pods, backs off after its count-th failure.
func TestBackoff(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		initial, longest time.Duration
		count, pods      int
		want             time.Duration
	}{
		{s, 10 * s, -1, 1, 0},
		{s, 10 * s, 0, 1, 0},
		{s, 10 * s, 1, 1, s},
		{s, 10 * s, 4, 1, 8 * s},
		{s, 10 * s, 5, 1, 10 * s},
		{s, 10 * s, 1 << 30, 1, 10 * s}, // no shift is too far
		{20 * s, 10 * s, 1, 1, 10 * s},
		{5, 11, 2, 1, 10}, // twice 5 is less than 11
		{5, 10, 2, 1, 10},
		{s, 10 * s, 3, 4, 4 * s},
		{s, 10 * s, 9, 2, 14142135623}, // 10 s times the square root of 2
		{s, 10 * s, 9, 4, 20 * s},
	} {
		o := queue.Options{PodInitialBackoff: c.initial, PodMaxBackoff: c.longest}
		if got := o.BackoffOf(c.count, c.pods); got != c.want {
			t.Errorf("BackoffOf(%d, %d) from %s to %s is %s, not %s", c.count, c.pods, c.initial, c.longest, got, c.want)
		}
		if got := o.Backoff(c.count); c.pods == 1 && got != c.want {
			t.Errorf("Backoff(%d) from %s to %s is %s, not %s", c.count, c.initial, c.longest, got, c.want)
		}
	}
}

// TestNoBackoffWithoutFailure: a pod that is said to back off leaves at the next flush if it never failed, or if there is no backoff.
func TestNoBackoffWithoutFailure(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	none := queue.Defaults()
	none.PodMaxBackoff = 0
	for name, c := range map[string]struct {
		opts     queue.Options
		failures int
		want     queue.Tier
	}{
		"failed":       {queue.Defaults(), 1, queue.Backoff},
		"never failed": {queue.Defaults(), 0, queue.Active},
		"no backoff":   {none, 1, queue.Active},
	} {
		q := queue.New(c.opts, nil, nil)
		pod := &v1.Pod{}
		pod.Name, pod.UID = "one", "1"
		follow.Restore(q, now, queue.PodInfo{
			Pod: pod, Tier: queue.Backoff, UnschedulableCount: c.failures, UnschedulablePlugins: []string{"A"}, BackoffExpiry: now.Add(time.Minute),
		})
		q.FlushBackoffCompleted(now)
		if info, _ := q.Get("", "one"); info.Tier != c.want {
			t.Errorf("%s: the pod is %s", name, info.Tier)
		}
	}
}
