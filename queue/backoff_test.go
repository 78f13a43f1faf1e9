package queue_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/schedq/schedq/queue"
)

// TestBackoff checks the backoff of a pod, or of a pod group, after its count-th failure.
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
		{s, 10 * s, 1 << 30, 1, 10 * s}, // must not overflow
		{20 * s, 10 * s, 1, 1, 10 * s},
		{5, 11, 2, 1, 10},
		{5, 10, 2, 1, 10},
		{s, 10 * s, 3, 4, 4 * s},
		{s, 10 * s, 9, 2, 14142135623}, // 10 s times the square root of 2
		{s, 10 * s, 9, 4, 20 * s},
	} {
		o := queue.Options{PodInitialBackoff: c.initial, PodMaxBackoff: c.longest}
		if got := o.BackoffOf(c.count, c.pods); got != c.want {
			t.Errorf("BackoffOf(%d, %d) from %s to %s is %s, want %s", c.count, c.pods, c.initial, c.longest, got, c.want)
		}
		if got := o.Backoff(c.count); c.pods == 1 && got != c.want {
			t.Errorf("Backoff(%d) from %s to %s is %s, want %s", c.count, c.initial, c.longest, got, c.want)
		}
	}
}

// TestNoBackoffWithoutFailure checks that the next flush moves a pod out of backoffQ if it never failed, or if
// backoff is disabled.
func TestNoBackoffWithoutFailure(t *testing.T) {
	disabled := queue.Defaults()
	disabled.PodMaxBackoff = 0
	for name, c := range map[string]struct {
		opts     queue.Options
		failures int
		want     queue.Tier
	}{
		"failed":       {queue.Defaults(), 1, queue.Backoff},
		"never failed": {queue.Defaults(), 0, queue.Active},
		"disabled":     {disabled, 1, queue.Active},
	} {
		q := queue.New(c.opts, nil, nil)
		q.Restore(noon, queue.PodInfo{
			Pod: newPod("one", "1"), Tier: queue.Backoff, UnschedulableCount: c.failures, UnschedulablePlugins: []string{"A"}, BackoffExpiry: noon.Add(time.Minute),
		})
		q.FlushBackoffCompleted(noon)
		if info, _ := q.Get("", "one"); info.Tier != c.want {
			t.Errorf("%s: the pod is %s, want %s", name, info.Tier, c.want)
		}
	}
}

// TestRealign checks a scheduler whose clock turns out to be 380 ms behind: its seconds start 380 ms later, so that
// backoffs end later and pods, which leave by priority within a second, in another order.
func TestRealign(t *testing.T) {
	at := func(ms int) time.Time { return noon.Add(time.Duration(ms) * time.Millisecond) }
	q := queue.New(queue.Defaults(), nil, nil)
	for _, c := range []struct {
		failed, expiry int // in ms; expiry is set if only the second of the backoff's end is known
		priority       int32
	}{
		{100, 0, 1}, {500, 0, 2}, {0, 3000, 0},
	} {
		pod := newPod(fmt.Sprint("failed-", c.failed), fmt.Sprint(c.failed))
		pod.Spec.Priority = &c.priority
		p := queue.PodInfo{Pod: pod, Tier: queue.Backoff, Timestamp: at(c.failed), UnschedulableCount: 1, UnschedulablePlugins: []string{"A"}}
		if c.expiry != 0 {
			p.BackoffExpiry = at(c.expiry)
		}
		q.Restore(p.Timestamp, p)
	}
	check := func(when string, next string, expiries ...time.Time) {
		t.Helper()
		for i, name := range []string{"failed-100", "failed-500", "failed-0"} {
			if info, _ := q.Get("", name); !info.BackoffExpiry.Equal(expiries[i]) {
				t.Errorf("%s: backoff of %s ends at %s, want %s", when, name, info.BackoffExpiry, expiries[i])
			}
		}
		for pod := range q.Upcoming() {
			if pod.Name != next {
				t.Errorf("%s: %s is next, want %s", when, pod.Name, next)
			}
			break
		}
		checkInvariants(t, q)
	}
	check("before", "failed-500", at(1000), at(1000), at(3000))
	q.Realign(380 * time.Millisecond)
	check("after", "failed-100", at(380), at(1380), at(3380))
	for _, c := range []struct {
		ms, active int
	}{{1379, 0}, {1380, 1}, {2379, 1}, {2380, 2}, {4379, 2}, {4380, 3}} {
		if q.FlushBackoffCompleted(at(c.ms)); q.PendingPods(queue.Active) != c.active {
			t.Errorf("%d active pods after a flush at %d ms, want %d", q.PendingPods(queue.Active), c.ms, c.active)
		}
	}
	q.Realign(-219 * time.Millisecond)
	if got, want := q.Options().WindowOf(at(5000)), at(4781); !got.Equal(want) {
		t.Errorf("with a clock that is behind, the second starts at %s, want %s", got, want)
	}
}
