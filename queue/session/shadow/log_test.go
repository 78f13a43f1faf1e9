package shadow_test

import (
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
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
