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

// The moves of a pod that is placed and bound in one second.
func boundAt(second string) []string {
	return []string{
		second + " >active UnscheduledPodAdd modelled",
		second + " active>inflight modelled",
		second + " inflight>scheduled observed",
	}
}

// TestRejectedAlthough: the real scheduler rejected a pod that the model had placed. The pod is where
// the source has it, by the plugins that the message names, and the room that the model had taken is free.
func TestRejectedAlthough(t *testing.T) {
	const message = "0/1 nodes are available: 1 Insufficient cpu."
	for name, rejected := range map[string]func(*world.Cluster, *v1.Pod){
		"by an event": func(c *world.Cluster, p *v1.Pod) { c.Failed(3.002, p, message) },
		"by a patch":  func(c *world.Cluster, p *v1.Pod) { c.Patched(3.005, p, message, "") },
		"by both":     func(c *world.Cluster, p *v1.Pod) { c.Failed(3.002, p, message); c.Patched(3.005, p, message, "") },
		"by a condition": func(c *world.Cluster, p *v1.Pod) {
			world.Change(c, 3.2, sources.Updated, p, func(p *v1.Pod) { world.Reject(p, message, "") })
		},
		"by a late event": func(c *world.Cluster, p *v1.Pod) { c.Failed(3.9, p, message) },
	} {
		t.Run(name, func(t *testing.T) {
			var c world.Cluster
			world.Change(&c, 1, sources.Added, world.Node("node-a", "4"), nil)
			world.Change(&c, 2, sources.Added, world.PendingPod("large", "5"), nil) // from this one the model learns whose reason that is
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
			replayed.Compare(t, replayed.Moves(t, rec, "db"), boundAt("4"))
		})
	}
}

// TestRejectedFor: a message tells the plugins whose reasons it gives: that plugin which alone gives a reason, or the one that gave it to an
// attempt of the model. Of a reason that is not known the plugin is not known, whatever is known beside it. What a log tells beside the message counts: the plugins, or that
// it was an error.
func TestRejectedFor(t *testing.T) {
	const missing = `persistentvolumeclaim "data" not found`
	for _, c := range []struct {
		told sources.FailedAttempt
		want string
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
		world.Change(&w, 2, sources.Added, world.PendingPod("store", "1"), func(p *v1.Pod) { world.Mount(p, "data") }) // from which the model learns whose reason that is
		world.Change(&w, 3, sources.Added, world.PendingPod("web", "3"), nil)
		c.told.Pod, c.told.UID = world.Key("web"), "web"
		w.Add(3.002, &c.told)
		replayed.Compare(t, replayed.Moves(t, w.Recording(3.5), "web")[2:3], []string{"3 inflight>" + c.want + " modelled"})
	}
}

// TestBoundByTheLog: a scheduler's log says that a pod is bound, and where, before any change of the pod shows it. It says nothing of
// another pod of that name, nor without a node.
func TestBoundByTheLog(t *testing.T) {
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
			t.Errorf("%+v: it is bound to %q, want %q", c.of, got, c.want)
		}
	}
}

// TestFreedIsRestated: a pod's own update moves it, which kube-scheduler logs twice.
func TestFreedIsRestated(t *testing.T) {
	var c world.Cluster
	world.Change(&c, 1, sources.Added, world.Node("node-a", "1"), nil)
	web := world.Change(&c, 2, sources.Added, world.PendingPod("web", "2"), func(p *v1.Pod) { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "wait"}} })
	world.Change(&c, 5, sources.Updated, web, func(p *v1.Pod) { p.Spec.SchedulingGates = nil })
	var told []string
	if err := timeline.Replay(t.Context(), c.Recording(5.5), timeline.Options{}, func(m *board.Transition) error {
		text := m.From.String() + ">" + m.To.String() + " " + m.Event
		if m.Restated() {
			text += " restated"
		}
		told = append(told, text)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	replayed.Compare(t, told, []string{
		">gated UnscheduledPodAdd",
		"gated>active TargetPodUpdatePodSchedulingGatesEliminated",
		"active>active TargetPodUpdatePodSchedulingGatesEliminated restated",
		"active>inflight ",
		"inflight>unschedulable ScheduleAttemptFailure",
	})
}
