package queue_test

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
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
		queue.Restore(q, now, queue.PodInfo{
			Pod: pod, Tier: queue.Backoff, UnschedulableCount: c.failures, UnschedulablePlugins: []string{"A"}, BackoffExpiry: now.Add(time.Minute),
		})
		q.FlushBackoffCompleted(now)
		if info, _ := q.Get("", "one"); info.Tier != c.want {
			t.Errorf("%s: the pod is %s", name, info.Tier)
		}
	}
}

// TestRealign: a backoff is over when the second has passed, by the scheduler's clock, in which it ends. One to which that clock is 380 ms
// behind sees its seconds begin 380 ms late, from when that is found out. Pods leave by priority within a second, and so in another order.
func TestRealign(t *testing.T) {
	noon := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	at := func(ms int) time.Time { return noon.Add(time.Duration(ms) * time.Millisecond) }
	q := queue.New(queue.Defaults(), nil, nil)
	for _, c := range []struct {
		failed, told int // told is the second of its backoff's end, where that is what is known of it
		priority     int32
	}{
		{100, 0, 1}, {500, 0, 2}, {0, 3000, 0},
	} {
		pod := &v1.Pod{}
		pod.Name, pod.Spec.Priority = fmt.Sprintf("failed-%d", c.failed), &c.priority
		pod.UID = types.UID(pod.Name)
		p := queue.PodInfo{Pod: pod, Tier: queue.Backoff, Timestamp: at(c.failed), UnschedulableCount: 1, UnschedulablePlugins: []string{"A"}}
		if c.told != 0 {
			p.BackoffExpiry = at(c.told)
		}
		queue.Restore(q, p.Timestamp, p)
	}
	is := func(when string, next string, expiries ...time.Time) {
		t.Helper()
		for i, name := range []string{"failed-100", "failed-500", "failed-0"} {
			if info, _ := q.Get("", name); !info.BackoffExpiry.Equal(expiries[i]) {
				t.Errorf("%s, %s has its backoff end in the second from %s, not %s", when, name, info.BackoffExpiry, expiries[i])
			}
		}
		for pod := range q.Upcoming() {
			if pod.Name != next {
				t.Errorf("%s, %s is next, not %s", when, pod.Name, next)
			}
			break
		}
		if err := q.Invariants(); err != nil {
			t.Errorf("%s, %v", when, err)
		}
	}
	is("by this clock", "failed-500", at(1000), at(1000), at(3000))
	q.Realign(380 * time.Millisecond)
	is("by the scheduler's", "failed-100", at(380), at(1380), at(3380))
	for _, c := range []struct {
		ms, active int
	}{{1379, 0}, {1380, 1}, {2379, 1}, {2380, 2}, {4379, 2}, {4380, 3}} {
		if q.FlushBackoffCompleted(at(c.ms)); q.PendingPods(queue.Active) != c.active {
			t.Errorf("after a flush at %d ms, %d pods are active, not %d", c.ms, q.PendingPods(queue.Active), c.active)
		}
	}
	q.Realign(-219 * time.Millisecond)
	if got, want := q.Options().WindowOf(at(5000)), at(4781); !got.Equal(want) {
		t.Errorf("by a clock that is behind, a second begins at %s, not %s", got, want)
	}
}
