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

// log is an Observer that records moves and errors. It needs no lock, because calls do not overlap.
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

// TestObserverBeforeReturn checks that, with one caller, the Observer has received all moves when a call returns.
func TestObserverBeforeReturn(t *testing.T) {
	var observer log
	q := classic.New(queue.Defaults(), classic.WithObserver(&observer))
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
	if !slices.Equal(observer.moves, want) {
		t.Errorf("observed %q", observer.moves)
	}
}

// TestObserverCallsQueue checks that an Observer can read and change the queue, and receives the resulting moves
// later.
func TestObserverCallsQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q *classic.Queue
		observer := &log{then: func(move queue.Transition) {
			if move.To == queue.Backoff {
				q.PendingPods()
				if err := q.Activate(map[string]*v1.Pod{"default/a": move.Pod}); err != nil {
					t.Error(err)
				}
				if got := tierOf(q, move.Pod); got != queue.Active {
					t.Errorf("the activated pod is %s, want active", got)
				}
			}
			if move.Event == queue.ForceActivate {
				q.Close()
			}
		}}
		q = classic.New(queue.Defaults(), classic.WithObserver(observer))
		q.Run(t.Context())
		check(t, q.Add(newPod("a")))
		fail(t, q) // with an error, to backoffQ
		synctest.Wait()
		want := []string{
			"a  → active UnscheduledPodAdd",
			"a active → inflight",
			"a inflight → backoff ScheduleAttemptFailure",
			"a backoff → active ForceActivate",
		}
		if !slices.Equal(observer.moves, want) {
			t.Errorf("observed %q", observer.moves)
		}
	})
}

// TestLogBeforeConsequences checks that a move is logged before any of its consequences, even while the Observer is
// busy.
func TestLogBeforeConsequences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := make(chan struct{})
		var once sync.Once
		var logged log
		slow := &log{then: func(queue.Transition) { once.Do(func() { <-busy }) }}
		q := classic.New(queue.Defaults(), classic.WithLog(&logged), classic.WithObserver(slow))
		go func() { _ = q.Add(newPod("a")) }()
		synctest.Wait() // for the Observer to block
		pop(t, q)
		if want := []string{"a  → active UnscheduledPodAdd", "a active → inflight"}; !slices.Equal(logged.moves, want) {
			t.Errorf("after the pop, the log is %q", logged.moves)
		}
		close(busy)
		synctest.Wait()
		if want := logged.moves; !slices.Equal(slow.moves, want) {
			t.Errorf("observed %q, logged %q", slow.moves, want)
		}
	})
}

// TestSlowObserver checks that calls do not wait for a busy Observer, which receives their moves later and in order.
func TestSlowObserver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := make(chan struct{})
		var once sync.Once
		observer := &log{then: func(queue.Transition) { once.Do(func() { <-busy }) }}
		q := classic.New(queue.Defaults(), classic.WithObserver(observer))
		go func() { _ = q.Add(newPod("first")) }()
		synctest.Wait() // for the Observer to block on first
		pop(t, q)
		check(t, q.Add(newPod("second")))
		if len(observer.moves) != 1 {
			t.Fatalf("observed %q while blocked", observer.moves)
		}
		close(busy)
		synctest.Wait()
		want := []string{
			"first  → active UnscheduledPodAdd",
			"first active → inflight",
			"second  → active UnscheduledPodAdd",
		}
		if !slices.Equal(observer.moves, want) {
			t.Errorf("observed %q", observer.moves)
		}
	})
}

// TestObserverPanics checks that a panic in the Observer loses one move only.
func TestObserverPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		observer := &log{}
		observer.then = func(queue.Transition) {
			observer.then = nil
			panic("a broken Observer")
		}
		q := classic.New(queue.Defaults(), classic.WithObserver(observer))
		func() {
			defer func() { _ = recover() }()
			_ = q.Add(newPod("first"))
		}()
		check(t, q.Add(newPod("second")))
		synctest.Wait()
		if len(observer.moves) != 2 {
			t.Errorf("observed %q", observer.moves)
		}
	})
}

// TestDroppedPod checks that Pop drops a pod whose previous attempt is in flight, reports it, and continues to wait.
func TestDroppedPod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var observer log
		q := classic.New(queue.Defaults(), classic.WithObserver(&observer))
		check(t, q.Add(newPod("a")))
		pop(t, q)
		check(t, q.Add(newPod("a")))
		ended := errors.New("not yet")
		go func() { _, ended = q.Pop() }()
		synctest.Wait()
		if ended == nil || ended.Error() != "not yet" {
			t.Errorf("Pop ended with %v", ended)
		}
		if len(observer.failures) != 1 || !strings.Contains(observer.failures[0].Error(), "default/a") {
			t.Errorf("reported %v", observer.failures)
		}
		q.Close()
		synctest.Wait()
		if !errors.Is(ended, classic.ErrClosed) {
			t.Errorf("after Close, Pop ended with %v", ended)
		}
	})
}

// TestConcurrency calls the queue from many goroutines: informers, schedulers, bindings and a debugger. All pods must be
// bound, and each pod's moves must form one path. Run it with -race.
func TestConcurrency(t *testing.T) {
	const informers, pods, schedulers = 4, 50, 3
	synctest.Test(t, func(t *testing.T) {
		at := map[types.UID]queue.Tier{}
		bound := 0
		var q *classic.Queue
		q = classic.New(queue.Defaults(), classic.WithObserver(&log{then: func(move queue.Transition) {
			if at[move.Pod.UID] != move.From {
				t.Errorf("%s was %s and moves from %s to %s", move.Pod.Name, at[move.Pod.UID], move.From, move.To)
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
		wg.Go(func() { // nodes are added, until all pods are bound
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
