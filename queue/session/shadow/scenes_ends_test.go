package shadow_test

import (
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestPreemptsInTheLoop: up to v1.32 the loop waits until the victims are deleted, and changes delivered meanwhile come during the attempt.
func TestPreemptsInTheLoop(t *testing.T) {
	victims := func(w *world.Cluster) (low *v1.Pod) {
		world.Change(w, 1, sources.Added, world.Node("node-a", "2"), nil)
		low = runsOn(w, "low", "1900m", 0, 0)
		comes(w, 2, "high", "1900m", func(p *v1.Pod) { priority(100)(p); free(p) })
		comes(w, 2.01, "next", "200", free)
		return low
	}
	playWith(t, func(cfg *schedulerconfig.Config) { *cfg = *cfg.ForVersion("v1.32.0") }, []scene{
		{"until the Event of its failure", 2, 2.5, func(w *world.Cluster) {
			world.Change(w, 2.08, sources.Deleted, victims(w), nil)
			w.Failed(2.09, world.PendingPod("high", "1900m"), noRoom)
		}, `
			2.001 high active UnschedulablePodAdd
			2.001 high inflight (turn)
			2.011 next active UnschedulablePodAdd
			2.090 high backoff ScheduleAttemptFailure NodeResourcesFit node-a in 88.96ms (outcome)
			2.295 next inflight (turn)
			2.296 next unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"until its victim is seen to be deleted", 2, 2.5, func(w *world.Cluster) { world.Change(w, 2.08, sources.Deleted, victims(w), nil) }, `
			2.001 high active UnschedulablePodAdd
			2.001 high inflight (turn)
			2.011 next active UnschedulablePodAdd
			2.080 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 79ms
			2.081 high backoff AssignedPodDelete
			2.285 next inflight (turn)
			2.286 next unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
	})
}

// TestSeenGoing: what the model makes of pods that go: what waited for them goes on.
func TestSeenGoing(t *testing.T) {
	victim := func(w *world.Cluster) (small, low *v1.Pod) {
		world.Change(w, 1, sources.Added, world.Node("node-a", "2"), nil)
		small, low = runsOn(w, "small", "100m", 0, 0), runsOn(w, "low", "1900m", 0, 30)
		w.Patched(2.006, comes(w, 2, "high", "1900m", priority(100)), noRoom, "node-a")
		return small, low
	}
	play(t, []scene{
		{"a victim that is going: its preemptor waits for no more", 2, 3, func(w *world.Cluster) {
			small, low := victim(w)
			world.Change(w, 2.011, sources.Updated, low, going)
			world.Change(w, 2.03, sources.Deleted, small, nil)
		}, `
			2.001 high active UnscheduledPodAdd
			2.002 high inflight (failure)
			2.002 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
			2.031 high backoff AssignedPodDelete
			2.031 high inflight (turn)
			2.032 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
		`},
		{"a victim that is gone at once", 2, 2.5, func(w *world.Cluster) {
			_, low := victim(w)
			world.Change(w, 2.011, sources.Deleted, low, nil)
		}, `
			2.001 high active UnscheduledPodAdd
			2.002 high inflight (failure)
			2.002 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
			2.012 high backoff AssignedPodDelete
			2.012 high inflight (turn)
			2.018 high unschedulable ScheduleAttemptFailure NodeResourcesFit (not bound)
		`},
		{"a victim that changes, and is going later", 2, 3, func(w *world.Cluster) {
			small, low := victim(w)
			low = world.Change(w, 2.011, sources.Updated, low, func(p *v1.Pod) { p.Labels = map[string]string{"new": "yes"} })
			world.Change(w, 2.03, sources.Deleted, small, nil)
			world.Change(w, 2.5, sources.Updated, low, going)
		}, `
			2.001 high active UnscheduledPodAdd
			2.002 high inflight (failure)
			2.002 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
			2.031 high gated AssignedPodDelete
		`},
		{"a victim of a pod that is nominated elsewhere than the model has it", 2, 5, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			world.Change(w, 1, sources.Added, world.Node("node-b", "1100m"), nil)
			runsOn(w, "a", "1", 0, 30)
			b := comes(w, 1, "b", "1", func(p *v1.Pod) { p.Spec.NodeName = "node-b"; priority(1)(p) })
			small, other := comes(w, 1, "small", "100m", priority(1)), comes(w, 1, "other", "10m", priority(1))
			small, other = w.Bound(1.01, small, "node-b"), w.Bound(1.02, other, "node-b")
			high := w.Patched(2.006, comes(w, 2, "high", "1", priority(100)), noRoom, "node-a")
			w.Patched(2.95, high, noRoom+" again", "node-b")
			world.Change(w, 4, sources.Deleted, other, nil)
			world.Change(w, 4.9, sources.Updated, b, going)
			world.Change(w, 4.91, sources.Deleted, small, nil)
		}, `
			2.001 high active UnscheduledPodAdd
			2.002 high inflight (failure)
			2.002 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 670µs
			2.951 high gated AssignedPodDelete
			4.001 high gated AssignedPodDelete
			4.911 high active AssignedPodDelete
			4.911 high inflight (turn)
			4.912 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 670µs
		`},
		{"a pod for whose patch the loop waits: it goes on", 2, 2.1, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			web := comes(w, 2, "web", "2", nil)
			w.Failed(2.002, web, noRoom)
			comes(w, 2.003, "db", "2", nil)
			world.Change(w, 2.05, sources.Deleted, web, nil)
		}, `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (failure)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 960µs (outcome)
			2.004 db active UnscheduledPodAdd
			2.051 web deleted
			2.051 db inflight (turn)
			2.052 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"a pod for whose patch the loop waits is bound: it goes on", 2, 2.1, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "2"), nil)
			web := comes(w, 2, "web", "4", nil)
			w.Failed(2.002, web, noRoom)
			comes(w, 2.003, "db", "2", nil)
			w.Bound(2.05, web, "node-a")
		}, `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (failure)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 960µs (outcome)
			2.004 db active UnscheduledPodAdd
			2.050 web inflight (behind)
			2.050 web scheduled node-a (outcome)
			2.050 db inflight (turn)
			2.051 web deleted
		`},
		{"pods that go between two schedulers, of which there are more", 2, 5, func(w *world.Cluster) {
			w.Started(0.5)
			nodes(w, "1", "node-a")
			web := w.Patched(2.01, comes(w, 2, "web", "4", nil), noRoom, "")
			world.Change(w, 2.9995, sources.Deleted, web, nil)
			w.Started(3)
			w.Started(4)
		}, `
			2.001 web active UnscheduledPodAdd
			2.006 web inflight (failure)
			2.006 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			3.000 web deleted
			3.000 other active UnscheduledPodAdd
			4.000 other active UnscheduledPodAdd
			4.900 other inflight (turn)
			4.901 other unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
	})
}

// TestSeenTooEarly: an Event comes before the changes that led to it, which the scheduler had by then. None comes twice.
func TestSeenTooEarly(t *testing.T) {
	play(t, []scene{{"of two nodes", 3, 4, func(w *world.Cluster) {
		nodes(w, "1", "node-a")
		web := w.Patched(2.01, comes(w, 2, "web", "4", nil), noRoom, "")
		w.Failed(3, web, noRoom)
		world.Change(w, 3.004, sources.Added, world.Node("node-b", "1"), nil)
		world.Change(w, 3.005, sources.Added, world.Node("node-c", "4"), func(n *v1.Node) { n.Spec.Unschedulable = true })
		world.Change(w, 3.006, sources.Added, world.Node("node-d", "4"), nil)
	}, `
			3.000 other active NodeAdd
			3.000 web backoff NodeAdd
			3.000 web inflight (behind)
			3.000 web unschedulable ScheduleAttemptFailure NodeResourcesFit,NodeUnschedulable in 0s
			3.000 other unschedulable (not tried)
			3.007 web backoff NodeAdd
			3.007 other active NodeAdd
			3.007 other unschedulable (not tried)
			3.007 web inflight (turn)
			3.013 web unschedulable ScheduleAttemptFailure NodeResourcesFit,NodeUnschedulable (not bound)
		`}})
}

// TestSeenToWork: if no scheduler seemed to be running, any sign of one lets the loop go on.
func TestSeenToWork(t *testing.T) {
	silent := func(then func(w *world.Cluster, bound *v1.Pod)) func(w *world.Cluster) {
		return func(w *world.Cluster) {
			nodes(w, "2", "node-a")
			bound := comes(w, 1.8, "bound", "100m", func(p *v1.Pod) { p.Spec.NodeName = "node-a" })
			comes(w, 2, "web", "4", nil) // whose attempt would show
			w.Add(19, &sources.Mark{})
			comes(w, 19.5, "free", "4", free)
			comes(w, 19.6, "theirs", "1", func(p *v1.Pod) { p.Spec.SchedulerName = "volcano" })
			comes(w, 19.7, "small", "1", free)
			then(w, bound)
		}
	}
	play(t, []scene{
		{"an Event of its", 19, 20.2, silent(func(w *world.Cluster, _ *v1.Pod) { w.Failed(20, world.PendingPod("web", "4"), noRoom) }), `
			19.501 free active UnscheduledPodAdd
			19.701 small active UnscheduledPodAdd
			20.000 silent
			20.000 web inflight (behind)
			20.000 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 0s
			20.000 free inflight (turn)
			20.001 free unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			20.001 small inflight (turn)
			20.006 small unschedulable ScheduleAttemptFailure (unknown plugin) (not bound)
		`},
		{"a patch of its", 19, 20.2, silent(func(w *world.Cluster, _ *v1.Pod) { w.Patched(20, world.PendingPod("web", "4"), noRoom, "") }), `
			19.501 free active UnscheduledPodAdd
			19.701 small active UnscheduledPodAdd
			20.000 silent
			20.000 web inflight (behind)
			20.000 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 0s
			20.000 free inflight (turn)
			20.001 free unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			20.001 small inflight (turn)
			20.007 small unschedulable ScheduleAttemptFailure (unknown plugin) (not bound)
		`},
		{"nothing of its", 19, 20.2, silent(func(w *world.Cluster, bound *v1.Pod) {
			w.Failed(20, world.PendingPod("nobody", "4"), noRoom)
			w.Add(20.01, &sources.FailedAttempt{Pod: world.Key("web"), UID: "another", Message: noRoom})
			world.Change(w, 20.02, sources.Updated, bound, func(p *v1.Pod) { p.Labels = map[string]string{"new": "yes"} })
			world.Change(w, 20.03, sources.Updated, world.PendingPod("web", "4"), func(p *v1.Pod) { p.Labels = map[string]string{"new": "yes"} })
			w.Bound(20.04, world.Change(w, 20.04, sources.Updated, world.PendingPod("theirs", "1"), func(p *v1.Pod) { p.Spec.SchedulerName = "volcano" }), "node-a")
		}), `
			19.501 free active UnscheduledPodAdd
			19.701 small active UnscheduledPodAdd
		`},
		{"a lease that is held, before the scheduler is there", 2, 4, func(w *world.Cluster) {
			nodes(w, "2", "node-a")
			w.Add(1.9, &sources.Silent{})
			comes(w, 2, "web", "1", nil)
			w.Started(3)
		}, `
			3.000 other active UnscheduledPodAdd
			3.000 web active UnscheduledPodAdd
			3.900 other inflight (turn)
			3.901 other unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			3.901 web inflight (turn)
			3.906 web unschedulable ScheduleAttemptFailure (unknown plugin) (not bound)
		`},
	})
}

// TestSeenNew: of a pod that has just been created nothing was written before, so that its next attempts have to show.
func TestSeenNew(t *testing.T) {
	created := func(seconds float64) func(w *world.Cluster) {
		return func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			small := w.AddSmall(1.6)
			web := comes(w, 3, "web", "4", func(p *v1.Pod) { p.CreationTimestamp.Time = world.At(seconds); world.Reject(p, noRoom, "") })
			w.Failed(3.003, web, noRoom)
			w.Delete(4, small)
		}
	}
	play(t, []scene{
		{"just now", 3, 4.2, created(2), `
			3.001 web active UnscheduledPodAdd
			3.002 web inflight (failure)
			3.003 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)
			4.001 other active AssignedPodDelete
			4.001 web backoff AssignedPodDelete
			4.100 other inflight (turn)
			4.101 other unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			4.101 web inflight (turn)
			4.101 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
	})
}

// TestSeenAsync: a loop that does not wait for the answers to its patches.
func TestSeenAsync(t *testing.T) {
	async := func(cfg *schedulerconfig.Config) { cfg.AsyncAPICalls = true }
	boundAfter := func(n int) func(w *world.Cluster) { // n requests: those beyond 100 wait for up to a second
		return func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			requests(w, 1.9, n)
			web := comes(w, 2, "web", "4", free)
			requests(w, 2.896, 1)
			w.Bound(2.9, web, "node-a")
		}
	}
	inTurn := func(w *world.Cluster) *v1.Pod { // web's turn is first, and db fails
		nodes(w, "2", "node-a")
		web := comes(w, 2, "web", "4", func(p *v1.Pod) { world.Reject(p, "of old", "") })
		w.Failed(2.01, comes(w, 2, "db", "4", free), noRoom)
		return web
	}
	playWith(t, async, []scene{
		{"a patch comes late: it is that of another attempt", 2, 4, func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			web := w.Patched(2.01, comes(w, 2, "web", "4", nil), noRoom, "")
			w.Patched(3, web, noRoom+" again", "")
		}, `
			2.001 web active UnscheduledPodAdd
			2.006 web inflight (failure)
			2.006 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			3.000 web inflight (behind)
			3.000 web unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
		`},
		{"another fails just behind, and the patch comes late: its call has waited", 2, 2.5, func(w *world.Cluster) {
			w.Patched(2.3, inTurn(w), noRoom, "")
		}, `
			2.001 web active UnscheduledPodAdd
			2.001 db active UnscheduledPodAdd
			2.001 web inflight (turn)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.002 db inflight (turn)
			2.010 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 8.26ms (outcome)
		`},
		{"another fails just behind, and no patch comes: the loop took that one", 2, 2.5, func(w *world.Cluster) { inTurn(w) }, `
			2.001 web active UnscheduledPodAdd
			2.001 db active UnscheduledPodAdd
			2.001 db inflight (in place)
			2.010 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 8.92ms (outcome)
			2.010 web inflight (turn)
			2.011 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"an attempt is seen that the model has not made, and its patch takes long", 2, 4, func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			web := w.Patched(2.01, comes(w, 2, "web", "4", nil), noRoom, "")
			w.Failed(3, web, noRoom+" again")
			comes(w, 3.01, "db", "4", free)
			world.Change(w, 3.3, sources.Updated, web, func(p *v1.Pod) { world.Reject(p, noRoom+" again", "") })
			w.Add(3.3, &sources.StatusPatched{Pod: world.Key("web"), UID: "web", Sent: world.At(3.003)})
		}, `
			2.001 web active UnscheduledPodAdd
			2.006 web inflight (failure)
			2.006 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			3.000 db active UnscheduledPodAdd
			3.000 web inflight (behind)
			3.000 web unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
			3.000 db inflight (turn)
			3.001 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"its request had not waited: it was placed just before", 2, 4, boundAfter(0), `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (turn)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.900 web inflight (behind)
			2.900 web scheduled node-a (outcome)
			2.901 web deleted
		`},
	})
	// The call that patches a pod waits for others, and carries what the pod's last attempt before it was made failed with
	// (backend/api_dispatcher, v1.34, Run and call_queue.go, merge).
	waited := func(message string) func(w *world.Cluster) {
		return func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			web := comes(w, 2, "web", "4", nil)
			w.Failed(2.003, web, noRoom)
			world.Change(w, 2.5, sources.Updated, web, func(p *v1.Pod) { world.Reject(p, message, "") })
			w.Add(2.5, &sources.StatusPatched{Pod: world.Key("web"), UID: "web", Sent: world.At(2.495)})
		}
	}
	const tried = `
			2.001 web active UnscheduledPodAdd
			2.002 web inflight (failure)
			2.003 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)`
	playWith(t, async, []scene{
		{"a patch comes late, with what the last attempt failed with: its call has waited", 2, 4, waited(noRoom), tried},
		{"a patch comes late, with something else: another attempt failed", 2, 4, waited(noRoom + " again"), tried + `
			2.500 web inflight (behind)
			2.500 web unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
		`},
	})
	play(t, []scene{
		{"a loop that waits: an attempt is seen that the model has not made, and its patch takes long", 2, 4, func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			web := w.Patched(2.01, comes(w, 2, "web", "4", nil), noRoom, "")
			w.Failed(3, web, noRoom+" again")
			comes(w, 3.01, "db", "4", free)
			world.Change(w, 3.3, sources.Updated, web, func(p *v1.Pod) { world.Reject(p, noRoom+" again", "") })
			w.Add(3.3, &sources.StatusPatched{Pod: world.Key("web"), UID: "web", Sent: world.At(3.003)})
		}, `
			2.001 web active UnscheduledPodAdd
			2.006 web inflight (failure)
			2.006 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			3.000 db active UnscheduledPodAdd
			3.000 web inflight (behind)
			3.000 web unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
			3.300 db inflight (turn)
			3.301 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"an attempt that changes nothing is seen, and a patch of the next follows", 2, 4, func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			web := w.Patched(2.01, comes(w, 2, "web", "4", nil), noRoom, "")
			w.Failed(3, web, noRoom)
			w.Patched(3.056, web, noRoom+" again", "")
		}, `
			2.001 web active UnscheduledPodAdd
			2.006 web inflight (failure)
			2.006 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			3.000 web inflight (behind)
			3.000 web unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
			3.056 web inflight (behind)
			3.056 web unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
		`},
		{"another attempt is seen to end: the patch of the one before is waited for no more", 2, 2.1, func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			a := comes(w, 2, "a", "4", func(p *v1.Pod) { world.Reject(p, "of old", "") })
			b := comes(w, 2.0001, "b", "4", free)
			comes(w, 2.0002, "c", "4", free)
			w.Failed(2.0035, b, noRoom)
			world.Change(w, 2.013, sources.Updated, a, func(p *v1.Pod) { world.Reject(p, noRoom, "") })
			w.Add(2.013, &sources.StatusPatched{Pod: world.Key("a"), UID: "a", Sent: world.At(2.01)})
		}, `
			2.001 a active UnscheduledPodAdd
			2.001 a inflight (turn)
			2.001 b active UnscheduledPodAdd
			2.001 c active UnscheduledPodAdd
			2.002 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 740µs
			2.003 b inflight (behind)
			2.003 b unschedulable ScheduleAttemptFailure NodeResourcesFit in 0s
			2.003 c inflight (turn)
			2.004 c unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
	})
}
