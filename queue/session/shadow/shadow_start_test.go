package shadow_test

import (
	"encoding/json"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/queue/session/world/replayed"
	"github.com/schedq/schedq/sources"
)

// TestStartsLater: a scheduler that starts finds the objects that there are; before, nobody queues a pod.
func TestStartsLater(t *testing.T) {
	var c world.Cluster
	world.Change(&c, 1, sources.Added, world.Node("node-a", "2"), nil)
	world.Change(&c, 1, sources.Added, world.PendingPod("here", "1"), func(p *v1.Pod) { p.Spec.NodeName = "node-a" })
	world.Change(&c, 1, sources.Added, world.PendingPod("done", "1"), func(p *v1.Pod) { p.Status.Phase = v1.PodSucceeded })
	world.Change(&c, 1, sources.Added, world.PendingPod("foreign", "1"), func(p *v1.Pod) { p.Spec.SchedulerName = "other" })
	world.Change(&c, 2, sources.Added, world.PendingPod("web", "2"), nil)
	c.Started(5)
	rec := c.Recording(5.5)
	replayed.Compare(t, replayed.Moves(t, rec, "web"), []string{
		"5 >active UnscheduledPodAdd modelled",
		"5 active>inflight modelled",
		"5 inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled",
	})
	for _, pod := range []string{"here", "done", "foreign"} {
		replayed.Compare(t, replayed.Moves(t, rec, pod), nil)
	}
}

// TestRestarts: the queue's memory ends with its scheduler, and what that was about to hear and to bind.
func TestRestarts(t *testing.T) {
	var c world.Cluster
	c.Started(0.5)
	n := world.Change(&c, 1, sources.Added, world.Node("node-a", "3"), nil)
	world.Change(&c, 2, sources.Added, world.PendingPod("web", "4"), nil)
	world.Change(&c, 9.9, sources.Added, world.PendingPod("db", "3"), nil)                      // is placed, and not bound
	n = world.Change(&c, 9.9997, sources.Updated, n, func(n *v1.Node) { world.SetCPU(n, "8") }) // which nobody hears of
	world.Change(&c, 9.9999, sources.Updated, n, func(n *v1.Node) { world.SetCPU(n, "3") })
	c.Started(10)
	var attempts []int
	if err := timeline.Replay(t.Context(), c.Recording(10.5), timeline.Options{}, func(m *board.Transition) error {
		if m.Pod.Key.Name == "web" {
			attempts = append(attempts, m.Attempts)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	replayed.Compare(t, replayed.Moves(t, c.Recording(10.5), "web"), []string{
		"2 >active UnscheduledPodAdd modelled",
		"2 active>inflight modelled",
		"2 inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled",
		"10 unschedulable>active UnscheduledPodAdd modelled",
		"10 active>inflight modelled",
		"10 inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled", // db took its room
	})
	if want := []int{0, 1, 1, 0, 1, 1}; !slices.Equal(attempts, want) {
		t.Errorf("attempts %v, want %v", attempts, want)
	}
	replayed.Compare(t, replayed.Moves(t, c.Recording(10.5), "db"), []string{
		"9 >active UnscheduledPodAdd modelled",
		"9 active>inflight modelled",
		"10 >active UnscheduledPodAdd modelled",
		"10 active>inflight modelled",
	})
}

// TestGoesOnAfterTheLast: a recording that ends long after its last event lets the flushes happen.
func TestGoesOnAfterTheLast(t *testing.T) {
	var c world.Cluster
	world.Change(&c, 1, sources.Added, world.Node("node-a", "1"), nil)
	world.Change(&c, 2, sources.Added, world.PendingPod("web", "2"), nil)
	replayed.Compare(t, replayed.Moves(t, c.Recording(330), "web")[3:], nil)
	replayed.Compare(t, replayed.Moves(t, c.Recording(340), "web")[3:], []string{
		"331 unschedulable>active UnschedulableTimeout NodeResourcesFit modelled",
		"331 active>inflight NodeResourcesFit modelled",
		"331 inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled",
	})
}

// TestSameUID: of two pods with one UID, which upstream's cache takes for its own corruption, the second is
// left out, whether the scheduler finds them there or hears of them. All others go on.
func TestSameUID(t *testing.T) {
	for name, start := range map[string]float64{"delivered": 0.5, "found there": 3} {
		t.Run(name, func(t *testing.T) {
			var c world.Cluster
			world.Change(&c, 1, sources.Added, world.Node("node-a", "2"), nil)
			c.Started(start)
			first := world.Change(&c, 2, sources.Added, world.PendingPod("a", "2"), func(p *v1.Pod) { p.UID = "same" })
			second := world.Change(&c, 2.1, sources.Added, world.PendingPod("b", "1"), func(p *v1.Pod) { p.UID = "same" })
			slices.SortStableFunc(c.Events, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
			world.Change(&c, 3.1, sources.Deleted, second, nil)
			first = c.Bound(3.2, first, "node-a")
			world.Change(&c, 4, sources.Added, world.PendingPod("late", "2"), nil)
			world.Change(&c, 5, sources.Deleted, first, nil)
			late := replayed.Moves(t, c.Recording(5.5), "late")
			replayed.Compare(t, late, []string{
				"4 >active UnscheduledPodAdd modelled",
				"4 active>inflight modelled",
				"4 inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled",
				"5 unschedulable>backoff AssignedPodDelete NodeResourcesFit modelled",
				"5 backoff>inflight NodeResourcesFit modelled",
			})
			replayed.Compare(t, replayed.Moves(t, c.Recording(5.5), "b"), nil)
		})
	}
}

// preempting is a recording of a pod that preempts the one on the named node, of two. While the victim's
// deletion is asked for, a small pod goes from the other node.
func preempting(on string) *sources.Recording {
	var c world.Cluster
	low, small := map[string]*v1.Pod{}, map[string]*v1.Pod{}
	for _, name := range []string{"node-a", "node-b"} {
		world.Change(&c, 1, sources.Added, world.Node(name, "2"), nil)
		assigned := func(p *v1.Pod) { p.Spec.NodeName, p.Spec.Priority = name, new(int32) }
		low[name] = world.Change(&c, 2, sources.Added, world.PendingPod("low-"+name, "1500m"), assigned)
		small[name] = world.Change(&c, 2, sources.Added, world.PendingPod("small-"+name, "500m"), func(p *v1.Pod) {
			assigned(p)
			*p.Spec.Priority = 1000
		})
	}
	high := world.Change(&c, 5, sources.Added, world.PendingPod("high", "1500m"), func(p *v1.Pod) {
		p.Spec.Priority = new(int32)
		*p.Spec.Priority = 100
	})
	high = c.Patched(5.006, high, "0/2 nodes are available: 2 Insufficient cpu.", on)
	other := map[string]string{"node-a": "node-b", "node-b": "node-a"}[on]
	world.Change(&c, 5.008, sources.Deleted, small[other], nil)
	victim := world.Change(&c, 5.012, sources.Updated, low[on], func(p *v1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: world.At(36)} })
	world.Change(&c, 6, sources.Deleted, victim, nil)
	c.Bound(6.01, high, on)
	return c.Recording(6.5)
}

// TestSameAgain: the same recording gives the same moves, to the nanosecond and to the word.
func TestSameAgain(t *testing.T) {
	told := func() (lines []string) {
		for _, on := range []string{"node-a", "node-b"} {
			if err := timeline.Replay(t.Context(), preempting(on), timeline.Options{}, func(m *board.Transition) error {
				line, err := json.Marshal(m)
				lines = append(lines, string(line))
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		return lines
	}
	first := told()
	for range 5 {
		replayed.Compare(t, told(), first)
	}
}

// TestClockFarOff: an event dated centuries ahead does not take centuries.
func TestClockFarOff(t *testing.T) {
	var c world.Cluster
	world.Change(&c, 1, sources.Added, world.PendingPod("web", "1"), nil)
	world.Change(&c, 150*365*24*3600, sources.Added, world.PendingPod("late", "1"), nil)
	got := replayed.Moves(t, c.Recording(150*365*24*3600+10), "late")
	if len(got) == 0 {
		t.Error("the late pod does not move")
	}
}
