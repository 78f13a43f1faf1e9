package shadow_test

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// priority gives a pod that priority.
func priority(p int32) func(*v1.Pod) { return func(pod *v1.Pod) { pod.Spec.Priority = &p } }

// runsOn has a pod of that priority be on node-a, which takes that many seconds to end.
func runsOn(w *world.Cluster, name, cpu string, p int32, grace int64) *v1.Pod {
	return world.Change(w, 1, sources.Added, world.PendingPod(name, cpu), func(pod *v1.Pod) {
		priority(p)(pod)
		pod.Spec.NodeName, pod.Spec.TerminationGracePeriodSeconds = "node-a", &grace
	})
}

// rerunOf is what a local scheduler makes of w from the second second on: see traced.
func rerunOf(t *testing.T, w *world.Cluster, until float64) string {
	t.Helper()
	rec := w.Recording(until)
	rec.Rerun = true
	return traced(t, rec, world.Config(t), 2)
}

// comesToPreempt adds a pod for which two have to go: one at once, and one with a grace period of 30 s.
func comesToPreempt(w *world.Cluster) {
	world.Change(w, 1, sources.Added, world.Node("node-a", "2"), nil)
	runsOn(w, "quick", "1", 0, 0)
	runsOn(w, "slow", "1", 1, 30)
	world.Change(w, 2, sources.Added, world.PendingPod("high", "2"), priority(100))
}

// TestRerunPreempts: victims are deleted one after the other, and take their grace period to end, up to a second. The preemptor
// is gated until the last one's deletion was asked for, and is tried anew when the first has ended.
func TestRerunPreempts(t *testing.T) {
	var w world.Cluster
	comesToPreempt(&w)
	world.Change(&w, 2.5, sources.Added, world.PendingPod("next", "1"), priority(50)) // for which the room is kept from
	says(t, rerunOf(t, &w, 10), `
		2.000 high: waits
		2.001 high active UnscheduledPodAdd
		2.001 high inflight
		2.002 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
		2.007 high: nominated to node-a
		2.011 slow: going
		2.021 quick: going
		2.021 quick: gone
		2.022 high backoff AssignedPodDelete
		2.022 high inflight
		2.023 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
		2.028 high: nominated to node-a
		2.500 next: waits
		2.501 next active UnscheduledPodAdd
		2.501 next inflight
		2.502 next unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		2.507 next: rejected
		3.011 slow: gone
		3.012 high backoff AssignedPodDelete
		3.012 next backoff AssignedPodDelete
		3.012 next inflight
		3.013 next unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		3.018 next: rejected
		3.018 high inflight
		3.023 high scheduled node-a
		3.023 high: on node-a
		3.024 high deleted`)
}

// TestRerunPreemptsInTheLoop: up to v1.32 the attempt ends when the victims are deleted, and no other begins before. The preemptor is not gated.
func TestRerunPreemptsInTheLoop(t *testing.T) {
	var w world.Cluster
	comesToPreempt(&w)
	world.Change(&w, 2.001, sources.Added, world.PendingPod("next", "4"), nil)
	rec := w.Recording(2.5)
	rec.Rerun = true
	says(t, traced(t, rec, world.Config(t).ForVersion("v1.32.0"), 2), `
		2.000 high: waits
		2.001 high active UnschedulablePodAdd
		2.001 next: waits
		2.001 high inflight
		2.002 next active UnschedulablePodAdd
		2.011 slow: going
		2.011 quick: going
		2.011 quick: gone
		2.011 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 10.04ms
		2.012 high backoff AssignedPodDelete
		2.016 high: nominated to node-a
		2.016 next inflight
		2.017 next unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		2.022 next: rejected`)
}

// TestRerunTwoPreempt: a victim that two pods chose is deleted once. The other, whose victim it was too, comes to nothing.
func TestRerunTwoPreempt(t *testing.T) {
	var w world.Cluster
	world.Change(&w, 1, sources.Added, world.Node("node-a", "3"), nil)
	runsOn(&w, "one", "1", 0, 0)
	runsOn(&w, "two", "1", 1, 0)
	runsOn(&w, "three", "1", 2, 0)
	world.Change(&w, 2, sources.Added, world.PendingPod("a", "1"), priority(100))
	world.Change(&w, 2, sources.Added, world.PendingPod("b", "2"), priority(100))
	says(t, rerunOf(t, &w, 10), `
		2.000 a: waits
		2.000 b: waits
		2.001 a active UnscheduledPodAdd
		2.001 b active UnscheduledPodAdd
		2.001 a inflight
		2.002 a unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
		2.007 a: nominated to node-a
		2.007 b inflight
		2.007 b unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
		2.011 one: going
		2.011 one: gone
		2.012 a backoff AssignedPodDelete
		2.012 b gated AssignedPodDelete
		2.012 b: nominated to node-a
		2.012 a inflight
		2.013 a unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
		2.017 three: going
		2.017 three: gone
		2.018 b gated AssignedPodDelete
		2.018 a gated AssignedPodDelete
		2.018 a: nominated to node-a
		2.027 two: going
		2.027 two: gone
		2.028 b backoff AssignedPodDelete
		2.028 a backoff AssignedPodDelete
		2.028 b inflight
		2.028 a inflight
		2.033 b scheduled node-a
		2.033 b: on node-a
		2.034 a scheduled node-a
		2.034 a: on node-a
		2.034 b deleted
		2.035 a deleted`)
}

// TestRerunOfAPodThatGoes: what the scheduler writes of a pod that was deleted meanwhile is refused: the pod does not come back, and its
// room is free.
func TestRerunOfAPodThatGoes(t *testing.T) {
	for _, c := range []struct {
		name, cpu string
		goes      float64
		want      string
	}{
		{"before its patch is answered", "4", 2.004, `2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.004 web: gone
			2.005 web deleted`},
		{"while its binding is under way", "1", 2.003, `2.003 web: gone
			2.003 web backoff ScheduleAttemptFailure
			2.004 web deleted`},
		{"just before it is bound", "1", 2.0064, `2.006 web: gone
			2.006 web backoff ScheduleAttemptFailure
			2.007 web deleted`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w world.Cluster
			world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
			world.Change(&w, c.goes, sources.Deleted, world.Change(&w, 2, sources.Added, world.PendingPod("web", c.cpu), nil), nil)
			world.Change(&w, 3, sources.Added, world.PendingPod("db", "1"), nil)
			says(t, rerunOf(t, &w, 5), `
				2.000 web: waits
				2.001 web active UnscheduledPodAdd
				2.001 web inflight
				`+c.want+`
				3.000 db: waits
				3.001 db active UnscheduledPodAdd
				3.001 db inflight
				3.007 db scheduled node-a
				3.007 db: on node-a
				3.008 db deleted`)
		})
	}
}

// TestRerunWaitsForItsRequests: the scheduler's client sends a hundred requests at once, and then fifty a second. Bindings are
// made beside the loop.
func TestRerunWaitsForItsRequests(t *testing.T) {
	var w world.Cluster
	world.Change(&w, 1, sources.Added, world.Node("node-a", "100"), nil)
	for i := range 110 {
		world.Change(&w, 2, sources.Added, world.PendingPod(fmt.Sprint("web-", i), "100m"), nil)
	}
	var bound []string
	for line := range strings.Lines(rerunOf(t, &w, 5)) {
		if at, of, _ := strings.Cut(strings.TrimSpace(line), " "); strings.Contains(of, " scheduled ") {
			bound = append(bound, at)
		}
	}
	expect(t, "bound", append(bound[:1], bound[100:]...), []string{"2.011", "2.081", "2.082", "2.082", "2.091", "2.111", "2.131", "2.151", "2.171", "2.191", "2.211"})
}

// TestRerunSparesVictims: only a pod that the recorded scheduler preempted lives on, though it was seen to go. Whoever was evicted by
// others goes.
func TestRerunSparesVictims(t *testing.T) {
	for _, c := range []struct {
		name  string
		of    v1.PodCondition
		lives bool
	}{
		{"preempted", v1.PodCondition{Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler}, true},
		{"not so any more", v1.PodCondition{Type: v1.DisruptionTarget, Status: v1.ConditionFalse, Reason: v1.PodReasonPreemptionByScheduler}, false},
		{"evicted", v1.PodCondition{Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: "EvictionByEvictionAPI"}, false},
		{"another condition", v1.PodCondition{Type: v1.PodReady, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w world.Cluster
			world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
			low := runsOn(&w, "low", "1", 0, 30)
			low = world.Change(&w, 2, sources.Updated, low, func(p *v1.Pod) { p.Status.Conditions = []v1.PodCondition{c.of} })
			low = world.Change(&w, 2.1, sources.Updated, low, func(p *v1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: world.At(32)} })
			world.Change(&w, 3, sources.Deleted, low, nil)
			want := "2.000 low: on node-a\n2.100 low: going\n3.000 low: gone"
			if c.lives {
				want = "2.000 low: on node-a\n2.100 low: on node-a"
			}
			says(t, rerunOf(t, &w, 5), want)
		})
	}
}

// TestRerunHasVersionsOfItsOwn: what the scheduler writes and what the recording tells have versions that rise, and the recording's
// objects stay as they are.
func TestRerunHasVersionsOfItsOwn(t *testing.T) {
	var w world.Cluster
	w.Version = 100
	world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
	web := world.Change(&w, 2, sources.Added, world.PendingPod("web", "4"), nil)
	for range 7 {
		world.Change(&w, 3, sources.Updated, web, func(p *v1.Pod) { p.Labels = map[string]string{"new": "yes"} })
	}
	rec := w.Recording(3)
	rec.Rerun = true
	f := shadow.NewFeed(rec, world.Config(t))
	t.Cleanup(f.Close)
	var versions []string
	for i := 0; f.HasEvent(i); i++ {
		if c, ok := f.Events[i].Fact.(*sources.ObjectChange); ok {
			versions = append(versions, c.Object.(metav1.Object).GetResourceVersion())
		}
	}
	expect(t, "versions", versions, []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}) // the third is the patch of web's condition
	if web.ResourceVersion != "102" {
		t.Errorf("the recording's pod is of version %s now", web.ResourceVersion)
	}
}
