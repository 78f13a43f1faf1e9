package shadow_test

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// free has a pod's attempts need not show: the recorder may have written of it.
func free(p *v1.Pod) { world.Reject(p, noRoom, "") }

// requests has so many of the scheduler's requests told at once.
func requests(w *world.Cluster, seconds float64, n int) {
	for range n {
		w.Add(seconds, &sources.Requested{})
	}
}

// TestSeenOtherwise: what the loop does where another attempt is seen than the one that it would make.
func TestSeenOtherwise(t *testing.T) {
	play(t, []scene{
		{"a pod fails that the model has elsewhere, while requests wait: others have their turn when that is over", 2, 2.1, func(w *world.Cluster) {
			nodes(w, "100", "node-a")
			db := w.Patched(1.7, comes(w, 1.65, "db", "200", nil), noRoom, "")
			for i := range 95 {
				w.Bound(1.9+0.0001*float64(i), comes(w, 1.9+0.0001*float64(i), fmt.Sprint("old-", i), "1m", nil), "node-a")
			}
			comes(w, 2, "web", "200", nil)
			w.Failed(2.03, db, noRoom)
		}, `
			2.001 web active UnscheduledPodAdd
			2.030 web inflight (turn)
			2.030 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 0s
			2.030 db inflight (behind)
			2.030 db unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
		`},
		{"a lease lapses, and is held again", 2, 9, func(w *world.Cluster) {
			nodes(w, "2", "node-a")
			w.Add(1.9, &sources.Silent{Since: world.At(1.8)})
			comes(w, 2, "web", "4", free)
			w.Add(4.5, &sources.Silent{})
		}, `
			2.001 web active UnscheduledPodAdd
			4.500 silent
			4.500 web inflight (turn)
			4.501 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"a pod is bound as soon as the loop is free: none was before it", 2, 2.3, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "2"), nil)
			w.Failed(2.002, comes(w, 2, "web", "4", nil), noRoom) // whose patch is not seen, for which the loop waits
			comes(w, 2.2071, "db", "4", nil)
			w.Bound(2.2078, comes(w, 2.2072, "next", "1", nil), "node-a")
		}, `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (failure)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 960µs (outcome)
			2.208 db active UnscheduledPodAdd
			2.208 next active UnscheduledPodAdd
			2.208 next inflight (behind)
			2.208 next scheduled node-a (outcome)
			2.208 db inflight (turn)
			2.209 next deleted
			2.209 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 700µs
		`},
	})
}

// TestSeenToWaitForAnswers: the loop waits for the answer to the patch of a failed attempt, as long as it may take where it is not seen.
func TestSeenToWaitForAnswers(t *testing.T) {
	play(t, []scene{
		{"requests are not told", 2, 3, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			w.Failed(2.002, comes(w, 2, "web", "2", nil), noRoom)
			comes(w, 2.003, "db", "2", nil)
		}, `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (failure)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 960µs (outcome)
			2.004 db active UnscheduledPodAdd
			2.207 db inflight (turn)
			2.208 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"requests are not told, and pods are not heard", 2, 3, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			web := comes(w, 2, "web", "2", nil)
			comes(w, 2.001, "db", "2", nil)
			unheard(w, sources.PodsWatch, 2.0015, 9)
			w.Failed(2.0025, web, noRoom)
		}, `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (turn)
			2.002 db active UnscheduledPodAdd
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.46ms (outcome)
			2.007 db inflight (turn)
			2.008 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"requests wait, and a pod that comes later is bound before the patch: it is that of the next attempt", 2, 3.6, func(w *world.Cluster) {
			nodes(w, "100", "node-a")
			for i := range 95 {
				w.Bound(1.9+0.0001*float64(i), comes(w, 1.9+0.0001*float64(i), fmt.Sprint("old-", i), "1m", nil), "node-a")
			}
			web := comes(w, 2, "web", "200", nil)
			w.Bound(2.5, comes(w, 2.4, "new", "1", nil), "node-a")
			w.Patched(3.5, web, noRoom, "")
		}, `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (turn)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.401 new active UnscheduledPodAdd
			2.499 new inflight (turn)
			2.500 new scheduled node-a (outcome)
			2.501 new deleted
			3.500 web inflight (behind)
			3.500 web unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
		`},
		{"it had waited for the rate limit, and the model places its pod", 2, 3, func(w *world.Cluster) {
			nodes(w, "4", "node-a")
			requests(w, 1.9, 150) // 50 more than may be sent at once: a second's
			large, late := comes(w, 2.001, "large", "2", nil), comes(w, 2.1, "late", "1", nil)
			requests(w, 2.3, 1)
			w.Patched(2.305, large, noRoom, "")
			requests(w, 2.4, 1)
			w.Bound(2.403, late, "node-a")
		}, `
			2.002 large active UnscheduledPodAdd
			2.002 large inflight (requests)
			2.008 large unschedulable ScheduleAttemptFailure (unknown plugin) (not bound)
			2.101 late active UnscheduledPodAdd
			2.305 late inflight (turn)
			2.306 large backoff TargetPodUpdate
			2.306 large backoff TargetPodUpdate restated
			2.306 large inflight (turn)
			2.312 large unschedulable ScheduleAttemptFailure (unknown plugin) (not bound)
			2.403 late scheduled node-a (outcome)
			2.404 large backoff AssignedPodAdd
			2.404 late deleted
			2.404 large inflight (turn)
			2.410 large unschedulable ScheduleAttemptFailure (unknown plugin) (not bound)
		`},
		{"it had waited for the rate limit, as a binding after it, and a pod that has its node changes before: that is of no attempt", 2, 3, func(w *world.Cluster) {
			nodes(w, "4", "node-a")
			old := comes(w, 1, "old", "1", func(p *v1.Pod) { p.Spec.NodeName = "node-a" })
			requests(w, 1.9, 150) // 50 more than may be sent at once: a second's
			web := comes(w, 1.95, "web", "9", nil)
			late, large := comes(w, 2, "late", "1", nil), comes(w, 2.001, "large", "8", nil)
			requests(w, 2.02, 1)
			w.Patched(2.025, web, noRoom, "")
			world.Change(w, 2.2, sources.Updated, old, func(p *v1.Pod) { p.Status.Phase = v1.PodRunning })
			requests(w, 2.3, 1)
			w.Patched(2.305, large, noRoom, "")
			requests(w, 2.4, 1)
			w.Bound(2.403, late, "node-a")
		}, `
			2.001 late active UnscheduledPodAdd
			2.002 large active UnscheduledPodAdd
			2.025 large inflight (requests)
			2.026 large unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.305 late inflight (turn)
			2.403 late scheduled node-a (outcome)
			2.404 late deleted
		`},
		{"another pod is bound meanwhile, by an attempt before, and all requests are recorded", 2, 3, func(w *world.Cluster) {
			nodes(w, "2", "node-a")
			requests(w, 1.9, 1)
			web := comes(w, 2, "web", "4", nil)
			w.Failed(2.002, web, noRoom)
			db := comes(w, 2.01, "db", "1", nil)
			comes(w, 2.011, "later", "4", free)
			requests(w, 2.02, 1)
			w.Bound(2.025, db, "node-a")
			world.Change(w, 2.1, sources.Updated, web, func(p *v1.Pod) { world.Reject(p, noRoom, "") })
			w.Add(2.1, &sources.StatusPatched{Pod: world.Key("web"), UID: "web", Sent: world.At(2.004)})
		}, `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (failure)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 960µs (outcome)
			2.011 db active UnscheduledPodAdd
			2.012 later active UnscheduledPodAdd
			2.025 db inflight (behind)
			2.025 db scheduled node-a (outcome)
			2.026 db deleted
			2.100 later inflight (turn)
			2.101 later unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"a pod is placed whose binding waits for the rate limit, longer than requests take", 2, 8, func(w *world.Cluster) {
			nodes(w, "4", "node-a")
			requests(w, 1.9, 250) // 150 more than may be sent at once: three seconds'
			large := comes(w, 2.001, "large", "2", nil)
			requests(w, 4.85, 1)
			w.Bound(4.86, large, "node-a")
		}, `
			2.002 large active UnscheduledPodAdd
			2.002 large inflight (turn)
			4.860 large scheduled node-a (outcome)
			4.861 large deleted
		`},
		{"a pod is rejected before any node is looked at", 2, 3, func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			pod := comes(w, 2, "store", "100m", func(p *v1.Pod) { world.Mount(p, "data") })
			w.Patched(2.01, pod, "0/1 nodes are available: persistentvolumeclaim \"data\" not found.", "")
		}, `
			2.001 store active UnscheduledPodAdd
			2.006 store inflight (failure)
			2.006 store unschedulable ScheduleAttemptFailure VolumeRestrictions in 350µs
		`},
		{"no node has come yet, and nodes are recorded", 0, 1.1, func(w *world.Cluster) {
			comes(w, 0.6, "web", "1", nil)
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
		}, `
			0.601 web active UnscheduledPodAdd
			0.601 web inflight (turn)
			0.601 web backoff ScheduleAttemptFailure in 350µs
		`},
	})
}

// TestCatchesUpToALimit: where a pod is seen to be bound that is behind many others, while the model's loop waits for an answer, the loop takes
// no more of them before it than it has time for in a hundred attempts' time.
func TestCatchesUpToALimit(t *testing.T) {
	var w world.Cluster
	world.Change(&w, 1, sources.Added, world.Node("node-a", "100"), nil)
	w.Failed(2.002, comes(&w, 2, "large", "200", nil), noRoom)
	var last *v1.Pod
	for i := range 150 {
		last = comes(&w, 2.01+0.000001*float64(i), fmt.Sprint("web-", i), "100m", nil)
	}
	w.Bound(2.2, last, "node-a")
	trace := traced(t, w.Recording(2.2), world.Config(t), 2.1)
	if n := strings.Count(trace, " inflight"); n != 100 || !strings.HasSuffix(trace, "2.200 web-149 inflight (behind)\n2.200 web-149 scheduled node-a (outcome)\n2.200 web-149 deleted\n") {
		t.Errorf("it makes %d attempts: %s", n, trace)
	}
}
