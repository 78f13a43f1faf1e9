package model_test

import (
	"fmt"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/model"
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

// TestBoundElsewhere: of two equal nodes, the real scheduler may choose the other. From then on the pod
// takes its room there, and not where the model had it.
func TestBoundElsewhere(t *testing.T) {
	for _, c := range []struct{ node, room string }{{"node-a", "node-b"}, {"node-b", "node-a"}} {
		t.Run(c.node, func(t *testing.T) {
			var r world.Cluster
			world.Change(&r, 1, sources.Added, world.Node("node-a", "2"), nil)
			world.Change(&r, 1, sources.Added, world.Node("node-b", "2"), nil)
			web := world.Change(&r, 2, sources.Added, world.PendingPod("web", "2"), nil)
			r.Bound(2.01, web, c.node)
			db := world.Change(&r, 3, sources.Added, world.PendingPod("db", "2"), nil) // fits on the other node
			r.Bound(3.01, db, c.room)
			world.Change(&r, 4, sources.Added, world.PendingPod("late", "1"), nil) // and now nothing fits
			rec := r.Recording(4.5)
			replayed.Compare(t, replayed.Moves(t, rec, "web"), boundAt("2"))
			replayed.Compare(t, replayed.Moves(t, rec, "db"), boundAt("3"))
			replayed.Compare(t, replayed.Moves(t, rec, "late"), []string{
				"4 >active UnscheduledPodAdd modelled",
				"4 active>inflight modelled",
				"4 inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled",
			})
			if on := replayed.BoundTo(t, rec, "web"); on != c.node {
				t.Errorf("it is shown to go to %s, not to %s", on, c.node)
			}
		})
	}
}

// TestBoundAlthough: the real scheduler bound a pod that the model finds no room for. It was tried again,
// then, and takes its room.
func TestBoundAlthough(t *testing.T) {
	var c world.Cluster
	world.Change(&c, 1, sources.Added, world.Node("node-a", "1"), nil)
	web := world.Change(&c, 2, sources.Added, world.PendingPod("web", "2"), nil)
	c.Bound(2.5, web, "node-a")
	world.Change(&c, 3, sources.Added, world.PendingPod("late", "1"), nil)
	rec := c.Recording(3.5)
	replayed.Compare(t, replayed.Moves(t, rec, "web"), []string{
		"2 >active UnscheduledPodAdd modelled",
		"2 active>inflight modelled",
		"2 inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled",
		"2 unschedulable>inflight NodeResourcesFit modelled",
		"2 inflight>scheduled NodeResourcesFit observed",
	})
	replayed.Compare(t, replayed.Moves(t, rec, "late")[2:], []string{"3 inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled"})
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

// TestRejectedForUnknown: a message may give a reason that no attempt of the model had, or none of a plugin.
func TestRejectedForUnknown(t *testing.T) {
	for message, want := range map[string]string{
		"0/1 nodes are available: 1 node(s) had something new.": "3 inflight>unschedulable ScheduleAttemptFailure (unknown plugin) modelled",
		"running Reserve plugin: the API server is away":        "3 inflight>backoff ScheduleAttemptFailure modelled",
	} {
		var c world.Cluster
		world.Change(&c, 1, sources.Added, world.Node("node-a", "4"), nil)
		web := world.Change(&c, 3, sources.Added, world.PendingPod("web", "3"), nil)
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
		world.Change(&c, 1, sources.Added, world.Node("node-a", "4"), nil)
		web := world.Change(&c, 3, sources.Added, world.PendingPod("web", "3"), nil)
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
		world.Change(&w, 1, sources.Added, world.Node("node-a", "4"), nil)
		world.Change(&w, 2, sources.Added, world.PendingPod("store", "1"), func(p *v1.Pod) { world.Mount(p, "data") }) // from which the model learns whose reason that is
		web := world.Change(&w, 3, sources.Added, world.PendingPod("web", "3"), nil)
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
		world.Change(&w, 1, sources.Added, world.Node("node-a", "4"), nil)
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

// TestReleaseHeard: a scheduler that works with another version than the one before has begun with an empty queue. That it is heard of
// again changes nothing.
func TestReleaseHeard(t *testing.T) {
	var w world.Cluster
	w.Started(0.5)
	world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
	w.Patched(2.01, world.Change(&w, 2, sources.Added, world.PendingPod("web", "4"), nil), world.TooSmall, "")
	w.Add(5, &sources.SchedulerHeard{Release: "v1.30.2"})
	w.Add(6, &sources.SchedulerHeard{Release: "v1.30.2"})
	got := modelled(t, w.Recording(7), true, "web")
	expect(t, "it moves", got, []string{"2.0 active UnscheduledPodAdd", "2.0 inflight", "2.0 unschedulable ScheduleAttemptFailure",
		"5.0 active PodAdd", "5.0 inflight", "5.0 unschedulable ScheduleAttemptFailure"})
}

// TestNoNodes: where no node is told of, no attempt can be modelled. What is seen is all that is shown.
func TestNoNodes(t *testing.T) {
	var c world.Cluster
	web := world.Change(&c, 2, sources.Added, world.PendingPod("web", "3"), nil)
	db := world.Change(&c, 3, sources.Added, world.PendingPod("db", "3"), nil)
	c.Failed(4, web, "0/9 nodes are available: 9 Insufficient cpu.")
	c.Bound(5, db, "node-a")
	rec := c.Recording(30)
	replayed.Compare(t, replayed.Moves(t, rec, "web"), []string{
		"2 >active UnscheduledPodAdd modelled",
		"4 active>inflight modelled",
		"4 inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled",
	})
	replayed.Compare(t, replayed.Moves(t, rec, "db"), []string{
		"3 >active UnscheduledPodAdd modelled",
		"5 active>inflight modelled",
		"5 inflight>scheduled observed",
	})
}

// TestFirstNode: of a live cluster that has no node yet no attempt is modelled, until one comes.
func TestFirstNode(t *testing.T) {
	var c world.Cluster
	f := model.NewLiveFeed(world.Config(t))
	c.Add(1, &sources.Attached{})
	web := world.Change(&c, 2, sources.Added, world.PendingPod("web", "3"), nil)
	world.Change(&c, 10, sources.Added, world.Node("node-a", "1"), nil)
	c.Patched(10.01, web, world.TooSmall, "")
	f.Arrive(c.Recording(10.1).Events, world.At(11), sources.Status{})
	f.ExtendTo(world.At(20))
	for i := 0; f.HasEvent(i); i++ {
	}
	var moves []string
	for _, ev := range f.Events {
		if m, ok := ev.Fact.(*model.Move); ok {
			moves = append(moves, fmt.Sprintf("%s %t", m.To, ev.Time.Before(world.At(10))))
		}
	}
	if want := []string{"active true", "inflight false", "unschedulable false"}; !slices.Equal(moves, want) {
		t.Errorf("it moves, and before the node comes: %v, want %v", moves, want)
	}
}

// TestNoNode: where the nodes are told and there is none, pods are tried all the same, and fail by an error (schedule_one.go,
// ErrNoNodesAvailable).
func TestNoNode(t *testing.T) {
	var c world.Cluster
	f := model.NewLiveFeed(world.Config(t))
	c.Add(1, &sources.Attached{Nodes: true})
	web := world.Change(&c, 2, sources.Added, world.PendingPod("web", "3"), nil)
	c.Patched(2.01, web, "no nodes available to schedule pods", "")
	f.Arrive(c.Recording(2.1).Events, world.At(3), sources.Status{})
	for i := 0; f.HasEvent(i); i++ {
	}
	var moves []string
	for _, ev := range f.Events {
		if m, ok := ev.Fact.(*model.Move); ok {
			moves = append(moves, string(m.To))
		}
	}
	if want := []string{"active", "inflight", "backoff"}; !slices.Equal(moves, want) {
		t.Errorf("it moves %v, want %v", moves, want)
	}
}

// TestBindingNotSeen: a binding that is not seen was none. The pod waits, and its room is free.
func TestBindingNotSeen(t *testing.T) {
	var c world.Cluster
	world.Change(&c, 1, sources.Added, world.Node("node-a", "4"), nil)
	world.Change(&c, 2, sources.Added, world.PendingPod("web", "3"), nil)
	db := world.Change(&c, 6, sources.Added, world.PendingPod("db", "4"), nil)
	c.Bound(6.01, db, "node-a")
	rec := c.Recording(6.5)
	replayed.Compare(t, replayed.Moves(t, rec, "web")[:3], []string{
		"2 >active UnscheduledPodAdd modelled",
		"2 active>inflight modelled",
		"4 inflight>unschedulable ScheduleAttemptFailure (unknown plugin) modelled",
	})
	replayed.Compare(t, replayed.Moves(t, rec, "db"), boundAt("6"))
}

// TestHeardBefore: that an attempt failed is told before the change that led to it, or before the model
// would have had the scheduler hear of it. The change comes first all the same, and the pod is tried once.
func TestHeardBefore(t *testing.T) {
	const tainted = "0/1 nodes are available: 1 node(s) had untolerated taint(s)."
	change := func(n *v1.Node) {
		world.SetCPU(n, "4")
		n.Spec.Taints = []v1.Taint{{Key: "busy", Effect: v1.TaintEffectNoSchedule}}
	}
	for name, told := range map[string]func(c *world.Cluster, grown *v1.Node, web *v1.Pod){
		"not heard of yet": func(c *world.Cluster, n *v1.Node, web *v1.Pod) {
			world.Change(c, 10, sources.Updated, n, change)
			c.Failed(10.0005, web, tainted)
		},
		"told later": func(c *world.Cluster, n *v1.Node, web *v1.Pod) {
			c.Failed(10, web, tainted)
			world.Change(c, 10.005, sources.Updated, n, change)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var c world.Cluster
			n := world.Change(&c, 1, sources.Added, world.Node("node-a", "1"), nil)
			web := world.Change(&c, 2, sources.Added, world.PendingPod("web", "3"), nil)
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

// TestDeletedWhileAssumed: a pod that goes between its attempt and its binding leaves its room.
func TestDeletedWhileAssumed(t *testing.T) {
	var c world.Cluster
	world.Change(&c, 1, sources.Added, world.Node("node-a", "4"), nil)
	web := world.Change(&c, 2, sources.Added, world.PendingPod("web", "3"), nil)
	world.Change(&c, 2.5, sources.Deleted, web, nil)
	db := world.Change(&c, 3, sources.Added, world.PendingPod("db", "4"), nil)
	c.Bound(3.01, db, "node-a")
	rec := c.Recording(8)
	replayed.Compare(t, replayed.Moves(t, rec, "web"), []string{
		"2 >active UnscheduledPodAdd modelled",
		"2 active>inflight modelled",
		"2 inflight>deleted modelled",
	})
	replayed.Compare(t, replayed.Moves(t, rec, "db"), boundAt("3"))
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

// TestAnotherScheduler: a pod that is left to another scheduler stays out of the queue, whatever is seen of its attempts.
func TestAnotherScheduler(t *testing.T) {
	var c world.Cluster
	small := c.Small()
	c.AddStuck(1.5, "ours")
	pod := world.Change(&c, 2, sources.Added, world.PendingPod("theirs", "4"), func(p *v1.Pod) { p.Spec.SchedulerName = "volcano" })
	c.Failed(2.01, pod, world.TooSmall)
	pod = c.Patched(2.02, pod, world.TooSmall, "")
	c.Add(2.02, &sources.StatusPatched{Pod: world.Key("theirs"), UID: pod.UID, Sent: world.At(2.015)})
	c.Delete(3, small)
	c.Bound(4, pod, "node-a")
	replayed.Compare(t, replayed.Moves(t, c.Recording(20), "theirs"), nil)
}
