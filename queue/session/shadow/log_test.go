package shadow_test

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/queue/session/world/replayed"
	"github.com/schedq/schedq/sources"
)

// logVerbosity sets the verbosity of the scheduler's log from then on.
func logVerbosity(w *world.Cluster, seconds float64, verbosity int) {
	w.Add(seconds, &sources.Logged{Verbosity: verbosity})
}

// logFailure logs a failed attempt.
func logFailure(w *world.Cluster, began, ended float64, pod *v1.Pod) {
	w.Add(ended, &sources.FailedAttempt{Pod: world.Key(pod.Name), UID: pod.UID, Message: noRoom, Log: true, Began: world.At(began)})
}

// logBinding logs that a pod is bound to node-a.
func logBinding(w *world.Cluster, began, ended float64, pod *v1.Pod) {
	w.Add(ended, &sources.Bound{Pod: world.Key(pod.Name), UID: pod.UID, Node: "node-a", Began: world.At(began)})
}

// logMove logs a move.
func logMove(w *world.Cluster, seconds float64, pod string, to sources.Tier) {
	w.Add(seconds, &sources.Move{Pod: world.Key(pod), To: to})
}

// TestLoggedAttemptStarts: if the log shows when an attempt began, the loop's previous attempt has ended
// by then.
func TestLoggedAttemptStarts(t *testing.T) {
	checkMoves(t, []scenario{
		{"before the end of the previous attempt is logged", 2, 4, func(w *world.Cluster) {
			logVerbosity(w, 0, 3)
			addNodes(w, "4", "node-a")
			a, b := addPod(w, 2, "a", "8", nil), addPod(w, 2.0001, "b", "1", nil)
			logBinding(w, 2.0042, 2.0044, b)
			logFailure(w, 2.0015, 2.0045, a)
		}, `
			2.001 a active UnscheduledPodAdd
			2.001 b active UnscheduledPodAdd
			2.002 a inflight (turn)
			2.004 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 2.7ms (outcome)
			2.004 b inflight
			2.004 b scheduled node-a (outcome)
			2.005 b deleted
		`},
		{"of unknown, replaced and bound pods, and of one in flight", 2, 4, func(w *world.Cluster) {
			logVerbosity(w, 0, 3)
			addNodes(w, "4", "node-a")
			bound := addPod(w, 1.8, "bound", "1", func(p *v1.Pod) { p.Spec.NodeName = "node-a" })
			placed := addPod(w, 2, "placed", "1", nil)
			w.Add(2.05, &sources.FailedAttempt{Pod: world.Key("nobody"), UID: "nobody", Log: true, Began: world.At(2.04)})
			w.Add(2.06, &sources.FailedAttempt{Pod: world.Key("placed"), UID: "another", Log: true, Began: world.At(2.045)})
			logFailure(w, 2.05, 2.07, bound)
			logBinding(w, 2.002, 2.08, placed)
			logBinding(w, 2.0795, 2.09, placed)
		}, `
			2.001 placed active UnscheduledPodAdd
			2.002 placed inflight (turn)
			2.008 placed unschedulable ScheduleAttemptFailure (unknown plugin) (not bound)
			2.079 placed inflight
			2.080 placed scheduled node-a (outcome)
			2.081 placed deleted
		`},
		{"before the source attaches", 2, 4, func(w *world.Cluster) {
			logVerbosity(w, 0, 3)
			addNodes(w, "4", "node-a")
			a := addPod(w, 1.9, "a", "8", nil)
			logFailure(w, 2.1, 2.2, a)
			w.Add(3, &sources.Attached{Nodes: true})
		}, `
			3.000 a active UnscheduledPodAdd
			3.000 other unschedulable after 1
			3.900 a inflight (turn)
			3.901 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"without nodes in the recording", 2, 4, func(w *world.Cluster) {
			logVerbosity(w, 0, 3)
			a := addPod(w, 2, "a", "8", nil)
			logFailure(w, 2.1, 2.2, a)
		}, `
			2.001 a active UnscheduledPodAdd
			2.200 a inflight (behind)
			2.200 a unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
		`},
		{"although the log's verbosity is too low for it", 2, 4, func(w *world.Cluster) {
			logVerbosity(w, 0, sources.AttemptsVerbosity)
			addNodes(w, "4", "node-a")
			a := addPod(w, 2, "a", "8", nil)
			logFailure(w, 2.1, 2.2, a)
		}, `
			2.001 a active UnscheduledPodAdd
			2.100 a inflight (turn)
			2.101 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.200 a inflight (behind)
			2.200 a unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
		`},
		{"while the log contains all moves", 2, 4, func(w *world.Cluster) {
			logVerbosity(w, 0, sources.MovesVerbosity)
			addNodes(w, "4", "node-a")
			a := addPod(w, 2, "a", "8", nil)
			logMove(w, 2.001, "a", sources.TierActive)
			logMove(w, 2.1, "a", sources.TierInFlight)
			logFailure(w, 2.1, 2.2, a)
			logMove(w, 2.2, "a", sources.TierUnschedulable)
		}, ``},
	})
}

// TestLoggedFailuresCloseTogether: a logged failure belongs to the attempt that the model makes for it,
// and the next logged failure to the next attempt, however close.
func TestLoggedFailuresCloseTogether(t *testing.T) {
	checkMoves(t, []scenario{
		{"each deletion leads to an attempt before the watch would deliver it", 1.9, 4, func(w *world.Cluster) {
			logVerbosity(w, 0, sources.AttemptsVerbosity)
			addNodes(w, "4", "node-a")
			var small []*v1.Pod
			for _, name := range []string{"x", "y"} {
				small = append(small, addPod(w, 1, name, "1", func(p *v1.Pod) { p.Spec.NodeName = "node-a" }))
			}
			a := addPod(w, 2, "a", "8", nil)
			logFailure(w, 2.001, 2.0015, a)
			world.Change(w, 2.1, sources.Deleted, small[0], nil)
			logFailure(w, 2.1002, 2.1004, a)
			world.Change(w, 2.106, sources.Deleted, small[1], nil)
			logFailure(w, 2.1069, 2.1076, a)
		}, `
			2.001 a active UnscheduledPodAdd
			2.001 a inflight (failure)
			2.002 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 460µs (outcome)
			2.100 other backoff AssignedPodDelete
			2.100 a backoff AssignedPodDelete
			2.100 a inflight (behind)
			2.100 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 0s (outcome)
			2.100 other unschedulable (not tried)
			2.107 a backoff AssignedPodDelete
			2.107 other backoff AssignedPodDelete
			2.107 a inflight (failure)
			2.108 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 520µs (outcome)
			2.108 other unschedulable (not tried)
		`},
	})
}

// TestLoggedMoves: while a log contains all moves, the model makes none. Afterwards it continues from
// the tiers in the log.
func TestLoggedMoves(t *testing.T) {
	checkMoves(t, []scenario{
		{"a pod is created in that time and popped after it", 2, 4, func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			logVerbosity(w, 2, sources.MovesVerbosity)
			pod := addPod(w, 2.1, "new", "1", nil)
			logMove(w, 2.101, "new", sources.TierActive)
			logVerbosity(w, 2.2, 0)
			w.Bound(2.3, pod, "node-a")
		}, `
			2.299 new inflight (turn)
			2.300 new scheduled node-a (outcome)
			2.301 new deleted
		`},
		{"a pod is created in that time, and the log shows it only in flight", 2, 4, func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			logVerbosity(w, 2, sources.MovesVerbosity)
			pod := addPod(w, 2.1, "new", "1", nil)
			logMove(w, 2.102, "new", sources.TierInFlight)
			logVerbosity(w, 2.2, 0)
			w.Bound(2.3, pod, "node-a")
		}, `
			2.300 new scheduled node-a (outcome)
			2.301 new deleted
		`},
		{"the log shows a pod in flight, and a later start of its attempt", 2, 4, func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			logVerbosity(w, 2, sources.MovesVerbosity)
			pod := addPod(w, 2.1, "new", "4", nil)
			logMove(w, 2.102, "new", sources.TierInFlight)
			logVerbosity(w, 2.2, 3)
			logFailure(w, 2.3, 2.4, pod)
		}, `
			2.400 new unschedulable ScheduleAttemptFailure NodeResourcesFit in 100ms (outcome)
		`},
		{"the verbosity is repeated", 2, 4, func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			logVerbosity(w, 2, sources.MovesVerbosity)
			logVerbosity(w, 2.05, sources.MovesVerbosity)
			addPod(w, 2.1, "new", "4", rejectedBefore)
			w.Add(3, &sources.Mark{})
		}, ``},
		{"moves before the log contains all of them, and into an unknown tier", 2, 4, func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			web := addPod(w, 2, "web", "4", nil)
			w.Failed(2.003, web, noRoom)
			logMove(w, 2.05, "web", sources.TierBackoff)
			logVerbosity(w, 2.1, sources.MovesVerbosity)
			logMove(w, 2.2, "web", "nowhere")
			w.Add(2.3, &sources.Move{Pod: world.Key("web"), To: sources.TierBackoff, Restated: true})
			logVerbosity(w, 2.4, 0)
			w.Failed(2.5, web, noRoom+" again")
		}, `
			2.001 web active UnscheduledPodAdd
			2.002 web inflight (failure)
			2.003 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)
			2.500 web inflight (behind)
			2.500 web unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
		`},
		{"an attempt is in flight at the end and fails: the pod backs off as after one failure", 2, 6, func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			small := w.AddSmall(1.6)
			logVerbosity(w, 2, sources.MovesVerbosity)
			web := addPod(w, 2.1, "web", "1", rejectedBefore)
			logMove(w, 2.101, "web", sources.TierActive)
			logMove(w, 2.102, "web", sources.TierInFlight)
			logVerbosity(w, 2.2, 0)
			w.Failed(2.3, web, noRoom)
			w.Delete(2.5, small)
			w.Bound(5.9, web, "node-a")
		}, `
			2.300 web unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
			2.501 other backoff AssignedPodDelete
			2.501 web backoff AssignedPodDelete
			2.501 other unschedulable (not tried)
			2.501 web inflight (turn)
			2.507 web unschedulable ScheduleAttemptFailure NodeResourcesFit (not bound)
			5.900 web inflight (behind)
			5.900 web scheduled node-a (outcome)
			5.901 web deleted
		`},
		{"the log shows a pod unschedulable that the model assigned: its resources are free", 2, 4, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			addPod(w, 2, "web", "1", nil)
			logVerbosity(w, 2.01, sources.MovesVerbosity)
			logMove(w, 2.02, "web", sources.TierUnschedulable)
			logVerbosity(w, 2.03, 0)
			w.Bound(2.05, addPod(w, 2.04, "db", "1", nil), "node-a")
			addPod(w, 2.06, "late", "1", nil)
		}, `
			2.001 web active UnscheduledPodAdd
			2.041 db active UnscheduledPodAdd
			2.049 db inflight (turn)
			2.050 db scheduled node-a (outcome)
			2.051 web active AssignedPodAdd
			2.051 db deleted
			2.061 late active UnscheduledPodAdd
			3.900 web inflight (turn)
			3.901 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			3.901 late inflight (turn)
			3.901 late unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"the log shows a pod bound that the model assigned: its resources stay reserved", 2, 4, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			web := addPod(w, 2, "web", "1", nil)
			logVerbosity(w, 2.01, sources.MovesVerbosity)
			logMove(w, 2.02, "web", sources.TierScheduled)
			logVerbosity(w, 2.03, 0)
			addPod(w, 2.04, "db", "1", nil)
			w.Bound(2.1, web, "node-a")
		}, `
			2.001 web active UnscheduledPodAdd
			2.041 db active UnscheduledPodAdd
			2.100 web inflight (behind)
			2.100 web scheduled node-a (outcome)
			2.101 web deleted
			3.900 db inflight (turn)
			3.901 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"the log shows a pod in flight that the model assigned: it is bound as assigned", 2, 4, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			web := addPod(w, 2, "web", "1", nil)
			logVerbosity(w, 2.01, sources.MovesVerbosity)
			logMove(w, 2.02, "web", sources.TierInFlight)
			logVerbosity(w, 2.03, 0)
			addPod(w, 2.04, "db", "1", nil)
			w.Bound(2.1, web, "node-a")
		}, `
			2.001 web active UnscheduledPodAdd
			2.041 db active UnscheduledPodAdd
			2.100 web scheduled node-a (outcome)
			2.101 web deleted
			3.900 db inflight (turn)
			3.901 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"a dump lists a pod, as did a dump before the scheduler started", 2, 4, func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			web := addPod(w, 1.9, "web", "4", nil)
			w.Add(1.95, &sources.Dumped{Pod: world.Key("web"), UID: "web", In: sources.TierBackoff})
			w.Started(2)
			w.Failed(2.003, web, noRoom)
			logVerbosity(w, 2.01, sources.MovesVerbosity)
			w.Add(2.5, &sources.Dumped{Pod: world.Key("web"), UID: "web", In: sources.TierActive})
		}, `
			2.000 other active UnscheduledPodAdd
			2.000 web active UnscheduledPodAdd
			2.002 web inflight (failure)
			2.003 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)
		`},
	})
}

// TestDumpWithoutObjects: in a log without objects, a dump shows the pods' tiers.
func TestDumpWithoutObjects(t *testing.T) {
	var c world.Cluster
	for at, in := range []sources.Tier{sources.TierBackoff, sources.TierBackoff, sources.TierActive} {
		c.Add(float64(1+at), &sources.Dumped{Pod: world.Key("a"), UID: "a", In: in})
	}
	replayed.Compare(t, replayed.Moves(t, c.Recording(4), "a"), []string{"1 >backoff observed", "3 backoff>active observed"})
}

// TestLoggedBinding: a scheduler's log shows a binding and its node before a change of the pod does. A
// binding of another UID, or without a node, is ignored.
func TestLoggedBinding(t *testing.T) {
	for _, c := range []struct {
		of   sources.Bound
		want string
	}{
		{sources.Bound{UID: "web", Node: "node-b"}, "node-b"}, {sources.Bound{UID: "another", Node: "node-b"}, ""}, {sources.Bound{UID: "web"}, ""},
	} {
		var w world.Cluster
		w.Add(0.5, &sources.Logged{Verbosity: sources.AttemptsVerbosity})
		world.Change(&w, 1, sources.Added, world.Node("node-a", "4"), nil)
		world.Change(&w, 1, sources.Added, world.Node("node-b", "4"), nil)
		world.Change(&w, 3, sources.Added, world.PendingPod("web", "3"), nil)
		c.of.Pod = world.Key("web")
		w.Add(3.01, &c.of)
		if got := replayed.BoundTo(t, w.Recording(4), "web"); got != c.want {
			t.Errorf("%+v: bound to %q, want %q", c.of, got, c.want)
		}
	}
}

// TestLoggedDeliveries: if the scheduler's log shows when it received a change, the model delivers it then.
// Changes of one kind are delivered in the order of the log, or else of the source.
func TestLoggedDeliveries(t *testing.T) {
	add := func(w *world.Cluster, seconds, delivered float64, name string, edit func(*v1.Pod)) *v1.Pod {
		pod := addPod(w, seconds, name, "4", edit)
		if delivered > 0 {
			w.Events[len(w.Events)-1].Fact.(*sources.ObjectChange).Delivered = world.At(delivered)
		}
		return pod
	}
	gated := func(p *v1.Pod) { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "wait"}} }
	checkMoves(t, []scenario{
		{"before the response to the request", 2, 2.5, func(w *world.Cluster) {
			add(w, 2, 1, "a", gated)
		}, `
			2.000 a gated UnscheduledPodAdd
		`},
		{"late: the next pod is late too, a node is not", 2, 2.5, func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			add(w, 2, 2.009, "a", gated)
			add(w, 2, 0, "b", gated)
			world.Change(w, 2, sources.Added, world.Node("node-b", "8"), nil) // wakes other
		}, `
			2.001 other backoff NodeAdd
			2.009 a gated UnscheduledPodAdd
			2.009 b gated UnscheduledPodAdd
			2.400 other inflight (turn)
			2.406 other unschedulable ScheduleAttemptFailure NodeResourcesFit (not bound)
		`},
		{"in the order of the log", 2, 2.5, func(w *world.Cluster) {
			add(w, 2, 2.009, "a", gated)
			add(w, 2, 2.008, "b", gated)
		}, `
			2.008 b gated UnscheduledPodAdd
			2.009 a gated UnscheduledPodAdd
		`},
		{"changes of one pod stay in order", 2, 2.5, func(w *world.Cluster) {
			pod := add(w, 2, 2.009, "a", gated)
			world.Change(w, 2, sources.Updated, pod, func(p *v1.Pod) { p.Spec.SchedulingGates = nil })
			w.Events[len(w.Events)-1].Fact.(*sources.ObjectChange).Delivered = world.At(2.008)
		}, `
			2.009 a gated UnscheduledPodAdd
			2.009 a active TargetPodUpdatePodSchedulingGatesEliminated
			2.009 a active TargetPodUpdatePodSchedulingGatesEliminated restated
		`},
	})
}

// TestVerbosityChanges: while a scheduler's log contains all moves, the model makes none. Afterwards it
// continues with the pods where the log left them.
func TestVerbosityChanges(t *testing.T) {
	var w world.Cluster
	node := world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
	small := world.Change(&w, 1, sources.Added, world.PendingPod("small", "1"), func(p *v1.Pod) { p.Spec.NodeName = "node-a" })
	w.Patched(2.01, world.Change(&w, 2, sources.Added, world.PendingPod("web", "1"), nil), world.TooSmall, "")
	db := w.Patched(2.51, world.Change(&w, 2.5, sources.Added, world.PendingPod("db", "4"), nil), world.TooSmall, "")
	gone := w.Patched(2.61, world.Change(&w, 2.6, sources.Added, world.PendingPod("gone", "4"), nil), world.TooSmall, "")
	still := w.Patched(2.71, world.Change(&w, 2.7, sources.Added, world.PendingPod("still", "1"), nil), world.TooSmall, "")
	w.Add(5, &sources.Logged{Verbosity: sources.MovesVerbosity})
	// In the log, web is woken and fails again, although the model finds a node for it.
	world.Change(&w, 6, sources.Deleted, small, nil)
	logs := func(seconds float64, pod string, to sources.Tier, event string, plugins ...string) {
		w.Add(seconds, &sources.Move{Pod: world.Key(pod), To: to, Event: event, Plugins: plugins})
	}
	logs(6.01, "web", sources.TierActive, "AssignedPodDelete")
	logs(6.02, "web", sources.TierInFlight, "")
	logs(6.03, "web", sources.TierUnschedulable, "ScheduleAttemptFailure", "NodePorts")
	world.Change(&w, 7, sources.Deleted, gone, nil)
	logs(7.01, "gone", sources.TierDeleted, "")
	logs(8, "db", sources.TierActive, "ForceActivate")
	w.Add(10, &sources.Logged{Verbosity: 0})
	w.Patched(10.2, db, world.TooSmall+" again", "")
	world.Change(&w, 12, sources.Updated, node, func(n *v1.Node) { world.SetCPU(n, "2") })
	w.Bound(12.01, still, "node-a")
	late := world.Change(&w, 13, sources.Added, world.PendingPod("late", "1"), nil)
	w.Bound(13.01, late, "node-a")
	rec := w.Recording(14)
	fails := func(at string) []string {
		return []string{at + " inflight", at + " unschedulable ScheduleAttemptFailure"}
	}
	for pod, want := range map[string][]string{
		"web":  append(append([]string{"2.0 active UnscheduledPodAdd"}, fails("2.0")...), "6.0 logged active", "6.0 logged inflight", "6.0 logged unschedulable"),
		"db":   append(append(append([]string{"2.5 active UnscheduledPodAdd"}, fails("2.5")...), "8.0 logged active"), fails("10.0")...),
		"gone": append(append([]string{"2.6 active UnscheduledPodAdd"}, fails("2.6")...), "7.0 logged deleted"),
		// The log does not contain this pod: it was not woken, although the model would have woken it.
		"still": append(append([]string{"2.7 active UnscheduledPodAdd"}, fails("2.7")...), "12.0 active NodeUpdateNodeAllocatable", "12.0 inflight", "12.0 scheduled", "12.0 deleted"),
		"late":  {"13.0 active UnscheduledPodAdd", "13.0 inflight", "13.0 scheduled", "13.0 deleted"},
	} {
		expect(t, pod, podMoves(t, rec, true, pod), want)
	}
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

// TestLoggedBindingUpdatesPod: a binding in the scheduler's log becomes a change of the pod.
func TestLoggedBindingUpdatesPod(t *testing.T) {
	var w world.Cluster
	logVerbosity(&w, 0, sources.AttemptsVerbosity)
	world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
	logBinding(&w, 2.002, 2.01, addPod(&w, 2, "web", "1", nil))
	f := shadow.NewFeed(w.Recording(3), world.Config(t))
	t.Cleanup(f.Close)
	var nodes []string
	for i := 0; f.HasEvent(i); i++ {
		if c, ok := f.Events[i].Fact.(*sources.ObjectChange); ok && f.Events[i].Time.Equal(world.At(2.01)) {
			nodes = append(nodes, c.Object.(*v1.Pod).Spec.NodeName)
		}
	}
	expect(t, "nodes", nodes, []string{"node-a"})
}
