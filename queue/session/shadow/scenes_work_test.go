package shadow_test

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestSeenPace: how long attempts take, and how long after the answer to a patch the next begins, is learned from those that are seen.
func TestSeenPace(t *testing.T) {
	// Twenty pods fail one after the other, each so long after the one before, and between them something is seen.
	busy := func(every float64, between func(w *world.Cluster, seconds float64)) func(w *world.Cluster) {
		return func(w *world.Cluster) {
			nodes(w, "4", "node-a")
			small := w.AddSmall(1.5)
			for i := range 40 {
				comes(w, 1.6, fmt.Sprintf("web-%02d", i), "8", nil)
			}
			for i := range 40 {
				at := 1.7 + every*float64(i)
				w.Failed(at, world.PendingPod(fmt.Sprintf("web-%02d", i), "8"), noRoom)
				between(w, at)
			}
			w.Delete(2.9, small)
			w.Recorded(2.95, world.PendingPod("other", "4"), 1)
			w.Recorded(3, world.PendingPod("other", "4"), 2)
			old := comes(w, 5, "old", "8", func(p *v1.Pod) { p.CreationTimestamp.Time = world.At(-100) })
			w.Patched(5.01, old, noRoom, "")
			comes(w, 5.0011, "next", "8", func(p *v1.Pod) { p.CreationTimestamp.Time = world.At(-100); world.Reject(p, noRoom, "") })
		}
	}
	n := 0
	play(t, []scene{
		{"nothing between them", 5, 6, busy(0.003, func(*world.Cluster, float64) {}), `
			5.001 old active UnscheduledPodAdd
			5.002 next active UnscheduledPodAdd
			5.006 old inflight (failure)
			5.008 old unschedulable ScheduleAttemptFailure NodeResourcesFit in 2.71ms
			5.010 next inflight (turn)
			5.013 next unschedulable ScheduleAttemptFailure NodeResourcesFit in 2.71ms
		`},
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
		{"nothing between them, but Events are not heard, and come when they are", 5, 6, func(w *world.Cluster) {
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
			world.Change(w, at+0.001, sources.Updated, comes(w, at+0.001, name, "1m", nil), func(p *v1.Pod) { p.Spec.NodeName = "node-a" })
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

// TestSeenLimited: bindings and patches count against the rate limit of the scheduler's client, unless every request is recorded. Once it is
// used up, a pod without a sign of an attempt may have been tried all the same.
func TestSeenLimited(t *testing.T) {
	burst := func(exact bool, n int, one func(w *world.Cluster, seconds float64, name string)) func(w *world.Cluster) {
		return func(w *world.Cluster) {
			nodes(w, "100", "node-a")
			if exact {
				w.Add(1.6, &sources.Requested{})
			}
			for i := range n {
				one(w, 1.9+0.0001*float64(i), fmt.Sprint("old-", i))
			}
			w.Patched(3.5, comes(w, 2, "web", "200", nil), noRoom, "")
		}
	}
	binds := func(w *world.Cluster, seconds float64, name string) {
		w.Bound(seconds, comes(w, seconds, name, "1m", nil), "node-a")
	}
	patches := func(w *world.Cluster, seconds float64, name string) {
		pod := comes(w, seconds, name, "200", nil)
		w.Patched(seconds, pod, noRoom, "")
	}
	play(t, []scene{
		{"by bindings", 2, 3.6, burst(false, 95, binds), `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (turn)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"by recorded requests", 2, 2.3, func(w *world.Cluster) {
			nodes(w, "100", "node-a")
			requests(w, 1.999, 100)
			comes(w, 2, "web", "200", nil)
		}, `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (turn)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"by fewer bindings", 2, 3.6, burst(false, 70, binds), `
			2.001 web active UnscheduledPodAdd
			3.496 web inflight (failure)
			3.496 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"by patches", 2, 3.6, burst(false, 95, patches), `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (turn)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"not by bindings, if requests are recorded", 2, 3.6, burst(true, 95, binds), `
			2.001 web active UnscheduledPodAdd
			3.496 web inflight (failure)
			3.496 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"not by patches, if requests are recorded", 2, 3.6, burst(true, 95, patches), `
			2.001 web active UnscheduledPodAdd
			3.496 web inflight (failure)
			3.496 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
	})
}

// TestSeenRestart: a scheduler that starts has nothing of what the one before knew.
func TestSeenRestart(t *testing.T) {
	play(t, []scene{
		{"pods that went meanwhile are gone, in the order of their names", 2, 6, func(w *world.Cluster) {
			w.Started(0.5)
			nodes(w, "1", "node-a")
			z, a := w.Patched(2.01, comes(w, 2, "z", "4", nil), noRoom, ""), w.Patched(2.11, comes(w, 2.1, "a", "4", nil), noRoom, "")
			m := w.Patched(2.21, comes(w, 2.2, "m", "4", nil), noRoom, "")
			bound := comes(w, 2.9995, "b", "1", nil)
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
		{"its client's rate limit is fresh", 2, 6, func(w *world.Cluster) {
			w.Started(0.5)
			nodes(w, "100", "node-a")
			for i := range 95 {
				w.Bound(1.9+0.0001*float64(i), comes(w, 1.9, fmt.Sprint("old-", i), "1m", nil), "node-a")
			}
			w.Started(2)
			w.Patched(3.5, comes(w, 2.1, "web", "200", nil), noRoom, "")
		}, `
			2.000 other active UnscheduledPodAdd
			2.101 web active UnscheduledPodAdd
			3.496 web inflight (failure)
			3.496 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			5.900 other inflight (turn)
			5.906 other unschedulable ScheduleAttemptFailure (unknown plugin) (not bound)
		`},
		{"it tries at once what was tried just before", 2, 6, func(w *world.Cluster) {
			w.Started(0.5)
			nodes(w, "1", "node-a")
			web := comes(w, 2, "web", "4", nil)
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
		{"its release decides, unless it is inferred", 2, 6, func(w *world.Cluster) {
			w.Started(0.5)
			nodes(w, "1", "node-a")
			w.Patched(2.01, comes(w, 2, "web", "4", nil), noRoom, "")
			w.Add(3, &sources.SchedulerStarted{Release: "v1.31.0", PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1})
			w.Add(4, &sources.SchedulerRunning{Release: "v1.31.0"}) // which is known
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

// TestSeenByALog: what the model makes of a log beside the objects: of its verbosity, of beginnings of attempts, of dumps.
func TestSeenByALog(t *testing.T) {
	logs := func(seconds float64, verbosity int) func(w *world.Cluster) {
		return func(w *world.Cluster) { w.Add(seconds, &sources.Logged{Verbosity: verbosity}) }
	}
	fails := func(w *world.Cluster, began, ended float64, name string) {
		w.Add(ended, &sources.FailedAttempt{Pod: world.Key(name), UID: world.PendingPod(name, "1").UID, Message: noRoom, Log: true, Began: world.At(began)})
	}
	dump := func(w *world.Cluster, seconds float64, pod *v1.Pod, in sources.Tier) {
		w.Add(seconds, &sources.Dumped{Pod: world.Key(pod.Name), UID: pod.UID, In: in})
	}
	play(t, []scene{
		{"an attempt begins before the pod's creation is delivered, and another while it is unschedulable", 2, 4, func(w *world.Cluster) {
			logs(0, 3)(w)
			nodes(w, "4", "node-a")
			a := comes(w, 2, "a", "8", nil)
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
		{"it tells all moves, and then none: an attempt is under way at either end", 2, 4, func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			w.Failed(2.003, comes(w, 2, "web", "4", nil), noRoom)
			logs(2.002, sources.MovesVerbosity)(w)
			for i, to := range []sources.Tier{sources.TierUnschedulable, sources.TierActive, sources.TierActive, sources.TierInFlight, sources.TierScheduled} {
				w.Add(2.1+0.1*float64(i), &sources.Move{Pod: world.Key("web"), To: to, Restated: i == 2})
			}
			w.Bound(2.5, world.PendingPod("web", "4"), "node-a")
			comes(w, 2.6, "late", "1", nil)
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
		{"a dump lists a pod whose attempt is under way", 2, 4, func(w *world.Cluster) {
			nodes(w, "4", "node-a")
			a := comes(w, 2, "a", "8", nil)
			w.Failed(2.005, a, noRoom)
			dump(w, 2.0045, a, sources.TierActive)
			placed := comes(w, 2.5, "placed", "1", nil)
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
		{"a dump lists a pod that was placed as unschedulable: its binding has failed", 3, 5, func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			dump(w, 4, wantsVolume(w), sources.TierUnschedulable)
		}, `
			3.001 store active UnscheduledPodAdd
			3.001 store inflight (turn)
			4.000 store unschedulable ScheduleAttemptFailure (dump)
		`},
		{"a dump lists pods that it tells nothing of", 2, 4, func(w *world.Cluster) {
			nodes(w, "4", "node-a")
			theirs := comes(w, 2, "theirs", "8", func(p *v1.Pod) { p.Spec.SchedulerName = "volcano" })
			gated := comes(w, 2.05, "gated", "1", func(p *v1.Pod) { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "g"}} })
			dump(w, 3, gated, sources.TierUnschedulable) // as which gated pods are listed
			bound := w.Bound(2.11, comes(w, 2.1, "bound", "1", nil), "node-a")
			again := comes(w, 2.2, "again", "8", nil)
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
		{"a dump finds a pod woken, which the model has unschedulable", 2, 4, func(w *world.Cluster) {
			nodes(w, "4", "node-a")
			a := w.Patched(2.01, comes(w, 2, "a", "8", nil), noRoom, "")
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

// TestSeenOfFlushes: a flush of backoffQ shows by the attempts of the pods that it woke, as late as they begin.
func TestSeenOfFlushes(t *testing.T) {
	of := func(verbosity int, sees func(w *world.Cluster, a *v1.Pod)) func(w *world.Cluster) {
		return func(w *world.Cluster) {
			if verbosity > 0 {
				w.Add(0, &sources.Logged{Verbosity: verbosity})
			}
			small := w.Small()
			a := w.AddStuck(2.3, "a")
			w.Delete(2.5, small) // a backs off until 3.303, and the flush runs at 4 by the scheduler's start
			sees(w, a)
		}
	}
	playWith(t, byFlushesAlone, []scene{
		{"by an Event", 2, 5, of(0, func(w *world.Cluster, a *v1.Pod) { w.Recorded(3.5, a, 2) }), `
			2.301 a active UnscheduledPodAdd
			2.302 a inflight (failure)
			2.303 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)
			2.501 a backoff AssignedPodDelete
			3.500 a active BackoffComplete
			3.500 a inflight (turn)
			3.500 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 0s
		`},
		{"by an Event, and the next runs as long after it", 4, 7, func(w *world.Cluster) {
			small := w.AddSmall(1)
			of(0, func(w *world.Cluster, a *v1.Pod) {
				w.Recorded(3.5, a, 2)
				w.Delete(3.7, small)
			})(w)
		}, `
			6.303 a active BackoffComplete
			6.303 a inflight (turn)
			6.304 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"by a log that tells when attempts begin", 2, 5, of(3, func(w *world.Cluster, a *v1.Pod) {
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
		{"not by an attempt that was before its backoff is over", 2, 5, of(0, func(w *world.Cluster, a *v1.Pod) { w.Recorded(3.1, a, 2) }), `
			2.301 a active UnscheduledPodAdd
			2.302 a inflight (failure)
			2.303 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)
			2.501 a backoff AssignedPodDelete
			3.100 a inflight (behind)
			3.100 a unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
		`},
	})
}
