package shadow_test

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/queue/session/world/replayed"
	"github.com/schedq/schedq/sources"
)

// noRoom is the message of a pod that fits on no node.
const noRoom = "0/1 nodes are available: 1 Insufficient cpu."

// onNode restricts a pod to the node.
func onNode(node string) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{v1.LabelHostname: node} }
}

// terminating marks a pod as being deleted.
func terminating(p *v1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: world.At(32)} }

// scenario is a recording of a scheduler, and the trace of its model from the second from on.
type scenario struct {
	name        string
	from, until float64
	setup       func(w *world.Cluster)
	want        string
}

// checkMoves compares the model's trace of each scenario.
func checkMoves(t *testing.T, scenarios []scenario) {
	checkMovesWith(t, func(*schedulerconfig.Config) {}, scenarios)
}

// checkMovesWith is checkMoves with a configuration that edit changes.
func checkMovesWith(t *testing.T, edit func(*schedulerconfig.Config), scenarios []scenario) {
	t.Helper()
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			var w world.Cluster
			s.setup(&w)
			cfg := world.Config(t)
			edit(cfg)
			compareTrace(t, traceRecording(t, w.Recording(s.until), cfg, s.from), s.want)
		})
	}
}

// noPopFromBackoffQ disables SchedulerPopFromBackoffQ.
func noPopFromBackoffQ(cfg *schedulerconfig.Config) { cfg.Queue.PopFromBackoffQ = false }

// addNodes adds nodes with that much CPU, and a stuck pod whose patch shows that the source contains
// the scheduler's requests.
func addNodes(w *world.Cluster, cpu string, names ...string) {
	for _, name := range names {
		world.Change(w, 1, sources.Added, world.Node(name, cpu), nil)
	}
	w.AddStuck(1.5, "other")
}

// addPod creates a pod that requests that much CPU.
func addPod(w *world.Cluster, seconds float64, name, cpu string, edit func(*v1.Pod)) *v1.Pod {
	return world.Change(w, seconds, sources.Added, world.PendingPod(name, cpu), edit)
}

// bindSentAt binds a pod to node-a with a request that was sent at that time.
func bindSentAt(w *world.Cluster, sent, answered float64, pod *v1.Pod) {
	w.Bound(answered, pod, "node-a")
	w.Events[len(w.Events)-1].Fact.(*sources.ObjectChange).Sent = world.At(sent)
}

// TestObservedBindings: observed bindings override the model, which expected them earlier, later, on
// another node or not at all.
func TestObservedBindings(t *testing.T) {
	checkMoves(t, []scenario{
		{"on another node: its resources are free at once", 2, 3, func(w *world.Cluster) {
			addNodes(w, "2", "node-a", "node-b")
			web := addPod(w, 2, "web", "2", nil)
			db := addPod(w, 2.0092, "db", "2", onNode("node-a"))
			w.Bound(2.01, web, "node-b")
			w.Bound(2.0115, db, "node-a")
		}, `
			2.001 web active UnscheduledPodAdd
			2.009 web inflight (turn)
			2.010 web scheduled node-b (outcome)
			2.010 db active UnscheduledPodAdd
			2.010 db inflight (turn)
			2.011 web deleted
			2.011 db scheduled node-a (outcome)
			2.012 db deleted
		`},
		{"on the expected node: its resources stay reserved", 2, 3, func(w *world.Cluster) {
			addNodes(w, "2", "node-a")
			web := addPod(w, 2, "web", "2", nil)
			db := addPod(w, 2.0092, "db", "2", nil)
			w.Bound(2.01, web, "node-a")
			w.Failed(2.0112, db, noRoom)
		}, `
			2.001 web active UnscheduledPodAdd
			2.009 web inflight (turn)
			2.010 web scheduled node-a (outcome)
			2.010 db active UnscheduledPodAdd
			2.010 db inflight (failure)
			2.011 web deleted
			2.011 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 960µs (outcome)
		`},
		{"before the watch would deliver the pod", 2, 3, func(w *world.Cluster) {
			addNodes(w, "2", "node-a")
			w.Bound(2.0005, addPod(w, 2, "web", "1", nil), "node-a")
			w.Patched(2.2006, addPod(w, 2.2, "db", "1", nil), noRoom, "")
		}, `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (behind)
			2.001 web scheduled node-a (outcome)
			2.002 web deleted
			2.201 db active UnscheduledPodAdd
			2.201 db inflight (behind)
			2.201 db unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
		`},
		{"before its turn, while attempts are ending", 2, 3, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "4"), nil)
			var pods []*v1.Pod
			for i := range 5 {
				pods = append(pods, addPod(w, 2+0.0001*float64(i), fmt.Sprint("web-", i), "100m", nil))
			}
			w.Bound(2.0029, pods[4], "node-a")
		}, `
			2.001 web-0 active UnscheduledPodAdd
			2.001 web-0 inflight (turn)
			2.001 web-1 active UnscheduledPodAdd
			2.001 web-2 active UnscheduledPodAdd
			2.001 web-3 active UnscheduledPodAdd
			2.001 web-4 active UnscheduledPodAdd
			2.002 web-1 inflight (turn)
			2.003 web-2 inflight (turn)
			2.003 web-4 inflight (behind)
			2.003 web-4 scheduled node-a (outcome)
			2.004 web-3 inflight (turn)
			2.004 web-4 deleted
		`},
		{"before its turn: the others follow", 2, 4, func(w *world.Cluster) {
			addNodes(w, "4", "node-a")
			var pods []*v1.Pod
			for i := range 5 {
				pods = append(pods, addPod(w, 2+0.0001*float64(i), fmt.Sprint("web-", i), "100m", nil))
			}
			w.Bound(2.01, pods[3], "node-a")
			w.Bound(2.011, pods[4], "node-a")
			w.Bound(2.012, pods[0], "node-a")
		}, `
			2.001 web-0 active UnscheduledPodAdd
			2.001 web-1 active UnscheduledPodAdd
			2.001 web-2 active UnscheduledPodAdd
			2.001 web-3 active UnscheduledPodAdd
			2.001 web-4 active UnscheduledPodAdd
			2.010 web-3 inflight (behind)
			2.010 web-3 scheduled node-a (outcome)
			2.011 web-0 inflight (turn)
			2.011 web-3 deleted
			2.011 web-4 inflight (behind)
			2.011 web-4 scheduled node-a (outcome)
			2.012 web-4 deleted
			2.012 web-0 scheduled node-a (outcome)
			2.013 web-0 deleted
			3.900 web-1 inflight (turn)
			3.901 web-2 inflight (turn)
			3.906 web-1 unschedulable ScheduleAttemptFailure (unknown plugin) (not bound)
			3.906 web-2 unschedulable ScheduleAttemptFailure (unknown plugin) (not bound)
		`},
		{"after a rejection that was observed too", 2, 3, func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			web := addPod(w, 2, "web", "2", nil)
			web = w.Patched(2.01, web, noRoom, "")
			w.Bound(2.5, web, "node-a")
			w.Patched(2.61, addPod(w, 2.6, "db", "1", nil), noRoom, "")
		}, `
			2.001 web active UnscheduledPodAdd
			2.006 web inflight (failure)
			2.006 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.500 web inflight (behind)
			2.500 web scheduled node-a (outcome)
			2.501 web deleted
			2.601 db active UnscheduledPodAdd
			2.606 db inflight (failure)
			2.606 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"while the loop waits for another pod's patch", 2, 3, func(w *world.Cluster) {
			addNodes(w, "2", "node-a")
			w.Patched(2.3, addPod(w, 2, "web", "4", nil), noRoom, "")
			w.Bound(2.25, addPod(w, 2.01, "db", "1", nil), "node-a")
			w.Bound(2.4, addPod(w, 2.02, "late", "1", nil), "node-a")
		}, `
			2.001 web active UnscheduledPodAdd
			2.011 db active UnscheduledPodAdd
			2.021 late active UnscheduledPodAdd
			2.250 db inflight (behind)
			2.250 db scheduled node-a (outcome)
			2.251 db deleted
			2.296 web inflight (failure)
			2.296 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.399 late inflight (turn)
			2.400 late scheduled node-a (outcome)
			2.401 late deleted
		`},
		{"never observed: the pod returns with the plugins of its last rejection", 2, 8, func(w *world.Cluster) {
			addNodes(w, "2", "node-a")
			old := addRunningPod(w, "old", "2", 0, 0)
			w.Patched(2.01, addPod(w, 2, "web", "2", nil), noRoom, "")
			world.Change(w, 5, sources.Deleted, old, nil)
			w.Failed(5.003, world.PendingPod("nobody", "1"), noRoom)
		}, `
			2.001 web active UnscheduledPodAdd
			2.006 web inflight (failure)
			2.006 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			5.001 other active AssignedPodDelete
			5.001 web active AssignedPodDelete
			5.001 other unschedulable (not tried)
			5.001 web inflight (turn)
			5.007 web unschedulable ScheduleAttemptFailure NodeResourcesFit (not bound)
		`},
		{"deleted before its binding is observed: its resources are free", 2, 5, func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			web := addPod(w, 2, "web", "1", nil)
			world.Change(w, 2.04, sources.Deleted, web, nil)
			w.Bound(2.06, addPod(w, 2.05, "db", "1", nil), "node-a")
			addPod(w, 3, "web", "4", func(p *v1.Pod) { p.UID = "second" })
		}, `
			2.001 web active UnscheduledPodAdd
			2.041 web deleted
			2.051 db active UnscheduledPodAdd
			2.059 db inflight (turn)
			2.060 db scheduled node-a (outcome)
			2.061 db deleted
			3.001 web active UnscheduledPodAdd
			4.900 web inflight (turn)
			4.901 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"with a known send time: the attempt ends just before it", 2, 3, func(w *world.Cluster) {
			addNodes(w, "2", "node-a")
			bindSentAt(w, 2.05, 2.1, addPod(w, 2, "web", "1", nil))
		}, `
			2.001 web active UnscheduledPodAdd
			2.049 web inflight (turn)
			2.100 web scheduled node-a (outcome)
			2.101 web deleted
		`},
	})
}

// TestObservedPreemptions: the victims of a preemption are the pods that are observed to terminate.
func TestObservedPreemptions(t *testing.T) {
	checkMoves(t, []scenario{
		{"no victim terminates", 2, 9, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "2"), nil)
			addRunningPod(w, "a", "1", 0, 30)
			b := addRunningPod(w, "b", "1", 1, 30)
			w.Patched(2.006, addPod(w, 2, "high", "2", priority(100)), noRoom, "node-a")
			world.Change(w, 6, sources.Deleted, b, nil)
		}, `
			2.001 high active UnscheduledPodAdd
			2.002 high inflight (failure)
			2.002 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
			6.001 high active AssignedPodDelete
			6.001 high inflight (turn)
			6.002 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
		`},
		{"without requests in the source, and a smaller pod is deleted", 2, 9, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "2"), nil)
			addRunningPod(w, "a", "1", 0, 30)
			b := addRunningPod(w, "b", "1", 1, 30)
			w.Failed(2.002, addPod(w, 2, "high", "2", priority(100)), noRoom)
			world.Change(w, 2.5, sources.Deleted, b, nil)
			addPod(w, 3.5, "c", "1", nil)
			addPod(w, 7, "d", "1", nil)
		}, `
			2.001 high active UnscheduledPodAdd
			2.001 high inflight (failure)
			2.002 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 960µs (outcome)
			2.501 high gated AssignedPodDelete
			3.501 c active UnscheduledPodAdd
			3.501 c inflight (turn)
			3.502 c unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			7.001 d active UnscheduledPodAdd
			7.001 d inflight (turn)
			7.002 d unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"on the other of two nodes: its resources are reserved", 2, 9, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			world.Change(w, 1, sources.Added, world.Node("node-b", "1"), nil)
			addRunningPod(w, "a", "1", 0, 30)
			b := addPod(w, 1, "b", "1", func(p *v1.Pod) { p.Spec.NodeName = "node-b"; priority(1)(p) })
			high := w.Patched(2.006, addPod(w, 2, "high", "1", priority(100)), noRoom, "node-b")
			b = world.Change(w, 2.011, sources.Updated, b, terminating)
			world.Change(w, 3, sources.Deleted, b, nil)
			w.Patched(3.02, addPod(w, 3.01, "mid", "1", priority(50)), noRoom, "")
			w.Bound(3.1, high, "node-b")
		}, `
			2.001 high active UnscheduledPodAdd
			2.002 high inflight (failure)
			2.002 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 670µs
			3.001 high backoff AssignedPodDelete
			3.001 high inflight (turn)
			3.011 mid active UnscheduledPodAdd
			3.016 mid inflight (failure)
			3.016 mid unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 670µs
			3.100 high scheduled node-b (outcome)
			3.101 high deleted
		`},
		{"the preemptor is deleted", 2, 9, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			a := addRunningPod(w, "a", "1", 0, 30)
			high := w.Patched(2.006, addPod(w, 2, "high", "1", priority(100)), noRoom, "node-a")
			a = world.Change(w, 2.011, sources.Updated, a, terminating)
			world.Change(w, 2.5, sources.Deleted, high, nil)
			world.Change(w, 3, sources.Deleted, a, nil)
			w.Bound(3.5, addPod(w, 3.4, "next", "1", nil), "node-a")
		}, `
			2.001 high active UnscheduledPodAdd
			2.002 high inflight (failure)
			2.002 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
			2.501 high deleted
			3.401 next active UnscheduledPodAdd
			3.499 next inflight (turn)
			3.500 next scheduled node-a (outcome)
			3.501 next deleted
		`},
	})
}

// TestSynchronousPreemption: up to v1.32 the loop deletes the victims during the attempt, and changes
// delivered in that time occur during the attempt.
func TestSynchronousPreemption(t *testing.T) {
	victims := func(w *world.Cluster) (low *v1.Pod) {
		world.Change(w, 1, sources.Added, world.Node("node-a", "2"), nil)
		low = addRunningPod(w, "low", "1900m", 0, 0)
		addPod(w, 2, "high", "1900m", func(p *v1.Pod) { priority(100)(p); rejectedBefore(p) })
		addPod(w, 2.01, "next", "200", rejectedBefore)
		return low
	}
	checkMovesWith(t, func(cfg *schedulerconfig.Config) { *cfg = *cfg.ForVersion("v1.32.0") }, []scenario{
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
		{"until its victim's deletion is observed", 2, 2.5, func(w *world.Cluster) { world.Change(w, 2.08, sources.Deleted, victims(w), nil) }, `
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

// TestDeletions: a deletion unblocks the preemptor or the loop that waits for the pod.
func TestDeletions(t *testing.T) {
	victim := func(w *world.Cluster) (small, low *v1.Pod) {
		world.Change(w, 1, sources.Added, world.Node("node-a", "2"), nil)
		small, low = addRunningPod(w, "small", "100m", 0, 0), addRunningPod(w, "low", "1900m", 0, 30)
		w.Patched(2.006, addPod(w, 2, "high", "1900m", priority(100)), noRoom, "node-a")
		return small, low
	}
	checkMoves(t, []scenario{
		{"a victim is terminating: its preemptor is no longer gated", 2, 3, func(w *world.Cluster) {
			small, low := victim(w)
			world.Change(w, 2.011, sources.Updated, low, terminating)
			world.Change(w, 2.03, sources.Deleted, small, nil)
		}, `
			2.001 high active UnscheduledPodAdd
			2.002 high inflight (failure)
			2.002 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
			2.031 high backoff AssignedPodDelete
			2.031 high inflight (turn)
			2.032 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
		`},
		{"a victim is deleted at once", 2, 2.5, func(w *world.Cluster) {
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
		{"a victim is updated, and is terminating later", 2, 3, func(w *world.Cluster) {
			small, low := victim(w)
			low = world.Change(w, 2.011, sources.Updated, low, func(p *v1.Pod) { p.Labels = map[string]string{"new": "yes"} })
			world.Change(w, 2.03, sources.Deleted, small, nil)
			world.Change(w, 2.5, sources.Updated, low, terminating)
		}, `
			2.001 high active UnscheduledPodAdd
			2.002 high inflight (failure)
			2.002 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
			2.031 high gated AssignedPodDelete
		`},
		{"a victim of a pod that is nominated to another node than in the model", 2, 5, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			world.Change(w, 1, sources.Added, world.Node("node-b", "1100m"), nil)
			addRunningPod(w, "a", "1", 0, 30)
			b := addPod(w, 1, "b", "1", func(p *v1.Pod) { p.Spec.NodeName = "node-b"; priority(1)(p) })
			small, other := addPod(w, 1, "small", "100m", priority(1)), addPod(w, 1, "other", "10m", priority(1))
			small, other = w.Bound(1.01, small, "node-b"), w.Bound(1.02, other, "node-b")
			high := w.Patched(2.006, addPod(w, 2, "high", "1", priority(100)), noRoom, "node-a")
			w.Patched(2.95, high, noRoom+" again", "node-b")
			world.Change(w, 4, sources.Deleted, other, nil)
			world.Change(w, 4.9, sources.Updated, b, terminating)
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
		{"a pod whose patch the loop waits for is deleted: the loop continues", 2, 2.1, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			web := addPod(w, 2, "web", "2", nil)
			w.Failed(2.002, web, noRoom)
			addPod(w, 2.003, "db", "2", nil)
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
		{"a pod whose patch the loop waits for is bound: the loop continues", 2, 2.1, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "2"), nil)
			web := addPod(w, 2, "web", "4", nil)
			w.Failed(2.002, web, noRoom)
			addPod(w, 2.003, "db", "2", nil)
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
		{"a pod is deleted between two of three schedulers", 2, 5, func(w *world.Cluster) {
			w.Started(0.5)
			addNodes(w, "1", "node-a")
			web := w.Patched(2.01, addPod(w, 2, "web", "4", nil), noRoom, "")
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

// TestEventBeforeItsCauses: an Event precedes the changes that led to it, so the scheduler received
// them before. No change is delivered twice.
func TestEventBeforeItsCauses(t *testing.T) {
	checkMoves(t, []scenario{{"two nodes are added", 3, 4, func(w *world.Cluster) {
		addNodes(w, "1", "node-a")
		web := w.Patched(2.01, addPod(w, 2, "web", "4", nil), noRoom, "")
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

// TestAttemptsOfNewPods: the recorder has written no Event of a new pod yet, so its next attempts are
// observable.
func TestAttemptsOfNewPods(t *testing.T) {
	checkMoves(t, []scenario{
		{"created one second ago", 3, 4.2, func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			small := w.AddSmall(1.6)
			web := addPod(w, 3, "web", "4", func(p *v1.Pod) { p.CreationTimestamp.Time = world.At(2); world.Reject(p, noRoom, "") })
			w.Failed(3.003, web, noRoom)
			w.Delete(4, small)
		}, `
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

// TestAsyncAPICalls: the loop does not wait for the responses to its patches.
func TestAsyncAPICalls(t *testing.T) {
	async := func(cfg *schedulerconfig.Config) { cfg.AsyncAPICalls = true }
	boundAfter := func(n int) func(w *world.Cluster) { // n requests: those beyond 100 wait up to a second
		return func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			addRequests(w, 1.9, n)
			web := addPod(w, 2, "web", "4", rejectedBefore)
			addRequests(w, 2.896, 1)
			w.Bound(2.9, web, "node-a")
		}
	}
	webBeforeDB := func(w *world.Cluster) *v1.Pod { // web is first in activeQ, and db fails
		addNodes(w, "2", "node-a")
		web := addPod(w, 2, "web", "4", func(p *v1.Pod) { world.Reject(p, "of old", "") })
		w.Failed(2.01, addPod(w, 2, "db", "4", rejectedBefore), noRoom)
		return web
	}
	checkMovesWith(t, async, []scenario{
		{"a late patch with another message belongs to another attempt", 2, 4, func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			web := w.Patched(2.01, addPod(w, 2, "web", "4", nil), noRoom, "")
			w.Patched(3, web, noRoom+" again", "")
		}, `
			2.001 web active UnscheduledPodAdd
			2.006 web inflight (failure)
			2.006 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			3.000 web inflight (behind)
			3.000 web unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
		`},
		{"the next pod fails just after, and the patch is late: its call was queued", 2, 2.5, func(w *world.Cluster) {
			w.Patched(2.3, webBeforeDB(w), noRoom, "")
		}, `
			2.001 web active UnscheduledPodAdd
			2.001 db active UnscheduledPodAdd
			2.001 web inflight (turn)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.002 db inflight (turn)
			2.010 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 8.26ms (outcome)
		`},
		{"the next pod fails just after, and there is no patch: the loop popped that pod", 2, 2.5, func(w *world.Cluster) { webBeforeDB(w) }, `
			2.001 web active UnscheduledPodAdd
			2.001 db active UnscheduledPodAdd
			2.001 db inflight (in place)
			2.010 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 8.92ms (outcome)
			2.010 web inflight (turn)
			2.011 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"an observed attempt that the model has not made, with a slow patch", 2, 4, func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			web := w.Patched(2.01, addPod(w, 2, "web", "4", nil), noRoom, "")
			w.Failed(3, web, noRoom+" again")
			addPod(w, 3.01, "db", "4", rejectedBefore)
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
		{"a binding that was not rate-limited: its attempt ended just before", 2, 4, boundAfter(0), `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (turn)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.900 web inflight (behind)
			2.900 web scheduled node-a (outcome)
			2.901 web deleted
		`},
	})
	// The call that patches a pod is queued behind others, and contains the message of the pod's last
	// attempt before it is sent (backend/api_dispatcher, v1.34, Run and call_queue.go, merge).
	queued := func(message string) func(w *world.Cluster) {
		return func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			web := addPod(w, 2, "web", "4", nil)
			w.Failed(2.003, web, noRoom)
			world.Change(w, 2.5, sources.Updated, web, func(p *v1.Pod) { world.Reject(p, message, "") })
			w.Add(2.5, &sources.StatusPatched{Pod: world.Key("web"), UID: "web", Sent: world.At(2.495)})
		}
	}
	const tried = `
			2.001 web active UnscheduledPodAdd
			2.002 web inflight (failure)
			2.003 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)`
	checkMovesWith(t, async, []scenario{
		{"a late patch with the message of the last attempt: its call was queued", 2, 4, queued(noRoom), tried},
		{"a late patch with another message: another attempt failed", 2, 4, queued(noRoom + " again"), tried + `
			2.500 web inflight (behind)
			2.500 web unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
		`},
	})
	checkMoves(t, []scenario{
		{"synchronous loop: an observed attempt that the model has not made, with a slow patch", 2, 4, func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			web := w.Patched(2.01, addPod(w, 2, "web", "4", nil), noRoom, "")
			w.Failed(3, web, noRoom+" again")
			addPod(w, 3.01, "db", "4", rejectedBefore)
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
		{"synchronous loop: an attempt without a patch, and then the patch of the next", 2, 4, func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			web := w.Patched(2.01, addPod(w, 2, "web", "4", nil), noRoom, "")
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
		{"synchronous loop: the end of the next attempt ends the wait for the patch", 2, 2.1, func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			a := addPod(w, 2, "a", "4", func(p *v1.Pod) { world.Reject(p, "of old", "") })
			b := addPod(w, 2.0001, "b", "4", rejectedBefore)
			addPod(w, 2.0002, "c", "4", rejectedBefore)
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

// addRefused adds a request of the scheduler, sent at that time, that the API server refuses.
func addRefused(w *world.Cluster, sent, answered float64, name string, binding bool) {
	addRequests(w, sent, 1)
	f := &sources.Refused{Pod: world.Key(name), UID: world.PendingPod(name, "1").UID, Sent: world.At(sent), Binding: binding}
	if binding {
		f.Node = "node-a"
	}
	w.Add(answered, f)
}

// TestRefusedRequests: the API server refuses a request of the scheduler because the pod was deleted.
func TestRefusedRequests(t *testing.T) {
	checkMoves(t, []scenario{
		{"a patch: the loop waited for the response", 2, 2.5, func(w *world.Cluster) {
			addNodes(w, "2", "node-a")
			addRequests(w, 1.9, 150)
			web := addPod(w, 2, "web", "4", nil)
			addPod(w, 2.05, "db", "4", rejectedBefore)
			world.Change(w, 2.1, sources.Deleted, web, nil)
			addRefused(w, 2.3, 2.302, "web", false)
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
	checkMovesWith(t, func(cfg *schedulerconfig.Config) { *cfg = *cfg.ForVersion("v1.34.1") }, []scenario{ // its loop waits for no patch
		{"the patch of an earlier attempt, and then the binding: the pod is in flight until then", 2, 2.5, func(w *world.Cluster) {
			addNodes(w, "2", "node-a")
			addRequests(w, 1.9, 150)
			web := addPod(w, 2, "web", "2", nil)
			world.Change(w, 2.1, sources.Deleted, web, nil)
			addRefused(w, 2.2, 2.202, "web", false)
			addRefused(w, 2.3, 2.302, "web", true)
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

// TestAttemptFailedWithError: if a patch or the log shows that an attempt failed with an error, the
// error overrides the model's rejection. The pod backs off, and no event wakes it
// (scheduling_queue.go, v1.33, AddUnschedulableIfNotPresent).
func TestAttemptFailedWithError(t *testing.T) {
	err := func(w *world.Cluster, seconds, patched float64, pod *v1.Pod) {
		pod = world.Change(w, seconds, sources.Updated, pod, func(p *v1.Pod) {
			world.Reject(p, "running PreFilter plugin \"VolumeBinding\": error getting PVC", "")
			p.Status.Conditions[0].Reason = v1.PodReasonSchedulerError
		})
		w.Add(seconds, &sources.StatusPatched{Pod: world.Key(pod.Name), UID: pod.UID, Sent: world.At(patched)})
	}
	failsOnce := func(w *world.Cluster) {
		addNodes(w, "2", "node-a")
		err(w, 2.01, 2.005, addPod(w, 2, "web", "4", nil))
	}
	checkMoves(t, []scenario{
		{"the model rejected the pod", 2, 4.5, func(w *world.Cluster) {
			failsOnce(w)
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
	checkMovesWith(t, func(cfg *schedulerconfig.Config) { cfg.AsyncAPICalls = true }, []scenario{
		{"the model has just woken the pod and tries it again", 2, 2.6, func(w *world.Cluster) {
			addNodes(w, "2", "node-a")
			small := w.AddSmall(1.9)
			web := addPod(w, 2, "web", "4", rejectedBefore)
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
	checkMoves(t, []scenario{
		{"in the scheduler's log", 2, 2.6, func(w *world.Cluster) {
			w.Add(0.5, &sources.Logged{Verbosity: 2})
			addNodes(w, "2", "node-a")
			web := addPod(w, 2, "web", "4", nil)
			w.Add(2.003, &sources.FailedAttempt{Pod: world.Key("web"), UID: web.UID, Log: true, Error: true, Message: "error getting PVC"})
		}, `
			2.001 web active UnscheduledPodAdd
			2.002 web inflight (failure)
			2.003 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)
			2.003 web backoff ScheduleAttemptFailure (outcome)
		`},
	})
	checkMovesWith(t, func(cfg *schedulerconfig.Config) { *cfg = *cfg.ForVersion("v1.28.4") }, []scenario{
		{"up to v1.28 the pod is unschedulable", 2, 2.6, failsOnce, `
			2.001 web active PodAdd
			2.004 web inflight (failure)
			2.004 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
	})
}

// TestLoopWaitsPastEnd: while requests are rate-limited, a patch that is not observed before the end of
// the recording is sent after it, and the loop makes no attempt until then.
func TestLoopWaitsPastEnd(t *testing.T) {
	checkMoves(t, []scenario{
		{"the loop waits", 2, 2.5, func(w *world.Cluster) {
			addNodes(w, "2", "node-a")
			addRequests(w, 1.9, 150)
			addPod(w, 2, "web", "4", nil)
			addPod(w, 2.05, "db", "4", rejectedBefore)
		}, `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (turn)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.051 db active UnscheduledPodAdd
			2.500 db inflight (turn)
		`},
	})
}

// moveCauses replays rec and returns the destination and the cause of each move of the pod.
func moveCauses(t *testing.T, rec *sources.Recording, pod string) (causes []string) {
	t.Helper()
	if err := timeline.Replay(t.Context(), rec, timeline.Options{}, func(m *board.Transition) error {
		if m.Pod.Key.Name == pod {
			causes = append(causes, fmt.Sprintf("%s: %s", m.To, m.Pod.Cause.Sentence(words.Zone{})))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return causes
}

// TestMoveCauses: each modelled move has a cause that names the rule and the evidence.
func TestMoveCauses(t *testing.T) {
	const queued, turn = "active: By the queue's own rules.", "inflight: Popped in queue order; such an attempt may leave no trace."
	t.Run("popped in queue order, no binding observed", func(t *testing.T) {
		var c world.Cluster
		world.Change(&c, 1, sources.Added, world.Node("node-a", "4"), nil)
		world.Change(&c, 2, sources.Added, world.PendingPod("web", "3"), nil)
		db := world.Change(&c, 6, sources.Added, world.PendingPod("db", "4"), nil)
		c.Bound(6.01, db, "node-a")
		rec := c.Recording(6.5)
		expect(t, "web", moveCauses(t, rec, "web")[:3], []string{queued, turn, "unschedulable: It was assigned to a node here, and no binding was observed."})
		expect(t, "db", moveCauses(t, rec, "db"), []string{queued, turn, "scheduled: Moved to match its binding at 12:00:06.010."})
	})
	t.Run("an observed failure", func(t *testing.T) {
		var c world.Cluster
		world.Change(&c, 1, sources.Added, world.Node("node-a", "1"), nil)
		c.AddStuck(2, "web")
		expect(t, "web", moveCauses(t, c.Recording(3), "web"), []string{queued,
			"inflight: Popped because its attempt is the next one observed: it failed at 12:00:02.003, according to its Event.",
			"unschedulable: Moved to match the Event of its failure at 12:00:02.003."})
	})
	t.Run("an observed failure of an attempt that the model has not made", func(t *testing.T) {
		var c world.Cluster
		world.Change(&c, 1, sources.Added, world.Node("node-a", "1"), nil)
		web := c.AddStuck(2, "web")
		c.Failed(5, web, "0/1 nodes are available: 1 Insufficient memory.")
		c.Patched(8, web, "0/1 nodes are available: 1 Insufficient pods.", "")
		expect(t, "web", moveCauses(t, c.Recording(9), "web")[3:], []string{
			"inflight: The loop had popped it before, according to what followed from it; the model was behind.",
			"unschedulable: Moved to match the Event of its failure at 12:00:05.000.",
			"inflight: The loop had popped it before, according to what followed from it; the model was behind.",
			"unschedulable: Moved to match the patch of its status at 12:00:08.000."})
	})
}

// TestSkippedPodLeavesFlight: the loop pops a terminating pod whose deletion is not delivered yet, and
// skips it (schedule_one.go, skipPodSchedule). The pod leaves flight at once: it has no attempt.
func TestSkippedPodLeavesFlight(t *testing.T) {
	rejected := func(p *v1.Pod) { world.Reject(p, world.TooSmall, "") }
	checkMoves(t, []scenario{{"deleted, but not delivered yet", 29, 40, func(w *world.Cluster) {
		small := w.Small()
		addPod(w, 2, "first", "4", rejected)
		web := addPod(w, 2.1, "web", "4", rejected)
		w.Delete(30, small)
		going := world.Change(w, 30.0002, sources.Updated, web, func(p *v1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: world.At(30)} })
		world.Change(w, 30.001, sources.Deleted, going, nil)
	}, `
		30.001 first active AssignedPodDelete
		30.001 web active AssignedPodDelete
		30.001 first inflight (turn)
		30.002 first unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		30.002 web inflight (turn)
		30.002 web deleted (turn)
	`}})
}

// bindMoves returns the moves of a pod that is bound in the second in which it was created.
func bindMoves(second string) []string {
	return []string{
		second + " >active UnscheduledPodAdd modelled",
		second + " active>inflight modelled",
		second + " inflight>scheduled observed",
	}
}

// TestObservedRejectionOverridesPlacement: the real scheduler rejected a pod that fits in the model. The
// pod is unschedulable because of the plugins of the message, and its resources are free.
func TestObservedRejectionOverridesPlacement(t *testing.T) {
	const message = "0/1 nodes are available: 1 Insufficient cpu."
	for name, rejected := range map[string]func(*world.Cluster, *v1.Pod){
		"Event":           func(c *world.Cluster, p *v1.Pod) { c.Failed(3.002, p, message) },
		"patch":           func(c *world.Cluster, p *v1.Pod) { c.Patched(3.005, p, message, "") },
		"Event and patch": func(c *world.Cluster, p *v1.Pod) { c.Failed(3.002, p, message); c.Patched(3.005, p, message, "") },
		"condition": func(c *world.Cluster, p *v1.Pod) {
			world.Change(c, 3.2, sources.Updated, p, func(p *v1.Pod) { world.Reject(p, message, "") })
		},
		"late Event": func(c *world.Cluster, p *v1.Pod) { c.Failed(3.9, p, message) },
	} {
		t.Run(name, func(t *testing.T) {
			var c world.Cluster
			world.Change(&c, 1, sources.Added, world.Node("node-a", "4"), nil)
			world.Change(&c, 2, sources.Added, world.PendingPod("large", "5"), nil) // shows the model which plugin gives that reason
			web := world.Change(&c, 3, sources.Added, world.PendingPod("web", "3"), nil)
			rejected(&c, web)
			db := world.Change(&c, 4, sources.Added, world.PendingPod("db", "4"), nil)
			c.Bound(4.01, db, "node-a")
			rec := c.Recording(4.5)
			replayed.Compare(t, replayed.Moves(t, rec, "web"), []string{
				"3 >active UnscheduledPodAdd modelled",
				"3 active>inflight modelled",
				"3 inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled",
			})
			replayed.Compare(t, replayed.Moves(t, rec, "db"), bindMoves("4"))
		})
	}
}

// TestPluginsOfRejection: the plugins of a rejection follow from the reasons in its message: a plugin
// that alone gives a reason, or that gave it in a local attempt. An unknown reason has an unknown plugin.
// Plugins or an error that a log states take precedence.
func TestPluginsOfRejection(t *testing.T) {
	const missing = `persistentvolumeclaim "data" not found`
	for _, c := range []struct {
		attempt sources.FailedAttempt
		want    string
	}{
		{sources.FailedAttempt{Message: "0/1 nodes are available: 1 Insufficient example.com/gpu."}, "unschedulable ScheduleAttemptFailure NodeResourcesFit"},
		{sources.FailedAttempt{Message: "0/1 nodes are available: 1 node(s) had untolerated taint(s). preemption: 0/1 nodes are available: ..."}, "unschedulable ScheduleAttemptFailure TaintToleration"},
		{sources.FailedAttempt{Message: "0/1 nodes are available: 1 " + missing + "."}, "unschedulable ScheduleAttemptFailure VolumeRestrictions"},
		{sources.FailedAttempt{Message: "0/2 nodes are available: 1 Insufficient cpu, 1 " + missing + "."}, "unschedulable ScheduleAttemptFailure NodeResourcesFit,VolumeRestrictions"},
		{sources.FailedAttempt{Message: "0/2 nodes are available: 1 " + missing + ", 1 something new."}, "unschedulable ScheduleAttemptFailure (unknown plugin),VolumeRestrictions"},
		{sources.FailedAttempt{Message: "0/2 nodes are available: 1 Insufficient cpu, 1 something new."}, "unschedulable ScheduleAttemptFailure (unknown plugin),NodeResourcesFit"},
		{sources.FailedAttempt{Message: "0/1 nodes are available: 1 something new."}, "unschedulable ScheduleAttemptFailure (unknown plugin)"},
		{sources.FailedAttempt{Message: "running Reserve plugin: the API server is away"}, "backoff ScheduleAttemptFailure"},
		{sources.FailedAttempt{Message: world.TooSmall, Plugins: []string{"NodePorts"}}, "unschedulable ScheduleAttemptFailure NodePorts"},
		{sources.FailedAttempt{Message: world.TooSmall, Error: true}, "backoff ScheduleAttemptFailure"},
		{sources.FailedAttempt{}, "unschedulable ScheduleAttemptFailure (unknown plugin)"},
	} {
		var w world.Cluster
		world.Change(&w, 1, sources.Added, world.Node("node-a", "4"), nil)
		world.Change(&w, 2, sources.Added, world.PendingPod("store", "1"), func(p *v1.Pod) { world.Mount(p, "data") }) // shows the model which plugin gives that reason
		world.Change(&w, 3, sources.Added, world.PendingPod("web", "3"), nil)
		c.attempt.Pod, c.attempt.UID = world.Key("web"), "web"
		w.Add(3.002, &c.attempt)
		replayed.Compare(t, replayed.Moves(t, w.Recording(3.5), "web")[2:3], []string{"3 inflight>" + c.want + " modelled"})
	}
}
