package shadow_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
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
	// That many pods fail at that interval, with something else between two failures and a pause after
	// every few. Then old and next fail.
	busyWithPauses := func(failures int, every float64, pauseAfter int, pause float64, between func(w *world.Cluster, seconds float64)) func(w *world.Cluster) {
		return func(w *world.Cluster) {
			addNodes(w, "4", "node-a")
			small := w.AddSmall(1.5)
			for i := range failures {
				addPod(w, 1.6, fmt.Sprintf("web-%03d", i), "8", nil)
			}
			for i := range failures {
				at := 1.7 + every*float64(i) + pause*float64(i/pauseAfter)
				w.Failed(at, world.PendingPod(fmt.Sprintf("web-%03d", i), "8"), noRoom)
				between(w, at)
			}
			w.Delete(4, small)
			w.Recorded(4.05, world.PendingPod("other", "4"), 1)
			w.Recorded(4.1, world.PendingPod("other", "4"), 2)
			old := addPod(w, 5, "old", "8", func(p *v1.Pod) { p.CreationTimestamp.Time = world.At(-100) })
			w.Patched(5.01, old, noRoom, "")
			addPod(w, 5.0011, "next", "8", func(p *v1.Pod) { p.CreationTimestamp.Time = world.At(-100); world.Reject(p, noRoom, "") })
		}
	}
	busy := func(every float64, between func(w *world.Cluster, seconds float64)) func(w *world.Cluster) {
		return busyWithPauses(40, every, 40, 0, between)
	}
	nothing := func(*world.Cluster, float64) {}
	const learned = `
			5.001 old active UnscheduledPodAdd
			5.002 next active UnscheduledPodAdd
			5.006 old inflight (failure)
			5.009 old unschedulable ScheduleAttemptFailure NodeResourcesFit in 3ms
			5.010 next inflight (turn)
			5.013 next unschedulable ScheduleAttemptFailure NodeResourcesFit in 3ms
		`
	n := 0
	checkMoves(t, []scenario{
		{"nothing between them", 5, 6, busyWithPauses(120, 0.003, 120, 0, nothing), learned},
		{"short pauses, which may be attempts", 5, 6, busyWithPauses(120, 0.003, 12, 0.006, nothing), learned},
		{"pauses that are too long for an attempt", 5, 6, busyWithPauses(120, 0.003, 4, 0.06, nothing), learned},
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

// TestUngatingIsLoggedTwice: kube-scheduler logs the move of an ungated pod twice.
func TestUngatingIsLoggedTwice(t *testing.T) {
	var c world.Cluster
	world.Change(&c, 1, sources.Added, world.Node("node-a", "1"), nil)
	web := world.Change(&c, 2, sources.Added, world.PendingPod("web", "2"), func(p *v1.Pod) { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "wait"}} })
	world.Change(&c, 5, sources.Updated, web, func(p *v1.Pod) { p.Spec.SchedulingGates = nil })
	var moves []string
	if err := timeline.Replay(t.Context(), c.Recording(5.5), timeline.Options{}, func(m *board.Transition) error {
		text := m.From.String() + ">" + m.To.String() + " " + m.Event
		if m.Restated() {
			text += " restated"
		}
		moves = append(moves, text)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	replayed.Compare(t, moves, []string{
		">gated UnscheduledPodAdd",
		"gated>active TargetPodUpdatePodSchedulingGatesEliminated",
		"active>active TargetPodUpdatePodSchedulingGatesEliminated restated",
		"active>inflight ",
		"inflight>unschedulable ScheduleAttemptFailure",
	})
}

// TestLoopWaitsWithoutSendTime: if the send time of a patch is unknown, the loop waits for the shortest
// usual duration of a request. The patched pod was not woken in the model.
func TestLoopWaitsWithoutSendTime(t *testing.T) {
	var c world.Cluster
	small := c.Small()
	web := c.AddStuck(2, "web")
	c.Recorded(3, web, 2)
	picky := world.Change(&c, 4, sources.Added, world.PendingPod("picky", "1"), func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} })
	picky = c.Patched(4.01, picky, "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.", "")
	c.Delete(10, small)
	world.Change(&c, 10.0035, sources.Updated, picky, func(p *v1.Pod) { world.Reject(p, world.TooSmall, "") })
	c.Add(10.0035, &sources.StatusPatched{Pod: world.Key("picky"), UID: picky.UID})
	var popped []float64
	err := timeline.Replay(t.Context(), c.Recording(11), timeline.Options{}, func(m *board.Transition) error {
		if m.To == queue.InFlight && m.Pod.Key.Name == "web" && m.Time.After(world.At(10)) {
			popped = append(popped, m.Time.Sub(world.At(10)).Seconds())
		}
		return nil
	})
	if err != nil || len(popped) != 1 || popped[0] < 0.0035 || popped[0] > 0.005 {
		t.Errorf("%v, web is popped after %v seconds, want after the patch", err, popped)
	}
}

// TestFlushesAfterLastEvent: flushes also run between the last event of a recording and its end.
func TestFlushesAfterLastEvent(t *testing.T) {
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

// TestClockOffsetMovesFlushes: a backoff ends with a whole second of the scheduler's clock. Once the offset
// of the source's clock is known, this applies to the backoff in progress, which ends at 3.01, and to
// later ones.
func TestClockOffsetMovesFlushes(t *testing.T) {
	withOffset := func(known float64, ahead time.Duration) func(w *world.Cluster) {
		return func(w *world.Cluster) {
			addNodes(w, "2", "node-a")
			if known < 2 {
				w.Add(known, &sources.Clocks{Ahead: ahead})
				w.Started(1.5) // the offset applies to the next scheduler too
			}
			web := world.Change(w, 2.01, sources.Updated, addPod(w, 2, "web", "4", nil), func(p *v1.Pod) {
				world.Reject(p, "running PreFilter plugin \"VolumeBinding\": error getting PVC", "")
				p.Status.Conditions[0].Reason = v1.PodReasonSchedulerError
			})
			w.Add(2.01, &sources.StatusPatched{Pod: world.Key(web.Name), UID: web.UID, Sent: world.At(2.005)})
			if known > 2 {
				w.Add(known, &sources.Clocks{Ahead: ahead})
			}
		}
	}
	const early = `
			3.380 web active BackoffComplete
			3.380 web inflight (turn)
			3.381 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`
	checkMoves(t, []scenario{
		{"no offset", 2.1, 4.5, withOffset(0.5, 0), `
			4.000 web active BackoffComplete
			4.000 web inflight (turn)
			4.001 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"380 ms ahead", 2.1, 4.5, withOffset(0.5, 380*time.Millisecond), early},
		{"380 ms ahead, known during the backoff", 2.1, 4.5, withOffset(2.6, 380*time.Millisecond), early},
		{"620 ms behind", 2.1, 4.5, withOffset(0.5, -620*time.Millisecond), early},
	})
}
