package shadow_test

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/queue/session/world/replayed"
	"github.com/schedq/schedq/sources"
)

// rejectedBefore gives a pod the condition of an earlier rejection. The recorder may have written of the
// pod before, so its attempts may leave no trace.
func rejectedBefore(p *v1.Pod) { world.Reject(p, noRoom, "") }

// addRequests adds n requests of the scheduler at once.
func addRequests(w *world.Cluster, seconds float64, n int) {
	for range n {
		w.Add(seconds, &sources.Requested{})
	}
}

// TestUnexpectedAttempts: an attempt is observed that is not the next one in queue order.
func TestUnexpectedAttempts(t *testing.T) {
	checkMoves(t, []scenario{
		{"a pod fails that is not in activeQ, while requests are rate-limited: earlier pods are tried first", 2, 2.1, func(w *world.Cluster) {
			addNodes(w, "100", "node-a")
			db := w.Patched(1.7, addPod(w, 1.65, "db", "200", nil), noRoom, "")
			for i := range 95 {
				w.Bound(1.9+0.0001*float64(i), addPod(w, 1.9+0.0001*float64(i), fmt.Sprint("old-", i), "1m", nil), "node-a")
			}
			addPod(w, 2, "web", "200", nil)
			w.Failed(2.03, db, noRoom)
		}, `
			2.001 web active UnscheduledPodAdd
			2.030 web inflight (turn)
			2.030 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 0s
			2.030 db inflight (behind)
			2.030 db unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
		`},
		{"a lease expires and is renewed", 2, 9, func(w *world.Cluster) {
			addNodes(w, "2", "node-a")
			w.Add(1.9, &sources.Silent{Since: world.At(1.8)})
			addPod(w, 2, "web", "4", rejectedBefore)
			w.Add(4.5, &sources.Silent{})
		}, `
			2.001 web active UnscheduledPodAdd
			4.500 silent
			4.500 web inflight (turn)
			4.501 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"a pod is bound as soon as the loop is free: it was the first", 2, 2.3, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "2"), nil)
			w.Failed(2.002, addPod(w, 2, "web", "4", nil), noRoom) // the loop waits for its patch, which is not observed
			addPod(w, 2.2071, "db", "4", nil)
			w.Bound(2.2078, addPod(w, 2.2072, "next", "1", nil), "node-a")
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

// TestLoopWaitsForPatchResponse: the loop waits for the response to the patch of a failed attempt. If the
// patch is not observed, the wait takes the longest usual time.
func TestLoopWaitsForPatchResponse(t *testing.T) {
	checkMoves(t, []scenario{
		{"without requests in the source", 2, 3, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			w.Failed(2.002, addPod(w, 2, "web", "2", nil), noRoom)
			addPod(w, 2.003, "db", "2", nil)
		}, `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (failure)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 960µs (outcome)
			2.004 db active UnscheduledPodAdd
			2.207 db inflight (turn)
			2.208 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"without requests in the source, in a gap of the pods' watch", 2, 3, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			web := addPod(w, 2, "web", "2", nil)
			addPod(w, 2.001, "db", "2", nil)
			addWatchGap(w, sources.PodsWatch, 2.0015, 9)
			w.Failed(2.0025, web, noRoom)
		}, `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (turn)
			2.002 db active UnscheduledPodAdd
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.46ms (outcome)
			2.007 db inflight (turn)
			2.008 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"a later pod is bound before a rate-limited patch: the patch is that of the next attempt", 2, 3.6, func(w *world.Cluster) {
			addNodes(w, "100", "node-a")
			for i := range 95 {
				w.Bound(1.9+0.0001*float64(i), addPod(w, 1.9+0.0001*float64(i), fmt.Sprint("old-", i), "1m", nil), "node-a")
			}
			web := addPod(w, 2, "web", "200", nil)
			w.Bound(2.5, addPod(w, 2.4, "new", "1", nil), "node-a")
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
		{"a rate-limited patch of a pod that fits in the model", 2, 3, func(w *world.Cluster) {
			addNodes(w, "4", "node-a")
			addRequests(w, 1.9, 150) // 50 beyond the burst take a second
			large, late := addPod(w, 2.001, "large", "2", nil), addPod(w, 2.1, "late", "1", nil)
			addRequests(w, 2.3, 1)
			w.Patched(2.305, large, noRoom, "")
			addRequests(w, 2.4, 1)
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
		{"a rate-limited patch and binding, and before them an update of a bound pod, which shows no attempt", 2, 3, func(w *world.Cluster) {
			addNodes(w, "4", "node-a")
			old := addPod(w, 1, "old", "1", func(p *v1.Pod) { p.Spec.NodeName = "node-a" })
			addRequests(w, 1.9, 150) // 50 beyond the burst take a second
			web := addPod(w, 1.95, "web", "9", nil)
			late, large := addPod(w, 2, "late", "1", nil), addPod(w, 2.001, "large", "8", nil)
			addRequests(w, 2.02, 1)
			w.Patched(2.025, web, noRoom, "")
			world.Change(w, 2.2, sources.Updated, old, func(p *v1.Pod) { p.Status.Phase = v1.PodRunning })
			addRequests(w, 2.3, 1)
			w.Patched(2.305, large, noRoom, "")
			addRequests(w, 2.4, 1)
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
		{"another pod is bound during the wait, by an earlier attempt, with all requests recorded", 2, 3, func(w *world.Cluster) {
			addNodes(w, "2", "node-a")
			addRequests(w, 1.9, 1)
			web := addPod(w, 2, "web", "4", nil)
			w.Failed(2.002, web, noRoom)
			db := addPod(w, 2.01, "db", "1", nil)
			addPod(w, 2.011, "later", "4", rejectedBefore)
			addRequests(w, 2.02, 1)
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
		{"the binding of an assigned pod is rate-limited for longer than a request takes", 2, 8, func(w *world.Cluster) {
			addNodes(w, "4", "node-a")
			addRequests(w, 1.9, 250) // 150 beyond the burst take three seconds
			large := addPod(w, 2.001, "large", "2", nil)
			addRequests(w, 4.85, 1)
			w.Bound(4.86, large, "node-a")
		}, `
			2.002 large active UnscheduledPodAdd
			2.002 large inflight (turn)
			4.860 large scheduled node-a (outcome)
			4.861 large deleted
		`},
		{"a pod is rejected before any node is checked", 2, 3, func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			pod := addPod(w, 2, "store", "100m", func(p *v1.Pod) { world.Mount(p, "data") })
			w.Patched(2.01, pod, "0/1 nodes are available: persistentvolumeclaim \"data\" not found.", "")
		}, `
			2.001 store active UnscheduledPodAdd
			2.006 store inflight (failure)
			2.006 store unschedulable ScheduleAttemptFailure VolumeRestrictions in 350µs
		`},
		{"before the first node of a recording with nodes", 0, 1.1, func(w *world.Cluster) {
			addPod(w, 0.6, "web", "1", nil)
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
		}, `
			0.601 web active UnscheduledPodAdd
			0.601 web inflight (turn)
			0.601 web backoff ScheduleAttemptFailure in 350µs
		`},
	})
}

// TestCatchingUpIsLimited: a pod is bound that is behind many others, while the model's loop waits for a
// response. The loop makes at most a hundred attempts at once to catch up.
func TestCatchingUpIsLimited(t *testing.T) {
	var w world.Cluster
	world.Change(&w, 1, sources.Added, world.Node("node-a", "100"), nil)
	w.Failed(2.002, addPod(&w, 2, "large", "200", nil), noRoom)
	var last *v1.Pod
	for i := range 150 {
		last = addPod(&w, 2.01+0.000001*float64(i), fmt.Sprint("web-", i), "100m", nil)
	}
	w.Bound(2.2, last, "node-a")
	trace := traceRecording(t, w.Recording(2.2), world.Config(t), 2.1)
	if n := strings.Count(trace, " inflight"); n != 100 || !strings.HasSuffix(trace, "2.200 web-149 inflight (behind)\n2.200 web-149 scheduled node-a (outcome)\n2.200 web-149 deleted\n") {
		t.Errorf("the loop makes %d attempts: %s", n, trace)
	}
}

// TestPatchAfterObservedFailure: an Event shows a failure before the model makes the attempt, and a patch
// with another message is sent 300 ms later. The patch is that of the next attempt.
func TestPatchAfterObservedFailure(t *testing.T) {
	checkMoves(t, []scenario{
		{"another message", 2, 2.6, func(w *world.Cluster) {
			addNodes(w, "2", "node-a")
			small := w.AddSmall(1)
			addPod(w, 1.6, "db", "4", rejectedBefore)
			web := addPod(w, 2, "web", "4", nil)
			w.Failed(2.0005, web, world.TooSmall)
			w.Delete(2.05, small)
			w.Patched(2.305, web, "0/2 nodes are available: 2 Insufficient cpu.", "")
		}, `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (behind)
			2.001 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 0s
			2.051 other backoff AssignedPodDelete
			2.051 db backoff AssignedPodDelete
			2.051 web backoff AssignedPodDelete
			2.051 other unschedulable (not tried)
			2.051 db inflight (turn)
			2.052 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.301 web inflight (failure)
			2.301 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
	})
}

// TestLearnedPace: the duration of attempts is learned from observed ones.
func TestLearnedPace(t *testing.T) {
	// Forty pods fail at that interval, with something else between two failures. After every such number of
	// failures the loop pauses. Then old and next fail.
	const never = 40
	busyWithPauses := func(every float64, pauseAfter int, pause float64, between func(w *world.Cluster, seconds float64)) func(w *world.Cluster) {
		return func(w *world.Cluster) {
			addNodes(w, "4", "node-a")
			small := w.AddSmall(1.5)
			for i := range 40 {
				addPod(w, 1.6, fmt.Sprintf("web-%02d", i), "8", nil)
			}
			for i := range 40 {
				at := 1.7 + every*float64(i) + pause*float64(i/pauseAfter)
				w.Failed(at, world.PendingPod(fmt.Sprintf("web-%02d", i), "8"), noRoom)
				between(w, at)
			}
			w.Delete(2.9, small)
			w.Recorded(2.95, world.PendingPod("other", "4"), 1)
			w.Recorded(3, world.PendingPod("other", "4"), 2)
			old := addPod(w, 5, "old", "8", func(p *v1.Pod) { p.CreationTimestamp.Time = world.At(-100) })
			w.Patched(5.01, old, noRoom, "")
			addPod(w, 5.0011, "next", "8", func(p *v1.Pod) { p.CreationTimestamp.Time = world.At(-100); world.Reject(p, noRoom, "") })
		}
	}
	busy := func(every float64, between func(w *world.Cluster, seconds float64)) func(w *world.Cluster) {
		return busyWithPauses(every, never, 0, between)
	}
	nothing := func(*world.Cluster, float64) {}
	learned := func(attempt string) string {
		return fmt.Sprintf(`
			5.001 old active UnscheduledPodAdd
			5.002 next active UnscheduledPodAdd
			5.006 old inflight (failure)
			5.008 old unschedulable ScheduleAttemptFailure NodeResourcesFit in %[1]s
			5.010 next inflight (turn)
			5.013 next unschedulable ScheduleAttemptFailure NodeResourcesFit in %[1]s
		`, attempt)
	}
	n := 0
	checkMoves(t, []scenario{
		{"nothing between them", 5, 6, busy(0.003, nothing), learned("2.71ms")},
		{"short pauses, which may be attempts", 5, 6, busyWithPauses(0.003, 10, 0.006, nothing), learned("2.71ms")},
		{"pauses that are too long for an attempt", 5, 6, busyWithPauses(0.003, 4, 0.1, nothing), learned("2.57ms")},
		{"a patch between them", 5, 6, busy(0.006, func(w *world.Cluster, at float64) {
			n++
			w.Add(at+0.003, &sources.StatusPatched{Pod: world.Key("gone"), UID: "gone", Sent: world.At(at)})
		}), `
			5.001 old active UnscheduledPodAdd
			5.002 next active UnscheduledPodAdd
			5.006 old inflight (failure)
			5.006 old unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			5.010 next inflight (turn)
			5.011 next unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"nothing between them, but the Events arrive after a watch gap", 5, 6, func(w *world.Cluster) {
			gap := sources.Gap{Since: world.At(1.5)}
			w.Add(1.5, &sources.WatchGap{Resource: sources.EventsWatch, Gap: gap})
			busy(0.003, func(w *world.Cluster, at float64) {
				if at > 1.7+0.003*38.5 {
					gap.Until = world.At(at)
					w.Add(at, &sources.WatchGap{Resource: sources.EventsWatch, Gap: gap})
				}
			})(w)
		}, `
			5.001 old active UnscheduledPodAdd
			5.002 next active UnscheduledPodAdd
			5.006 old inflight (failure)
			5.006 old unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			5.010 next inflight (turn)
			5.011 next unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"a binding between them", 5, 6, busy(0.003, func(w *world.Cluster, at float64) {
			n++
			name := fmt.Sprint("bound-", n)
			world.Change(w, at+0.001, sources.Updated, addPod(w, at+0.001, name, "1m", nil), func(p *v1.Pod) { p.Spec.NodeName = "node-a" })
		}), `
			5.001 old active UnscheduledPodAdd
			5.002 next active UnscheduledPodAdd
			5.006 old inflight (failure)
			5.006 old unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			5.010 next inflight (turn)
			5.011 next unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
	})
}

// TestClientRateLimit: bindings and patches count against the rate limit of the scheduler's client, unless
// every request is recorded. Once the burst is used up, requests are delayed, so a pod may have been
// tried although no attempt is observed.
func TestClientRateLimit(t *testing.T) {
	burst := func(exact bool, n int, one func(w *world.Cluster, seconds float64, name string)) func(w *world.Cluster) {
		return func(w *world.Cluster) {
			addNodes(w, "100", "node-a")
			if exact {
				w.Add(1.6, &sources.Requested{})
			}
			for i := range n {
				one(w, 1.9+0.0001*float64(i), fmt.Sprint("old-", i))
			}
			w.Patched(3.5, addPod(w, 2, "web", "200", nil), noRoom, "")
		}
	}
	binds := func(w *world.Cluster, seconds float64, name string) {
		w.Bound(seconds, addPod(w, seconds, name, "1m", nil), "node-a")
	}
	patches := func(w *world.Cluster, seconds float64, name string) {
		pod := addPod(w, seconds, name, "200", nil)
		w.Patched(seconds, pod, noRoom, "")
	}
	checkMoves(t, []scenario{
		{"bindings", 2, 3.6, burst(false, 95, binds), `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (turn)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"recorded requests", 2, 2.3, func(w *world.Cluster) {
			addNodes(w, "100", "node-a")
			addRequests(w, 1.999, 100)
			addPod(w, 2, "web", "200", nil)
		}, `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (turn)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"fewer bindings than the burst", 2, 3.6, burst(false, 70, binds), `
			2.001 web active UnscheduledPodAdd
			3.496 web inflight (failure)
			3.496 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"patches", 2, 3.6, burst(false, 95, patches), `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (turn)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"bindings don't count if requests are recorded", 2, 3.6, burst(true, 95, binds), `
			2.001 web active UnscheduledPodAdd
			3.496 web inflight (failure)
			3.496 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"patches don't count if requests are recorded", 2, 3.6, burst(true, 95, patches), `
			2.001 web active UnscheduledPodAdd
			3.496 web inflight (failure)
			3.496 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
	})
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

// TestLogBesideObjects: a log beside the objects shows starts of attempts, moves and dumps.
func TestLogBesideObjects(t *testing.T) {
	logs := func(seconds float64, verbosity int) func(w *world.Cluster) {
		return func(w *world.Cluster) { w.Add(seconds, &sources.Logged{Verbosity: verbosity}) }
	}
	fails := func(w *world.Cluster, began, ended float64, name string) {
		w.Add(ended, &sources.FailedAttempt{Pod: world.Key(name), UID: world.PendingPod(name, "1").UID, Message: noRoom, Log: true, Began: world.At(began)})
	}
	dump := func(w *world.Cluster, seconds float64, pod *v1.Pod, in sources.Tier) {
		w.Add(seconds, &sources.Dumped{Pod: world.Key(pod.Name), UID: pod.UID, In: in})
	}
	checkMoves(t, []scenario{
		{"an attempt starts before the pod's creation is delivered, and another while it is unschedulable", 2, 4, func(w *world.Cluster) {
			logs(0, 3)(w)
			addNodes(w, "4", "node-a")
			a := addPod(w, 2, "a", "8", nil)
			fails(w, 2.0005, 2.001, "a")
			a = w.Patched(2.01, a, noRoom, "")
			fails(w, 2.5, 2.504, "a")
			w.Patched(2.51, a, noRoom+" again", "")
		}, `
			2.001 a active UnscheduledPodAdd
			2.001 a inflight
			2.001 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 500µs (outcome)
			2.500 a inflight
			2.504 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 4ms (outcome)
		`},
		{"all moves for a while, with an attempt in flight at the start and at the end", 2, 4, func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			w.Failed(2.003, addPod(w, 2, "web", "4", nil), noRoom)
			logs(2.002, sources.MovesVerbosity)(w)
			for i, to := range []sources.Tier{sources.TierUnschedulable, sources.TierActive, sources.TierActive, sources.TierInFlight, sources.TierScheduled} {
				w.Add(2.1+0.1*float64(i), &sources.Move{Pod: world.Key("web"), To: to, Restated: i == 2})
			}
			w.Bound(2.5, world.PendingPod("web", "4"), "node-a")
			addPod(w, 2.6, "late", "1", nil)
			w.Add(2.61, &sources.Move{Pod: world.Key("late"), To: sources.TierActive})
			w.Add(2.62, &sources.Move{Pod: world.Key("late"), To: sources.TierInFlight})
			logs(2.7, 0)(w)
			logs(2.71, 0)(w)
			w.Bound(2.8, world.PendingPod("late", "1"), "node-a")
		}, `
			2.001 web active UnscheduledPodAdd
			2.002 web inflight (failure)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 300µs (outcome)
			2.800 late scheduled node-a (outcome)
			2.801 late deleted
		`},
		{"a dump lists a pod in flight", 2, 4, func(w *world.Cluster) {
			addNodes(w, "4", "node-a")
			a := addPod(w, 2, "a", "8", nil)
			w.Failed(2.005, a, noRoom)
			dump(w, 2.0045, a, sources.TierActive)
			placed := addPod(w, 2.5, "placed", "1", nil)
			dump(w, 2.5015, placed, sources.TierActive)
			dump(w, 2.503, placed, sources.TierBackoff)
		}, `
			2.001 a active UnscheduledPodAdd
			2.004 a inflight (failure)
			2.005 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 800µs (outcome)
			2.005 a active (dump)
			2.005 a unschedulable (not tried)
			2.501 placed active UnscheduledPodAdd
			2.503 placed backoff (dump)
			3.000 placed active BackoffComplete
			3.900 placed inflight (turn)
			3.906 placed unschedulable ScheduleAttemptFailure (unknown plugin) (not bound)
		`},
		{"a dump lists an assigned pod as unschedulable: its binding failed", 3, 5, func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			dump(w, 4, addPodWithVolume(w), sources.TierUnschedulable)
		}, `
			3.001 store active UnscheduledPodAdd
			3.001 store inflight (turn)
			4.000 store unschedulable ScheduleAttemptFailure (dump)
		`},
		{"a dump lists pods to which it does not apply", 2, 4, func(w *world.Cluster) {
			addNodes(w, "4", "node-a")
			theirs := addPod(w, 2, "theirs", "8", func(p *v1.Pod) { p.Spec.SchedulerName = "volcano" })
			gated := addPod(w, 2.05, "gated", "1", func(p *v1.Pod) { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "g"}} })
			dump(w, 3, gated, sources.TierUnschedulable) // dumps list gated pods so
			bound := w.Bound(2.11, addPod(w, 2.1, "bound", "1", nil), "node-a")
			again := addPod(w, 2.2, "again", "8", nil)
			w.Patched(2.21, again, noRoom, "")
			for _, pod := range []*v1.Pod{theirs, bound, world.PendingPod("nobody", "1")} {
				dump(w, 3, pod, sources.TierActive)
			}
			w.Add(3, &sources.Dumped{Pod: world.Key("again"), UID: "another", In: sources.TierActive})
		}, `
			2.051 gated gated UnscheduledPodAdd
			2.101 bound active UnscheduledPodAdd
			2.109 bound inflight (turn)
			2.110 bound scheduled node-a (outcome)
			2.111 bound deleted
			2.201 again active UnscheduledPodAdd
			2.206 again inflight (failure)
			2.206 again unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"a dump lists a pod in backoffQ that is unschedulable in the model", 2, 4, func(w *world.Cluster) {
			addNodes(w, "4", "node-a")
			a := w.Patched(2.01, addPod(w, 2, "a", "8", nil), noRoom, "")
			dump(w, 3, a, sources.TierBackoff)
			dump(w, 3.2, a, sources.TierUnschedulable)
			dump(w, 3.4, a, sources.TierUnschedulable)
		}, `
			2.001 a active UnscheduledPodAdd
			2.006 a inflight (failure)
			2.006 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			3.000 a backoff (dump)
			3.000 a inflight (turn)
			3.001 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
	})
}

// TestObservedFlushes: an observed attempt of a pod in backoffQ shows when the flush ran, at the latest.
func TestObservedFlushes(t *testing.T) {
	withLog := func(verbosity int, observe func(w *world.Cluster, a *v1.Pod)) func(w *world.Cluster) {
		return func(w *world.Cluster) {
			if verbosity > 0 {
				w.Add(0, &sources.Logged{Verbosity: verbosity})
			}
			small := w.Small()
			a := w.AddStuck(2.3, "a")
			w.Delete(2.5, small) // a backs off until 3.303, and the flush is expected at 4
			observe(w, a)
		}
	}
	checkMovesWith(t, noPopFromBackoffQ, []scenario{
		{"an Event", 2, 5, withLog(0, func(w *world.Cluster, a *v1.Pod) { w.Recorded(3.5, a, 2) }), `
			2.301 a active UnscheduledPodAdd
			2.302 a inflight (failure)
			2.303 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)
			2.501 a backoff AssignedPodDelete
			3.500 a active BackoffComplete
			3.500 a inflight (turn)
			3.500 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 0s
		`},
		{"an Event, and the next flush a second after it", 4, 7, func(w *world.Cluster) {
			small := w.AddSmall(1)
			withLog(0, func(w *world.Cluster, a *v1.Pod) {
				w.Recorded(3.5, a, 2)
				w.Delete(3.7, small)
			})(w)
		}, `
			6.303 a active BackoffComplete
			6.303 a inflight (turn)
			6.304 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"the logged start of an attempt", 2, 5, withLog(3, func(w *world.Cluster, a *v1.Pod) {
			w.Add(3.5, &sources.FailedAttempt{Pod: world.Key("a"), UID: "a", Message: noRoom, Log: true, Began: world.At(3.4)})
		}), `
			2.301 a active UnscheduledPodAdd
			2.302 a inflight (failure)
			2.303 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)
			2.501 a backoff AssignedPodDelete
			3.400 a active BackoffComplete
			3.400 a inflight
			3.500 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 100ms (outcome)
		`},
		{"an attempt before the end of the backoff shows no flush", 2, 5, withLog(0, func(w *world.Cluster, a *v1.Pod) { w.Recorded(3.1, a, 2) }), `
			2.301 a active UnscheduledPodAdd
			2.302 a inflight (failure)
			2.303 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)
			2.501 a backoff AssignedPodDelete
			3.100 a inflight (behind)
			3.100 a unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
		`},
	})
}

// countAttempts returns the number of attempts of the pod.
func countAttempts(t *testing.T, rec *sources.Recording, pod string) (n int) {
	t.Helper()
	for _, m := range replayed.Moves(t, rec, pod) {
		if strings.Contains(m, ">inflight") {
			n++
		}
	}
	return n
}

// TestPatchBesideLog: if the scheduler's log contains the end of each attempt, a patch is not another
// attempt.
func TestPatchBesideLog(t *testing.T) {
	for verbosity, want := range map[int]int{2: 1, 0: 2} {
		t.Run(fmt.Sprintf("v=%d", verbosity), func(t *testing.T) {
			var c world.Cluster
			c.Add(0, &sources.Logged{Verbosity: verbosity})
			world.Change(&c, 1, sources.Added, world.Node("node-a", "1"), nil)
			web := world.Change(&c, 2, sources.Added, world.PendingPod("web", "2"), nil)
			c.Add(2.003, &sources.FailedAttempt{Pod: world.Key("web"), UID: web.UID, Message: world.TooSmall, Log: verbosity > 0})
			web = c.Patched(2.01, web, world.TooSmall, "")
			c.Patched(5, web, world.TooSmall, "")
			if got := countAttempts(t, c.Recording(6), "web"); got != want {
				t.Errorf("it is tried %d times, want %d", got, want)
			}
		})
	}
}

// startWithoutPop is the start of a scheduler without SchedulerPopFromBackoffQ.
func startWithoutPop() *sources.SchedulerStarted {
	return &sources.SchedulerStarted{PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1,
		Gates: map[string]bool{"SchedulerPopFromBackoffQ": false}}
}

// TestLateObservedFlush: a flush that is inferred from the attempt of one pod does not move a pod whose
// backoff ends later. The start of the scheduler, and so its flushes, are known only roughly.
func TestLateObservedFlush(t *testing.T) {
	var c world.Cluster
	c.Add(0, startWithoutPop())
	small := c.Small()
	a, b := c.AddStuck(2.300, "a"), c.AddStuck(2.340, "b")
	c.Delete(2.5, small)
	c.Recorded(3.350, a, 2) // the real flushes run at 320 ms of each second
	c.Recorded(4.325, b, 2)
	rec := c.Recording(4.5)
	const woken = "2 unschedulable>backoff AssignedPodDelete NodeResourcesFit modelled"
	for pod, second := range map[string]string{"a": "3", "b": "4"} {
		replayed.Compare(t, replayed.Moves(t, rec, pod)[3:], []string{woken,
			second + " backoff>active BackoffComplete NodeResourcesFit modelled",
			second + " active>inflight NodeResourcesFit modelled",
			second + " inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled",
		})
	}
}
