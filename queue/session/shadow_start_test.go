package session

import (
	"encoding/json"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/sources"
)

// TestStartsLater: a scheduler that starts finds the objects that there are; before, nobody queues a pod.
func TestStartsLater(t *testing.T) {
	var c cluster
	happens(&c, 1, sources.Added, node("node-a", "2"), nil)
	happens(&c, 1, sources.Added, wants("here", "1"), func(p *v1.Pod) { p.Spec.NodeName = "node-a" })
	happens(&c, 1, sources.Added, wants("done", "1"), func(p *v1.Pod) { p.Status.Phase = v1.PodSucceeded })
	happens(&c, 1, sources.Added, wants("foreign", "1"), func(p *v1.Pod) { p.Spec.SchedulerName = "other" })
	happens(&c, 2, sources.Added, wants("web", "2"), nil)
	c.started(5)
	rec := c.recording(5.5)
	compare(t, moves(t, rec, "web"), []string{
		"5 >active UnscheduledPodAdd modelled",
		"5 active>inflight modelled",
		"5 inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled",
	})
	for _, pod := range []string{"here", "done", "foreign"} {
		compare(t, moves(t, rec, pod), nil)
	}
}

// TestRestarts: the queue's memory ends with its scheduler, and what that was about to hear and to bind.
func TestRestarts(t *testing.T) {
	var c cluster
	c.started(0.5)
	n := happens(&c, 1, sources.Added, node("node-a", "3"), nil)
	happens(&c, 2, sources.Added, wants("web", "4"), nil)
	happens(&c, 9.9, sources.Added, wants("db", "3"), nil)                        // is placed, and not bound
	n = happens(&c, 9.9997, sources.Updated, n, func(n *v1.Node) { cpu(n, "8") }) // which nobody hears of
	happens(&c, 9.9999, sources.Updated, n, func(n *v1.Node) { cpu(n, "3") })
	c.started(10)
	var attempts []int
	if err := Replay(t.Context(), c.recording(10.5), Options{}, func(m *Transition) error {
		if m.Pod.Key.Name == "web" {
			attempts = append(attempts, m.Attempts)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	compare(t, moves(t, c.recording(10.5), "web"), []string{
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
	compare(t, moves(t, c.recording(10.5), "db"), []string{
		"9 >active UnscheduledPodAdd modelled",
		"9 active>inflight modelled",
		"10 >active UnscheduledPodAdd modelled",
		"10 active>inflight modelled",
	})
}

// TestGoesOnAfterTheLast: a recording that ends long after its last event lets the flushes happen.
func TestGoesOnAfterTheLast(t *testing.T) {
	var c cluster
	happens(&c, 1, sources.Added, node("node-a", "1"), nil)
	happens(&c, 2, sources.Added, wants("web", "2"), nil)
	compare(t, moves(t, c.recording(330), "web")[3:], nil)
	compare(t, moves(t, c.recording(340), "web")[3:], []string{
		"331 unschedulable>active UnschedulableTimeout NodeResourcesFit modelled",
		"331 active>inflight NodeResourcesFit modelled",
		"331 inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled",
	})
}

// TestSameUID: of two pods with one UID, which upstream's cache takes for its own corruption, the second is
// left out, whether the scheduler finds them there or hears of them. All others go on.
func TestSameUID(t *testing.T) {
	for name, start := range map[string]float64{"heard of": 0.5, "found there": 3} {
		t.Run(name, func(t *testing.T) {
			var c cluster
			happens(&c, 1, sources.Added, node("node-a", "2"), nil)
			c.started(start)
			first := happens(&c, 2, sources.Added, wants("a", "2"), func(p *v1.Pod) { p.UID = "same" })
			second := happens(&c, 2.1, sources.Added, wants("b", "1"), func(p *v1.Pod) { p.UID = "same" })
			slices.SortStableFunc(c.events, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
			happens(&c, 3.1, sources.Deleted, second, nil)
			first = c.bound(3.2, first, "node-a")
			happens(&c, 4, sources.Added, wants("late", "2"), nil)
			happens(&c, 5, sources.Deleted, first, nil)
			late := moves(t, c.recording(5.5), "late")
			compare(t, late, []string{
				"4 >active UnscheduledPodAdd modelled",
				"4 active>inflight modelled",
				"4 inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled",
				"5 unschedulable>backoff AssignedPodDelete NodeResourcesFit modelled",
				"5 backoff>inflight NodeResourcesFit modelled",
			})
			compare(t, moves(t, c.recording(5.5), "b"), nil)
		})
	}
}

// TestEqualNominees: of two equal nodes the real scheduler may preempt on the other. Its victim's end, and
// not that of the model's victim, is what the preemptor waits for.
func TestEqualNominees(t *testing.T) {
	for _, on := range []string{"node-a", "node-b"} {
		t.Run(on, func(t *testing.T) {
			rec := preempting(on)
			compare(t, moves(t, rec, "high"), []string{
				"5 >active UnscheduledPodAdd modelled",
				"5 active>inflight modelled",
				"5 inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled",
				// DefaultPreemption gates it until it has asked for all deletions.
				"5 unschedulable>gated AssignedPodDelete DefaultPreemption,NodeResourcesFit modelled",
				"6 gated>backoff AssignedPodDelete DefaultPreemption,NodeResourcesFit modelled",
				"6 backoff>inflight DefaultPreemption,NodeResourcesFit modelled",
				"6 inflight>scheduled DefaultPreemption,NodeResourcesFit observed",
				"6 scheduled>deleted modelled",
			})
		})
	}
}

// preempting is a recording of a pod that preempts the one on the named node, of two. While the victim's
// deletion is asked for, a small pod goes from the other node.
func preempting(on string) *sources.Recording {
	var c cluster
	low, small := map[string]*v1.Pod{}, map[string]*v1.Pod{}
	for _, name := range []string{"node-a", "node-b"} {
		happens(&c, 1, sources.Added, node(name, "2"), nil)
		assigned := func(p *v1.Pod) { p.Spec.NodeName, p.Spec.Priority = name, new(int32) }
		low[name] = happens(&c, 2, sources.Added, wants("low-"+name, "1500m"), assigned)
		small[name] = happens(&c, 2, sources.Added, wants("small-"+name, "500m"), func(p *v1.Pod) {
			assigned(p)
			*p.Spec.Priority = 1000
		})
	}
	high := happens(&c, 5, sources.Added, wants("high", "1500m"), func(p *v1.Pod) {
		p.Spec.Priority = new(int32)
		*p.Spec.Priority = 100
	})
	high = c.patched(5.006, high, "0/2 nodes are available: 2 Insufficient cpu.", on)
	other := map[string]string{"node-a": "node-b", "node-b": "node-a"}[on]
	happens(&c, 5.008, sources.Deleted, small[other], nil)
	victim := happens(&c, 5.012, sources.Updated, low[on], func(p *v1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: at(36)} })
	happens(&c, 6, sources.Deleted, victim, nil)
	c.bound(6.01, high, on)
	return c.recording(6.5)
}

// TestSameAgain: the same recording gives the same moves, to the nanosecond and to the word.
func TestSameAgain(t *testing.T) {
	told := func() (lines []string) {
		for _, on := range []string{"node-a", "node-b"} {
			if err := Replay(t.Context(), preempting(on), Options{}, func(m *Transition) error {
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
		compare(t, told(), first)
	}
}

// TestClockFarOff: an event dated centuries ahead does not take centuries.
func TestClockFarOff(t *testing.T) {
	var c cluster
	happens(&c, 1, sources.Added, wants("web", "1"), nil)
	happens(&c, 150*365*24*3600, sources.Added, wants("late", "1"), nil)
	got := moves(t, c.recording(150*365*24*3600+10), "late")
	if len(got) == 0 {
		t.Error("the late pod does not move")
	}
}
