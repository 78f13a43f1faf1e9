package classic_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/classic"
)

func newClock() *clocktesting.FakeClock {
	return clocktesting.NewFakeClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
}

// log is an Observer that writes down what it is told. It needs no lock: it is told one thing at a time.
type log struct {
	moves    []string
	failures []error
	then     func(queue.Transition) // called after each move
}

func (l *log) Moved(t queue.Transition) {
	l.moves = append(l.moves, strings.TrimSpace(fmt.Sprintf("%s %s → %s %s", t.Pod.Name, t.From, t.To, t.Event)))
	if l.then != nil {
		l.then(t)
	}
}

func (l *log) Failed(err error) { l.failures = append(l.failures, err) }

// TestObserverIsToldFirst: who calls the queue from one goroutine finds, when the call returns, that the
// Observer was told all of it.
func TestObserverIsToldFirst(t *testing.T) {
	var told log
	q := classic.New(queue.Defaults(), classic.WithObserver(&told))
	check(t, q.Add(newPod("a")))
	pod := fail(t, q, "A")
	check(t, q.MoveAllToActiveOrBackoffQueue(nodeAdd, nil, nil, nil))
	pop(t, q)
	q.Bound(pod.UID)
	want := []string{
		"a  → active UnscheduledPodAdd",
		"a active → inflight",
		"a inflight → unschedulable ScheduleAttemptFailure",
		"a unschedulable → backoff NodeAdd",
		"a backoff → inflight",
		"a inflight → scheduled",
	}
	if !slices.Equal(told.moves, want) {
		t.Errorf("told %q", told.moves)
	}
}

// TestObserverMayCallTheQueue: an Observer is not told under the lock, so it may ask and even change the
// queue; what it causes is told after what it was just told.
func TestObserverMayCallTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q *classic.Queue
		told := &log{then: func(move queue.Transition) {
			if move.To == queue.Backoff {
				q.PendingPods()
				if err := q.Activate(map[string]*v1.Pod{"default/a": move.Pod}); err != nil {
					t.Error(err)
				}
				if got := tierOf(q, move.Pod); got != queue.Active {
					t.Errorf("the Observer activated the pod, which is in %s", got)
				}
			}
			if move.Event == queue.ForceActivate {
				q.Close()
			}
		}}
		q = classic.New(queue.Defaults(), classic.WithObserver(told))
		q.Run(t.Context())
		check(t, q.Add(newPod("a")))
		fail(t, q) // by an error: to backoffQ
		synctest.Wait()
		want := []string{
			"a  → active UnscheduledPodAdd",
			"a active → inflight",
			"a inflight → backoff ScheduleAttemptFailure",
			"a backoff → active ForceActivate",
		}
		if !slices.Equal(told.moves, want) {
			t.Errorf("told %q", told.moves)
		}
	})
}

// TestLogIsWrittenFirst: whatever one does because of a move comes after its line in the log, also while another goroutine is at the
// Observer.
func TestLogIsWrittenFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := make(chan struct{})
		var once sync.Once
		var written log
		slow := &log{then: func(queue.Transition) { once.Do(func() { <-busy }) }}
		q := classic.New(queue.Defaults(), classic.WithLog(&written), classic.WithObserver(slow))
		go func() { _ = q.Add(newPod("a")) }()
		synctest.Wait() // at the Observer
		pop(t, q)
		if want := []string{"a  → active UnscheduledPodAdd", "a active → inflight"}; !slices.Equal(written.moves, want) {
			t.Errorf("once it is popped, written is %q", written.moves)
		}
		close(busy)
		synctest.Wait()
		if want := written.moves; !slices.Equal(slow.moves, want) {
			t.Errorf("told %q, written %q", slow.moves, want)
		}
	})
}

// TestSlowObserver: while the Observer is busy, the calls of others do not wait; it is told of them later,
// in their order.
func TestSlowObserver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := make(chan struct{})
		var once sync.Once
		told := &log{then: func(queue.Transition) { once.Do(func() { <-busy }) }}
		q := classic.New(queue.Defaults(), classic.WithObserver(told))
		go func() { _ = q.Add(newPod("first")) }()
		synctest.Wait() // the Observer is being told of first
		pop(t, q)
		check(t, q.Add(newPod("second")))
		if len(told.moves) != 1 {
			t.Fatalf("told %q meanwhile", told.moves)
		}
		close(busy)
		synctest.Wait()
		want := []string{
			"first  → active UnscheduledPodAdd",
			"first active → inflight",
			"second  → active UnscheduledPodAdd",
		}
		if !slices.Equal(told.moves, want) {
			t.Errorf("told %q", told.moves)
		}
	})
}

// TestObserverPanics: whoever survives its Observer's panic has lost that one move, and no other.
func TestObserverPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := &log{}
		told.then = func(queue.Transition) {
			told.then = nil
			panic("a broken Observer")
		}
		q := classic.New(queue.Defaults(), classic.WithObserver(told))
		func() {
			defer func() { _ = recover() }()
			_ = q.Add(newPod("first"))
		}()
		check(t, q.Add(newPod("second")))
		synctest.Wait()
		if len(told.moves) != 2 {
			t.Errorf("told %q", told.moves)
		}
	})
}

// TestDroppedPod: a pod that is popped while an older attempt at it still runs is dropped. Pop goes on
// waiting, and the Observer is told all the same.
func TestDroppedPod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told log
		q := classic.New(queue.Defaults(), classic.WithObserver(&told))
		check(t, q.Add(newPod("a")))
		pop(t, q)
		check(t, q.Add(newPod("a")))
		ended := errors.New("not yet")
		go func() { _, ended = q.Pop() }()
		synctest.Wait()
		if ended == nil || ended.Error() != "not yet" {
			t.Errorf("Pop ended with %v", ended)
		}
		if len(told.failures) != 1 || !strings.Contains(told.failures[0].Error(), "default/a") {
			t.Errorf("told of %v", told.failures)
		}
		q.Close()
		synctest.Wait()
		if !errors.Is(ended, classic.ErrClosed) {
			t.Errorf("after Close, Pop ended with %v", ended)
		}
	})
}

// TestConcurrency has many goroutines at the queue: informers, schedulers, bindings and a debugger. Every
// pod is bound in the end, and each pod's moves, as told, are one unbroken path. Run it with -race.
func TestConcurrency(t *testing.T) {
	const informers, pods, schedulers = 4, 50, 3
	synctest.Test(t, func(t *testing.T) {
		at := map[types.UID]queue.Tier{}
		bound := 0
		var q *classic.Queue
		q = classic.New(queue.Defaults(), classic.WithObserver(&log{then: func(move queue.Transition) {
			if at[move.Pod.UID] != move.From {
				t.Errorf("%s was in %s and goes from %s to %s", move.Pod.Name, at[move.Pod.UID], move.From, move.To)
			}
			at[move.Pod.UID] = move.To
			if move.To == queue.Scheduled {
				if bound++; bound == informers*pods {
					q.Close()
				}
			}
		}}))
		q.Run(t.Context())

		var wg sync.WaitGroup
		for i := range informers {
			wg.Go(func() {
				for n := range pods {
					pod := newPod(fmt.Sprintf("pod-%d-%d", i, n))
					_ = q.Add(pod)
					_ = q.AssignedPodDeleted(pod)
					_, _ = q.PendingPods()
					_ = q.NumUnschedulablePods()
				}
			})
		}
		for range schedulers {
			wg.Go(func() {
				for {
					info, err := q.Pop()
					if err != nil {
						return
					}
					cycle := q.SchedulingCycle()
					switch info.Attempts {
					case 1: // rejected
						info.UnschedulablePlugins = []string{"A"}
						fallthrough
					case 2: // an error
						if err := q.AddUnschedulableIfNotPresent(info, cycle); err != nil {
							t.Error(err)
						}
					default:
						wg.Go(func() { q.Bound(info.Pod.UID) })
					}
				}
			})
		}
		wg.Go(func() { // nodes come and go, until the pods are bound
			for range 20 {
				time.Sleep(time.Second)
				_ = q.MoveAllToActiveOrBackoffQueue(nodeAdd, nil, &v1.Node{}, nil)
				q.InFlightPods()
			}
		})
		wg.Wait()
		synctest.Wait()
		if bound != informers*pods {
			t.Errorf("%d of %d pods were bound", bound, informers*pods)
		}
	})
}
