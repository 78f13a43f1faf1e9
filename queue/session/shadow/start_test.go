package shadow_test

import (
	"fmt"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/queue/session/world/replayed"
	"github.com/schedq/schedq/sources"
)

// TestSchedulerStartsLater: a scheduler lists the existing objects when it starts. Before that, no pod is
// queued.
func TestSchedulerStartsLater(t *testing.T) {
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

// TestRestartEmptiesQueue: a restart ends the queue's state, undelivered events and bindings in progress.
func TestRestartEmptiesQueue(t *testing.T) {
	var c world.Cluster
	c.Started(0.5)
	n := world.Change(&c, 1, sources.Added, world.Node("node-a", "3"), nil)
	world.Change(&c, 2, sources.Added, world.PendingPod("web", "4"), nil)
	world.Change(&c, 9.9, sources.Added, world.PendingPod("db", "3"), nil)                      // assigned, but not bound
	n = world.Change(&c, 9.9997, sources.Updated, n, func(n *v1.Node) { world.SetCPU(n, "8") }) // not delivered
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
		"10 inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled", // db reserved the resources
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

// TestPodsWithSameUID: the second of two pods with the same UID is ignored, whether the scheduler lists or
// watches it. Upstream's cache would treat it as a corruption.
func TestPodsWithSameUID(t *testing.T) {
	for name, start := range map[string]float64{"watched": 0.5, "listed": 3} {
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

// TestMovesAfterRestart: a new scheduler shares no state with the previous one.
func TestMovesAfterRestart(t *testing.T) {
	checkMoves(t, []scenario{
		{"pods that left before the restart are deleted in the order of their names", 2, 6, func(w *world.Cluster) {
			w.Started(0.5)
			addNodes(w, "1", "node-a")
			z, a := w.Patched(2.01, addPod(w, 2, "z", "4", nil), noRoom, ""), w.Patched(2.11, addPod(w, 2.1, "a", "4", nil), noRoom, "")
			m := w.Patched(2.21, addPod(w, 2.2, "m", "4", nil), noRoom, "")
			bound := addPod(w, 2.9995, "b", "1", nil)
			world.Change(w, 2.9995, sources.Deleted, z, nil)
			world.Change(w, 2.9996, sources.Deleted, a, nil)
			w.Bound(2.9997, bound, "node-a")
			w.Started(3)
			w.Patched(3.3, m, noRoom, "")
		}, `
			2.001 z active UnscheduledPodAdd
			2.006 z inflight (failure)
			2.006 z unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.101 a active UnscheduledPodAdd
			2.106 a inflight (failure)
			2.106 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.201 m active UnscheduledPodAdd
			2.206 m inflight (failure)
			2.206 m unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			3.000 b active UnscheduledPodAdd
			3.000 b inflight (behind)
			3.000 b scheduled node-a (outcome)
			3.000 a deleted
			3.000 b deleted
			3.000 z deleted
			3.000 m active UnscheduledPodAdd
			3.000 other active UnscheduledPodAdd
			3.296 m inflight (failure)
			3.296 m unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			5.900 other inflight (turn)
			5.901 other unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"its client has a full burst", 2, 6, func(w *world.Cluster) {
			w.Started(0.5)
			addNodes(w, "100", "node-a")
			for i := range 95 {
				w.Bound(1.9+0.0001*float64(i), addPod(w, 1.9, fmt.Sprint("old-", i), "1m", nil), "node-a")
			}
			w.Started(2)
			w.Patched(3.5, addPod(w, 2.1, "web", "200", nil), noRoom, "")
		}, `
			2.000 other active UnscheduledPodAdd
			2.101 web active UnscheduledPodAdd
			3.496 web inflight (failure)
			3.496 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			5.900 other inflight (turn)
			5.906 other unschedulable ScheduleAttemptFailure (unknown plugin) (not bound)
		`},
		{"pods do not back off from attempts before the restart", 2, 6, func(w *world.Cluster) {
			w.Started(0.5)
			addNodes(w, "1", "node-a")
			web := addPod(w, 2, "web", "4", nil)
			w.Recorded(2.003, web, 1)
			web = w.Patched(2.01, web, noRoom, "")
			w.Started(2.0105)
			w.Recorded(2.013, web, 1)
			w.Patched(2.02, web, noRoom+" again", "")
		}, `
			2.001 web active UnscheduledPodAdd
			2.002 web inflight (failure)
			2.003 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)
			2.010 other active UnscheduledPodAdd
			2.010 web active UnscheduledPodAdd
			2.012 web inflight (failure)
			2.013 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)
			5.900 other inflight (turn)
			5.901 other unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"a stated release applies, an inferred one does not replace it", 2, 6, func(w *world.Cluster) {
			w.Started(0.5)
			addNodes(w, "1", "node-a")
			w.Patched(2.01, addPod(w, 2, "web", "4", nil), noRoom, "")
			w.Add(3, &sources.SchedulerStarted{Release: "v1.31.0", PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1})
			w.Add(4, &sources.SchedulerRunning{Release: "v1.31.0"}) // already known
			w.Add(5, &sources.SchedulerStarted{Release: "v1.30.0", ReleaseInferred: true, PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1})
			w.Add(5.5, &sources.SchedulerRunning{Release: "v1.31.0"})
		}, `
			2.001 web active UnscheduledPodAdd
			2.006 web inflight (failure)
			2.006 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			3.000 other active PodAdd
			3.000 web active PodAdd
			5.000 other active PodAdd
			5.000 web active PodAdd
			5.900 other inflight (turn)
			5.901 other unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			5.901 web inflight (turn)
			5.901 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
	})
}
