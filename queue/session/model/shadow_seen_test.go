package model_test

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

// TestRejectedAlthough: the real scheduler rejected a pod that the model had placed. The pod is where it
// is told to be, by the plugins that the message names, and the room that the model had taken is free.
func TestRejectedAlthough(t *testing.T) {
	const message = "0/1 nodes are available: 1 Insufficient cpu."
	for name, rejected := range map[string]func(*world.Cluster, *v1.Pod){
		"by an event": func(c *world.Cluster, p *v1.Pod) { c.Failed(3.002, p, message) },
		"by a patch":  func(c *world.Cluster, p *v1.Pod) { c.Patched(3.005, p, message, "") },
		"by both":     func(c *world.Cluster, p *v1.Pod) { c.Failed(3.002, p, message); c.Patched(3.005, p, message, "") },
		"by a condition": func(c *world.Cluster, p *v1.Pod) {
			world.Happens(c, 3.2, sources.Updated, p, func(p *v1.Pod) { world.Reject(p, message, "") })
		},
		"by a late event": func(c *world.Cluster, p *v1.Pod) { c.Failed(3.9, p, message) },
	} {
		t.Run(name, func(t *testing.T) {
			var c world.Cluster
			world.Happens(&c, 1, sources.Added, world.Node("node-a", "4"), nil)
			world.Happens(&c, 2, sources.Added, world.Wants("large", "5"), nil) // from this one the model learns whose reason that is
			web := world.Happens(&c, 3, sources.Added, world.Wants("web", "3"), nil)
			rejected(&c, web)
			db := world.Happens(&c, 4, sources.Added, world.Wants("db", "4"), nil)
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

// TestRejectedForUnknown: a message may give a reason that no attempt of the model had, or none of a plugin.
func TestRejectedForUnknown(t *testing.T) {
	for message, want := range map[string]string{
		"0/1 nodes are available: 1 node(s) had something new.": "3 inflight>unschedulable ScheduleAttemptFailure (unknown plugin) modelled",
		"running Reserve plugin: the API server is away":        "3 inflight>backoff ScheduleAttemptFailure modelled",
	} {
		var c world.Cluster
		world.Happens(&c, 1, sources.Added, world.Node("node-a", "4"), nil)
		web := world.Happens(&c, 3, sources.Added, world.Wants("web", "3"), nil)
		c.Failed(3.002, web, message)
		replayed.Compare(t, replayed.Moves(t, c.Recording(3.5), "web")[2:3], []string{want})
	}
}

// TestReasonNeverSeen: a reason that one plugin alone gives tells that plugin, though no attempt of the model had it.
func TestReasonNeverSeen(t *testing.T) {
	for message, plugin := range map[string]string{
		"0/1 nodes are available: 1 Insufficient example.com/gpu.":                                              "NodeResourcesFit",
		"0/1 nodes are available: 1 node(s) had untolerated taint(s). preemption: 0/1 nodes are available: ...": "TaintToleration",
	} {
		var c world.Cluster
		world.Happens(&c, 1, sources.Added, world.Node("node-a", "4"), nil)
		web := world.Happens(&c, 3, sources.Added, world.Wants("web", "3"), nil)
		c.Failed(3.002, web, message)
		replayed.Compare(t, replayed.Moves(t, c.Recording(3.5), "web")[2:3], []string{"3 inflight>unschedulable ScheduleAttemptFailure " + plugin + " modelled"})
	}
}

// TestReasonOfSeveral: that of a reason which several plugins may give is the plugin that gave it to an attempt of the model, beside
// those that are known anyhow. Where nobody gave it, one that is not known stands for it, unless others are known.
func TestReasonOfSeveral(t *testing.T) {
	const missing = `persistentvolumeclaim "data" not found`
	for _, c := range []struct{ message, want string }{
		{"0/1 nodes are available: 1 " + missing + ".", "VolumeRestrictions"},
		{"0/2 nodes are available: 1 Insufficient cpu, 1 " + missing + ".", "NodeResourcesFit,VolumeRestrictions"},
		{"0/2 nodes are available: 1 " + missing + ", 1 something new.", "VolumeRestrictions"},
		{"0/2 nodes are available: 1 Insufficient cpu, 1 something new.", "NodeResourcesFit"},
		{"0/1 nodes are available: 1 something new.", "(unknown plugin)"},
	} {
		var w world.Cluster
		world.Happens(&w, 1, sources.Added, world.Node("node-a", "4"), nil)
		world.Happens(&w, 2, sources.Added, world.Wants("store", "1"), func(p *v1.Pod) { world.Mount(p, "data") }) // from which the model learns whose reason that is
		web := world.Happens(&w, 3, sources.Added, world.Wants("web", "3"), nil)
		w.Failed(3.002, web, c.message)
		replayed.Compare(t, replayed.Moves(t, w.Recording(3.5), "web")[2:3], []string{"3 inflight>unschedulable ScheduleAttemptFailure " + c.want + " modelled"})
	}
}

// TestRejectedAsTold: what a log tells of an attempt beside its message counts: which plugins rejected the pod, or that it was an error.
// Where it tells nothing, nobody knows the plugin.
func TestRejectedAsTold(t *testing.T) {
	for _, c := range []struct {
		told sources.FailedAttempt
		want string
	}{
		{sources.FailedAttempt{Message: world.TooSmall, Plugins: []string{"NodePorts"}}, "unschedulable ScheduleAttemptFailure NodePorts"},
		{sources.FailedAttempt{Message: world.TooSmall, Error: true}, "backoff ScheduleAttemptFailure"},
		{sources.FailedAttempt{}, "unschedulable ScheduleAttemptFailure (unknown plugin)"},
	} {
		var w world.Cluster
		world.Happens(&w, 1, sources.Added, world.Node("node-a", "4"), nil)
		world.Happens(&w, 3, sources.Added, world.Wants("web", "3"), nil)
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
		world.Happens(&w, 1, sources.Added, world.Node("node-a", "4"), nil)
		world.Happens(&w, 1, sources.Added, world.Node("node-b", "4"), nil)
		world.Happens(&w, 3, sources.Added, world.Wants("web", "3"), nil)
		c.of.Pod = world.Key("web")
		w.Add(3.01, &c.of)
		if got := replayed.BoundTo(t, w.Recording(4), "web"); got != c.want {
			t.Errorf("%+v: it is bound to %q, want %q", c.of, got, c.want)
		}
	}
}

// TestHeardBefore: that an attempt failed is told before the change that led to it, or before the model
// would have had the scheduler hear of it. The change comes first all the same, and the pod is tried once.
func TestHeardBefore(t *testing.T) {
	const tainted = "0/1 nodes are available: 1 node(s) had untolerated taint(s)."
	change := func(n *v1.Node) {
		world.Cpu(n, "4")
		n.Spec.Taints = []v1.Taint{{Key: "busy", Effect: v1.TaintEffectNoSchedule}}
	}
	for name, told := range map[string]func(c *world.Cluster, grown *v1.Node, web *v1.Pod){
		"not heard of yet": func(c *world.Cluster, n *v1.Node, web *v1.Pod) {
			world.Happens(c, 10, sources.Updated, n, change)
			c.Failed(10.0005, web, tainted)
		},
		"told later": func(c *world.Cluster, n *v1.Node, web *v1.Pod) {
			c.Failed(10, web, tainted)
			world.Happens(c, 10.005, sources.Updated, n, change)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var c world.Cluster
			n := world.Happens(&c, 1, sources.Added, world.Node("node-a", "1"), nil)
			web := world.Happens(&c, 2, sources.Added, world.Wants("web", "3"), nil)
			c.Failed(2.002, web, world.TooSmall)
			told(&c, n, web)
			replayed.Compare(t, replayed.Moves(t, c.Recording(20), "web"), []string{
				"2 >active UnscheduledPodAdd modelled",
				"2 active>inflight modelled",
				"2 inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled",
				"10 unschedulable>active NodeUpdateNodeAllocatable NodeResourcesFit modelled",
				"10 active>inflight NodeResourcesFit modelled",
				"10 inflight>unschedulable ScheduleAttemptFailure TaintToleration modelled",
			})
		})
	}
}

// TestFreedIsRestated: a pod's own update moves it, which kube-scheduler logs twice.
func TestFreedIsRestated(t *testing.T) {
	var c world.Cluster
	world.Happens(&c, 1, sources.Added, world.Node("node-a", "1"), nil)
	web := world.Happens(&c, 2, sources.Added, world.Wants("web", "2"), func(p *v1.Pod) { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "wait"}} })
	world.Happens(&c, 5, sources.Updated, web, func(p *v1.Pod) { p.Spec.SchedulingGates = nil })
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
