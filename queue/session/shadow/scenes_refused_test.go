package shadow_test

import (
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// refused has a request of the scheduler's refused that was sent then.
func refused(w *world.Cluster, sent, answered float64, name string, binding bool) {
	requests(w, sent, 1)
	f := &sources.Refused{Pod: world.Key(name), UID: world.PendingPod(name, "1").UID, Sent: world.At(sent), Binding: binding}
	if binding {
		f.Node = "node-a"
	}
	w.Add(answered, f)
}

// TestRefused: what follows where the API server refuses what the scheduler asks for, since the pod was deleted.
func TestRefused(t *testing.T) {
	play(t, []scene{
		{"a patch: the loop has waited for the answer", 2, 2.5, func(w *world.Cluster) {
			nodes(w, "2", "node-a")
			requests(w, 1.9, 150)
			web := comes(w, 2, "web", "4", nil)
			comes(w, 2.05, "db", "4", free)
			world.Change(w, 2.1, sources.Deleted, web, nil)
			refused(w, 2.3, 2.302, "web", false)
		}, `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (requests)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.051 db active UnscheduledPodAdd
			2.101 web deleted
			2.302 db inflight (turn)
			2.303 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
	})
	playWith(t, func(cfg *schedulerconfig.Config) { *cfg = *cfg.ForVersion("v1.34.1") }, []scene{ // whose loop waits for no patch
		{"the patch of an attempt before, and then the binding: it is in flight until that", 2, 2.5, func(w *world.Cluster) {
			nodes(w, "2", "node-a")
			requests(w, 1.9, 150)
			web := comes(w, 2, "web", "2", nil)
			world.Change(w, 2.1, sources.Deleted, web, nil)
			refused(w, 2.2, 2.202, "web", false)
			refused(w, 2.3, 2.302, "web", true)
		}, `
			2.001 web active UnschedulablePodAdd
			2.001 web inflight (turn)
			2.302 other backoff AssignedPodDelete
			2.302 web deleted
			2.302 other inflight (turn)
			2.303 other unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
	})
}

// TestFailedByError: the patch of an attempt that failed with an error says so, as does a log, whatever plugin the model had rejected it by. The
// pod has been backing off since then, and no event wakes it (scheduling_queue.go, v1.33, AddUnschedulableIfNotPresent).
func TestFailedByError(t *testing.T) {
	err := func(w *world.Cluster, seconds, patched float64, pod *v1.Pod) {
		pod = world.Change(w, seconds, sources.Updated, pod, func(p *v1.Pod) {
			world.Reject(p, "running PreFilter plugin \"VolumeBinding\": error getting PVC", "")
			p.Status.Conditions[0].Reason = v1.PodReasonSchedulerError
		})
		w.Add(seconds, &sources.StatusPatched{Pod: world.Key(pod.Name), UID: pod.UID, Sent: world.At(patched)})
	}
	fails := func(w *world.Cluster) {
		nodes(w, "2", "node-a")
		err(w, 2.01, 2.005, comes(w, 2, "web", "4", nil))
	}
	play(t, []scene{
		{"the model had it rejected", 2, 4.5, func(w *world.Cluster) {
			fails(w)
			world.Change(w, 2.5, sources.Added, world.Node("node-b", "3"), nil)
		}, `
			2.001 web active UnscheduledPodAdd
			2.004 web inflight (failure)
			2.004 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.010 web backoff ScheduleAttemptFailure (outcome)
			4.000 web active BackoffComplete
			4.000 web inflight (turn)
			4.001 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 670µs
		`},
	})
	playWith(t, func(cfg *schedulerconfig.Config) { cfg.AsyncAPICalls = true }, []scene{
		{"the model has just woken it, and tries it again", 2, 2.6, func(w *world.Cluster) {
			nodes(w, "2", "node-a")
			small := w.AddSmall(1.9)
			web := comes(w, 2, "web", "4", free)
			w.Delete(2.0085, small)
			err(w, 2.01, 2.005, web)
		}, `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (turn)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.010 other backoff AssignedPodDelete
			2.010 web backoff AssignedPodDelete
			2.010 other unschedulable (not tried)
			2.010 web inflight (turn)
			2.010 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 420µs
			2.010 web backoff ScheduleAttemptFailure (outcome)
		`},
	})
	play(t, []scene{
		{"the scheduler's log says it", 2, 2.6, func(w *world.Cluster) {
			w.Add(0.5, &sources.Logged{Verbosity: 2})
			nodes(w, "2", "node-a")
			web := comes(w, 2, "web", "4", nil)
			w.Add(2.003, &sources.FailedAttempt{Pod: world.Key("web"), UID: web.UID, Log: true, Error: true, Message: "error getting PVC"})
		}, `
			2.001 web active UnscheduledPodAdd
			2.002 web inflight (failure)
			2.003 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)
			2.003 web backoff ScheduleAttemptFailure (outcome)
		`},
	})
	playWith(t, func(cfg *schedulerconfig.Config) { *cfg = *cfg.ForVersion("v1.28.4") }, []scene{
		{"up to v1.28 it waits among the others", 2, 2.6, fails, `
			2.001 web active PodAdd
			2.004 web inflight (failure)
			2.004 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
	})
}

// TestOutlasts: where requests wait for each other, a patch that is not seen before the end is sent behind it, and until then the
// loop makes no attempt.
func TestOutlasts(t *testing.T) {
	play(t, []scene{
		{"it waits", 2, 2.5, func(w *world.Cluster) {
			nodes(w, "2", "node-a")
			requests(w, 1.9, 150)
			comes(w, 2, "web", "4", nil)
			comes(w, 2.05, "db", "4", free)
		}, `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (turn)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.051 db active UnscheduledPodAdd
			2.500 db inflight (turn)
		`},
	})
}
