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

// TestInspectWaiting: a pod that waits is tried at the time shown.
func TestInspectWaiting(t *testing.T) {
	_, o := asked(t, twoNodes(), func(*owner) {})
	c, err := o.findCycle(world.Key("waits"), InspectOptions{})
	if err != nil || c.Provenance != explain.Hypothetical || c.Node != "" || c.Actual != nil || c.PostFilter == nil {
		t.Fatalf("%+v, %v", c, err)
	}
	world.ExpectText(t, c.Summary(words.Zone{})[0], "No node is feasible: NodeResourcesFit rejects 2 of 2.")
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
	if err != nil || c.Node != "node-b" || c.Actual == nil || c.Actual.Match != explain.Equal || c.Provenance != explain.Rerun {
		t.Fatalf("%+v, %v", c, err)
	}
	if _, err = InspectPod(context.Background(), rec, timeline.Options{}, world.Key("web"), world.At(2.5), InspectOptions{}); err == nil {
		t.Error("the pod does not exist yet")
	}
}
