package shadow_test

import (
	"os"
	"os/exec"
	"testing"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestPodGroups: what the model makes of a gang, for which there is room for one pod alone at first. Feature gates are the whole process's,
// so it runs in one of its own.
func TestPodGroups(t *testing.T) {
	if os.Getenv("SCHEDQ_POD_GROUPS") == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPodGroups$", "-test.v")
		cmd.Env = append(os.Environ(), "SCHEDQ_POD_GROUPS=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	if _, err := schedulerconfig.SetFeatureGates("GenericWorkload=true"); err != nil {
		t.Fatal(err)
	}
	member := func(p *v1.Pod) {
		name := "train"
		p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &name}
	}
	gang := func(w *world.Cluster, seconds float64) {
		group := &schedulingv1beta1.PodGroup{}
		group.Namespace, group.Name, group.UID = "default", "train", "train"
		group.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: 2}
		world.Change(w, seconds, sources.Added, group, nil)
	}
	there := func(w *world.Cluster) {
		world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
		comes(w, 1, "a", "1", member)
		comes(w, 1, "b", "1", member)
		gang(w, 1)
		w.Started(2)
		world.Change(w, 2.8, sources.Added, world.Node("node-b", "1"), nil)
	}
	play(t, []scene{
		{"which comes pod by pod, before its PodGroup", 2, 4.5, func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			a, b := comes(w, 2, "a", "1", member), comes(w, 2.1, "b", "1", member)
			gang(w, 2.2)
			small := comes(w, 2.3, "alone", "4", nil)
			w.Patched(2.31, small, noRoom, "")
			world.Change(w, 3.5, sources.Added, world.Node("node-b", "1"), nil)
			w.Bound(4.4, a, "node-a")
			w.Bound(4.401, b, "node-b")
		}, `
			2.001 a incomplete UnscheduledPodAdd
			2.101 b incomplete UnscheduledPodAdd
			2.201 a active UnscheduledPodAdd
			2.201 b active UnscheduledPodAdd
			2.201 a inflight
			2.201 b inflight
			2.202 a pending ScheduleAttemptFailure in 670µs
			2.202 b pending ScheduleAttemptFailure NodeResourcesFit
			2.202 a backoff ScheduleAttemptFailure in 670µs until 3.000
			2.202 b backoff ScheduleAttemptFailure NodeResourcesFit until 3.000
			2.301 alone active UnscheduledPodAdd
			2.306 alone inflight (failure)
			2.306 alone unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			4.000 a active BackoffComplete
			4.000 b active BackoffComplete
			4.000 a inflight
			4.000 b inflight
			4.400 a scheduled node-a (outcome)
			4.401 a deleted
			4.401 b scheduled node-b (outcome)
			4.402 b deleted
		`},
		{"that is there when the scheduler starts", 2, 4.5, there, `
			2.000 a active UnscheduledPodAdd
			2.000 b active UnscheduledPodAdd
			2.000 a inflight
			2.000 b inflight
			2.001 a pending ScheduleAttemptFailure in 670µs
			2.001 b pending ScheduleAttemptFailure NodeResourcesFit
			2.001 a backoff ScheduleAttemptFailure in 670µs until 3.000
			2.001 b backoff ScheduleAttemptFailure NodeResourcesFit until 3.000
			4.000 a active BackoffComplete
			4.000 b active BackoffComplete
			4.000 a inflight
			4.000 b inflight
		`},
	})
	playAgain(t, []scene{{"that is there when the scheduler of a rerun starts", 2, 4.5, there, `
			2.000 a active UnscheduledPodAdd
			2.000 b active UnscheduledPodAdd
			2.000 a inflight
			2.000 b inflight
			2.001 b: rejected
			2.001 a pending ScheduleAttemptFailure in 670µs
			2.001 b pending ScheduleAttemptFailure NodeResourcesFit
			2.001 a backoff ScheduleAttemptFailure in 670µs until 3.000
			2.001 b backoff ScheduleAttemptFailure NodeResourcesFit until 3.000
			2.006 a: rejected
			4.000 a active BackoffComplete
			4.000 b active BackoffComplete
			4.000 a inflight
			4.000 b inflight
			4.006 a scheduled node-a
			4.006 a: on node-a
			4.006 b scheduled node-b
			4.006 b: on node-b
			4.007 a deleted
			4.007 b deleted
		`}})
}
