package classic_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/classic"
)

// TestBackoffFlush checks that the backoff flush runs at whole seconds or, without PopFromBackoffQ, at whole seconds
// since the call of Run.
func TestBackoffFlush(t *testing.T) {
	for popFromBackoffQ, want := range map[bool]time.Duration{
		// The pod fails at 0.4 s. The window of its expiry, at 1.4 s, ends at 2 s.
		true: 2 * time.Second,
		// The backoff ends at 1.4 s, and the next flush is at 2.3 s.
		false: 2300 * time.Millisecond,
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			opts := queue.Defaults()
			opts.PopFromBackoffQ = popFromBackoffQ
			var flushed time.Duration
			q := classic.New(opts, classic.WithObserver(&log{then: func(move queue.Transition) {
				if move.Event == queue.BackoffComplete {
					flushed = move.Time.Sub(start)
				}
			}}))
			defer q.Close()
			time.Sleep(300 * time.Millisecond)
			q.Run(t.Context())
			time.Sleep(100 * time.Millisecond)
			check(t, q.Add(newPod("a")))
			fail(t, q)
			time.Sleep(5 * time.Second)
			synctest.Wait()
			if flushed != want {
				t.Errorf("PopFromBackoffQ=%v: backoffQ was flushed at %v, want %v", popFromBackoffQ, flushed, want)
			}
		})
	}
}

// TestLeftoverFlush checks that the first flush after five minutes moves an unschedulable pod.
func TestLeftoverFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var flushed []time.Duration
		q := classic.New(queue.Defaults(), classic.WithObserver(&log{then: func(move queue.Transition) {
			if move.Event == queue.UnschedulableTimeout {
				flushed = append(flushed, move.Time.Sub(start))
			}
		}}))
		defer q.Close()
		q.Run(t.Context())
		check(t, q.Add(newPod("a")))
		fail(t, q, "A")
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if want := []time.Duration{330 * time.Second}; !slices.Equal(flushed, want) {
			t.Errorf("flushed at %v, want %v", flushed, want)
		}
	})
}

// TestRunEnds checks that the flushes stop with Close or the context, even if the clock stands still. synctest.Test
// fails if a goroutine is left.
func TestRunEnds(t *testing.T) {
	for name, end := range map[string]func(q *classic.Queue, cancel func()){
		"with Close":       func(q *classic.Queue, _ func()) { q.Close() },
		"with the context": func(_ *classic.Queue, cancel func()) { cancel() },
	} {
		for _, after := range []time.Duration{0, time.Minute} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(context.Background())
					clock := newClock()
					q := classic.New(queue.Defaults(), classic.WithClock(clock))
					q.Run(ctx)
					synctest.Wait()
					clock.Step(after)
					synctest.Wait()
					end(q, cancel)
				})
			})
		}
	}
}

// TestWithClock checks that the queue uses only the given clock.
func TestWithClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newClock()
		q := classic.New(queue.Defaults(), classic.WithClock(clock))
		defer q.Close()
		q.Run(t.Context())
		check(t, q.Add(newPod("a")))
		pod := fail(t, q)
		synctest.Wait() // both flushes wait on the clock
		time.Sleep(time.Hour)
		if got := tierOf(q, pod); got != queue.Backoff {
			t.Fatalf("the pod is %s although the clock stood still", got)
		}
		for range 2 {
			clock.Step(time.Second)
			synctest.Wait()
		}
		if got := tierOf(q, pod); got != queue.Active {
			t.Errorf("the pod is %s after 2 s, want active", got)
		}
	})
}
