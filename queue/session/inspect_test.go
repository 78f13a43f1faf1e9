package session

import (
	"context"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// twoNodes returns a cluster in which web is bound to node-b, the larger of two nodes, and then filler takes that node.
func twoNodes() *world.Cluster {
	c := &world.Cluster{}
	world.Change(c, 1, sources.Added, world.Node("node-a", "4"), nil)
	world.Change(c, 2, sources.Added, world.Node("node-b", "8"), nil)
	web := world.Change(c, 3, sources.Added, world.PendingPod("web", "1"), nil)
	c.Bound(3.1, web, "node-b")
	filler := world.Change(c, 5, sources.Added, world.PendingPod("filler", "6"), nil)
	c.Bound(5.1, filler, "node-b")
	world.Change(c, 6, sources.Added, world.PendingPod("waits", "20"), nil)
	return c
}

// TestInspectBound: the attempt of a bound pod is run again over the objects before it, wherever the session is, and the session
// shows the same afterwards.
func TestInspectBound(t *testing.T) {
	_, o := asked(t, twoNodes(), func(*owner) {})
	shown := o.frame()
	o.inspect(world.Key("web"), InspectOptions{})
	c := o.frame().Cycle
	if c == nil || c.Unknown != "" || c.Provenance != explain.Rerun || c.Attempts != 1 || c.Node != "node-b" || c.Filter.Feasible != 2 {
		t.Fatalf("%+v", c)
	}
	if a := c.Actual; a == nil || a.Node != "node-b" || a.Match != explain.Equal {
		t.Errorf("it was bound: %+v", a)
	}
	world.ExpectText(t, c.Summary(words.Zone{})[0], "node-b: 462 points, the most of 2 feasible nodes.")
	if n := c.Nodes[1]; n.Node != "node-a" || !strings.HasPrefix(c.Lost(c.Nodes[0], n), "node-a lost by ") {
		t.Errorf("the second: %+v", n)
	}
	if after := o.frame(); after.Log.Len() != shown.Log.Len() || !after.Now.Equal(shown.Now) || after.Board.Get(world.Key("web")) != shown.Board.Get(world.Key("web")) {
		t.Error("the session shows another moment")
	}
}

// TestInspectAssumed: an attempt counts pods that were assumed before, though bound later, and none that were assumed after, though
// bound earlier: the scheduler sends bindings in the order of its attempts, and the API server may answer them in another.
func TestInspectAssumed(t *testing.T) {
	c := &world.Cluster{}
	world.Change(c, 1, sources.Added, world.Node("node-a", "8"), nil)
	world.Change(c, 2, sources.Added, world.Node("node-b", "8"), nil)
	first := world.Change(c, 3, sources.Added, world.PendingPod("first", "1"), nil)
	second := world.Change(c, 3.00001, sources.Added, world.PendingPod("second", "1"), nil)
	bound := func(pod *v1.Pod, node string, sent, answered float64) {
		c.Bound(answered, pod, node)
		c.Events[len(c.Events)-1].Fact.(*sources.ObjectChange).Sent = world.At(sent)
	}
	bound(second, "node-a", 3.051, 3.06)
	bound(first, "node-b", 3.05, 3.07)
	_, o := asked(t, c, func(*owner) {})
	equal := func(pod string) bool {
		x, err := o.findCycle(world.Key(pod), InspectOptions{})
		if err != nil || len(x.Nodes) != 2 {
			t.Fatalf("%s: %+v, %v", pod, x, err)
		}
		return x.Nodes[0].Total == x.Nodes[1].Total
	}
	if !equal("first") {
		t.Error("the first attempt counts the second pod")
	}
	if equal("second") {
		t.Error("the second attempt does not count the first pod")
	}
}

// TestInspectTurn: a cycle says which pods were ahead of its pod in the queue, by priority and then by time, and how many were behind.
func TestInspectTurn(t *testing.T) {
	c := &world.Cluster{}
	world.Change(c, 1, sources.Added, world.Node("node-a", "8"), nil)
	var pods []*v1.Pod
	for i, name := range []string{"first", "second", "third", "urgent"} {
		pods = append(pods, world.Change(c, 3+0.0001*float64(i), sources.Added, world.PendingPod(name, "1"), func(p *v1.Pod) {
			p.Spec.Priority = new(int32)
			*p.Spec.Priority = map[string]int32{"urgent": 9}[name]
		}))
	}
	c.Bound(3.05, pods[0], "node-a")
	c.Bound(3.06, pods[3], "node-a")
	c.Bound(3.07, pods[1], "node-a")
	c.Bound(3.08, pods[2], "node-a")
	_, o := asked(t, c, func(*owner) {})
	for pod, want := range map[string]explain.Turn{
		"first":  {},
		"urgent": {Behind: 2},
		"second": {Ahead: 1, HigherPriority: 1, Behind: 1},
		"third":  {Ahead: 2, HigherPriority: 1},
	} {
		x, err := o.findCycle(world.Key(pod), InspectOptions{})
		if err != nil || x.Turn == nil {
			t.Fatalf("%s: %+v, %v", pod, x, err)
		}
		got := *x.Turn
		want.From, want.Time, want.Since, want.Provenance = "active", got.Time, got.Since, "modelled"
		if got != want || got.Since.IsZero() || !got.Time.After(got.Since) {
			t.Errorf("%s: %+v, want %+v", pod, got, want)
		}
		if text := got.String(); pod == "third" {
			world.ExpectText(t, text[strings.Index(text, ": "):], ": 2 ahead (1 with a higher priority), none behind")
		}
	}
	if x, err := o.findCycle(world.Key("first"), InspectOptions{}); err != nil || x.Turn == nil || o.recording.Cursor != o.recording.ChangeCount() {
		t.Errorf("the session shows another moment: %v", err)
	}
}

// TestInspectWaiting: a pod that waits is tried at the time shown.
func TestInspectWaiting(t *testing.T) {
	_, o := asked(t, twoNodes(), func(*owner) {})
	c, err := o.findCycle(world.Key("waits"), InspectOptions{})
	if err != nil || c.Provenance != explain.Hypothetical || c.Node != "" || c.Actual != nil || c.PostFilter == nil {
		t.Fatalf("%+v, %v", c, err)
	}
	world.ExpectText(t, c.Summary(words.Zone{})[0], "No node is feasible: NodeResourcesFit rejects 2 of 2 nodes.")
}

// TestInspectElsewhere: where the scheduler chose another node, the cycle says so, and what changed there at that time.
func TestInspectElsewhere(t *testing.T) {
	c := &world.Cluster{}
	world.Change(c, 1, sources.Added, world.Node("node-a", "4"), nil)
	world.Change(c, 2, sources.Added, world.Node("node-b", "8"), nil)
	web := world.Change(c, 3, sources.Added, world.PendingPod("web", "1"), nil)
	c.Bound(3.05, web, "node-a")
	world.Change(c, 3.08, sources.Updated, world.Node("node-b", "8"), func(n *v1.Node) { n.Spec.Unschedulable = true })
	_, o := asked(t, c, func(*owner) {})
	x, err := o.findCycle(world.Key("web"), InspectOptions{})
	if err != nil || x.Node != "node-b" || x.Actual == nil || x.Actual.Match != explain.Different {
		t.Fatalf("%+v, %v", x, err)
	}
	if said := strings.Join(x.Summary(words.Zone{}), " "); !strings.Contains(said, "It was bound to node-a") || !strings.Contains(said, "node node-b was changed at 12:00:03.080") {
		t.Error(said)
	}
}

// TestInspectInWhatIf: the attempt of a local scheduler is inspected as it was, and one that the user made is not.
func TestInspectInWhatIf(t *testing.T) {
	_, o := asked(t, twoNodes(), func(o *owner) { o.addNodeLike("node-b", "node-c") })
	o.apply("new.yaml", []runtime.Object{world.PendingPod("new", "1")})
	p := o.fork.Shown.Get(world.Key("new"))
	moves, now := o.fork.MoveCount(), o.now
	c, err := o.findCycle(world.Key("new"), InspectOptions{})
	if err != nil || c.Provenance != explain.Modelled || string(c.Node) != p.Node || c.Actual == nil || c.Actual.Match != explain.Equal || c.Filter.Nodes != 3 {
		t.Fatalf("%+v, %v; it is on %s", c, err, p.Node)
	}
	if o.fork.MoveCount() != moves || !o.now.Equal(now) {
		t.Error("the inspection changed the what-if")
	}
	// What was before the what-if is of the recording.
	if c, err = o.findCycle(world.Key("web"), InspectOptions{}); err != nil || c.Provenance != explain.Rerun || c.Filter.Nodes != 2 {
		t.Errorf("web: %+v, %v", c, err)
	}
}

// TestInspectUnknown: what can't be inspected says why.
func TestInspectUnknown(t *testing.T) {
	c := &world.Cluster{}
	world.Change(c, 1, sources.Added, world.PendingPod("web", "1"), nil)
	_, o := asked(t, c, func(*owner) {})
	o.inspect(world.Key("web"), InspectOptions{})
	if f := o.frame(); f.Cycle == nil || f.Cycle.Unknown != errNoNodes.Error() {
		t.Errorf("without nodes: %+v", f.Cycle)
	}
	world.ExpectText(t, o.cycle.Summary(words.Zone{})[0], "The cycle is unknown: "+errNoNodes.Error()+".")
	o.inspect(world.Key("nobody"), InspectOptions{})
	if o.cycle.Unknown == "" {
		t.Error("a pod that does not exist has a cycle")
	}
}

// TestInspectRuns: a pod that ran before the recording began is tried as if it were not bound.
func TestInspectRuns(t *testing.T) {
	_, o := asked(t, fullNode(), func(*owner) {})
	c, err := o.findCycle(world.Key("running"), InspectOptions{})
	if err != nil || c.Provenance != explain.Hypothetical || c.Node != "node-a" || c.Actual == nil || c.Actual.Match != explain.Equal {
		t.Fatalf("%+v, %v", c, err)
	}
}

// TestInspectPod: the command's result is the session's, at the end and before the pod was bound.
func TestInspectPod(t *testing.T) {
	rec := twoNodes().Recording(20)
	c, err := InspectPod(context.Background(), rec, timeline.Options{}, world.Key("web"), rec.End, InspectOptions{})
	if err == nil && (c.Turn == nil || c.Turn.Since.IsZero() || c.Turn.AtLeast) {
		t.Errorf("its turn is %+v", c.Turn)
	}
	if err != nil || c.Node != "node-b" || c.Actual == nil || c.Actual.Match != explain.Equal || c.Provenance != explain.Rerun {
		t.Fatalf("%+v, %v", c, err)
	}
	if _, err = InspectPod(context.Background(), rec, timeline.Options{}, world.Key("web"), world.At(2.5), InspectOptions{}); err == nil {
		t.Error("the pod does not exist yet")
	}
}

// TestInspectDeleted: the cycle of a pod that was deleted before it was bound can't be shown, and the error says when that was.
func TestInspectDeleted(t *testing.T) {
	c := &world.Cluster{}
	world.Change(c, 1, sources.Added, world.Node("node-a", "1"), nil)
	web := c.AddStuck(3, "web")
	world.Change(c, 8, sources.Deleted, web, nil)
	_, err := InspectPod(t.Context(), c.Recording(10), timeline.Options{}, world.Key("web"), world.At(10), InspectOptions{})
	if err == nil || !strings.Contains(err.Error(), "the pod was deleted at 12:00:08.0") {
		t.Errorf("the error is %v", err)
	}
}
