package session

import (
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/manifest"
)

// fullNode returns a cluster of one node with one CPU, which a running pod fills, and of a waiting pod.
func fullNode() *world.Cluster {
	c := &world.Cluster{}
	world.Change(c, 1, sources.Added, world.Node("node-a", "1"), nil)
	world.Change(c, 2, sources.Added, world.PendingPod("running", "1"), func(p *v1.Pod) {
		p.Spec.NodeName = "node-a"
		p.Status.Phase = v1.PodRunning
	})
	world.Change(c, 3, sources.Added, world.PendingPod("web", "1"), nil)
	return c
}

// asked opens a recording at its end, calls ask and returns the reply.
func asked(t *testing.T, c *world.Cluster, ask func(o *owner)) (string, *owner) {
	t.Helper()
	o := newOwner(c.Recording(20), timeline.Options{Paused: true})
	t.Cleanup(func() {
		if o.fork != nil {
			o.fork.Close()
		}
	})
	o.seek(o.recording.End)
	ask(o)
	return o.reply.Text, o
}

func TestAddNode(t *testing.T) {
	reply, o := asked(t, fullNode(), func(o *owner) { o.addNodeLike("node-a", "") })
	world.ExpectText(t, reply, "a node like node-a: 1 bound (web on node-a-2), none waiting")
	if p := o.fork.Shown.Get(world.Key("web")); p.Node != "node-a-2" || o.fork.Engine.Objects.Pod(world.Key("web")).Spec.NodeName != "node-a-2" {
		t.Errorf("web is on %q", p.Node)
	}
	o.addNodeLike("node-a", "node-a-2")
	world.ExpectText(t, o.reply.Text, "node node-a-2 like node-a: node node-a-2 already exists")
	o.addNodeLike("node-x", "")
	world.ExpectText(t, o.reply.Text, "a node like node-x: node node-x not found")
	o.addNodeLike("node-a", "Node_B")
	world.ExpectText(t, o.reply.Text, `add a node: invalid node name "Node_B": use a-z, 0-9, - and .`)
}

func TestEditNode(t *testing.T) {
	c := &world.Cluster{}
	world.Change(c, 1, sources.Added, world.Node("node-a", "4"), func(n *v1.Node) {
		n.Spec.Taints = []v1.Taint{{Key: "dedicated", Value: "gpu", Effect: v1.TaintEffectNoSchedule}}
	})
	world.Change(c, 3, sources.Added, world.PendingPod("web", "1"), func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} })
	reply, o := asked(t, c, func(o *owner) { o.editNode("node-a", []string{"dedicated-"}) })
	world.ExpectText(t, reply, "node node-a dedicated-: none bound, 1 waiting: NodeAffinity")
	o.editNode("node-a", []string{"cordon", "disk=ssd"})
	world.ExpectText(t, o.reply.Text, "node node-a cordon disk=ssd: none bound, 1 waiting: NodeUnschedulable")
	o.editNode("node-a", []string{"uncordon"})
	world.ExpectText(t, o.reply.Text, "node node-a uncordon: 1 bound (web on node-a), none waiting")
	injected := len(o.fork.Injected)
	for edit, want := range map[string]string{
		"zone-":      "node node-a has no label or taint zone",
		"a=b:Never":  `invalid taint effect "Never": use NoSchedule, PreferNoSchedule or NoExecute`,
		"just-words": `invalid node change "just-words": use KEY=VALUE to set a label`,
		"a=b c":      `invalid label or taint value "b c"`,
	} {
		o.editNode("node-a", []string{edit})
		world.ExpectText(t, o.reply.Text, "node node-a "+edit+": "+want)
	}
	if len(o.fork.Injected) != injected {
		t.Errorf("%d injections were recorded, want %d: a failed one is not recorded", len(o.fork.Injected), injected)
	}
}

func TestDeleteRunningPod(t *testing.T) {
	reply, o := asked(t, fullNode(), func(o *owner) { o.deleteObject("pod", world.Key("running")) })
	world.ExpectText(t, reply, "delete pod default/running: 1 bound (web on node-a), none waiting")
	o.deleteObject("node", types.NamespacedName{Name: "node-x"})
	world.ExpectText(t, o.reply.Text, "delete node node-x: node not found")
}

// TestApplyManifest: a pod from a manifest with a higher priority preempts.
func TestApplyManifest(t *testing.T) {
	read, err := manifest.Parse("urgent.yaml", []byte(`
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
---
apiVersion: v1
kind: Pod
metadata: {name: urgent}
spec:
  priorityClassName: high
  containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]
`))
	if err != nil {
		t.Fatal(err)
	}
	reply, o := asked(t, fullNode(), func(o *owner) { o.apply("urgent.yaml", read.Objects) })
	world.ExpectText(t, reply, "apply urgent.yaml: 1 bound (urgent on node-a) within 1s, 1 waiting: NodeResourcesFit")
	if o.fork.Engine.Objects.Pod(world.Key("running")) != nil {
		t.Error("the victim is still there")
	}
	o.apply("urgent.yaml", read.Objects)
	world.ExpectText(t, o.reply.Text, "apply urgent.yaml: pod default/urgent already exists, and a pod's spec can't be changed")
}

func TestBindClaim(t *testing.T) {
	c := &world.Cluster{}
	world.Change(c, 1, sources.Added, world.Node("node-a", "4"), nil)
	world.Change(c, 2, sources.Added, world.PendingClaim("data", ""), nil)
	world.Change(c, 3, sources.Added, world.PendingPod("store", "1"), func(p *v1.Pod) {
		world.Mount(p, "data")
	})
	reply, o := asked(t, c, func(o *owner) { o.bindClaim(world.Key("data")) })
	world.ExpectText(t, reply, "bind claim default/data: 1 bound (store on node-a), none waiting")
	o.bindClaim(world.Key("data"))
	world.ExpectText(t, o.reply.Text, "bind claim default/data: it is already bound to volume what-if-default-data")
	o.bindClaim(world.Key("none"))
	world.ExpectText(t, o.reply.Text, "bind claim default/none: claim not found")
}

// TestSchedulerDecides: while a local scheduler decides, the user can't.
func TestSchedulerDecides(t *testing.T) {
	reply, o := asked(t, fullNode(), (*owner).toggleScheduler)
	world.ExpectText(t, reply, "start a local scheduler: none bound, 1 waiting: NodeResourcesFit")
	if f := o.frame(); !f.Fork.Scheduling {
		t.Error("the frame does not say so")
	}
	o.pop()
	world.ExpectText(t, o.reply.Text, "the local scheduler makes the decisions: stop it first")
	o.addPod(NewPod{Key: world.Key("small")})
	o.seek(o.now.Add(time.Second))
	if p := o.fork.Shown.Get(world.Key("small")); p.Tier != queue.Scheduled || p.Node != "node-a" {
		t.Errorf("a pod without requests is %s on %q", p.Tier, p.Node)
	}
	o.toggleScheduler()
	world.ExpectText(t, o.reply.Text, "stop the local scheduler: nothing moved")
	o.addPod(NewPod{Key: world.Key("mine")})
	o.pop()
	if p := o.fork.Shown.Get(world.Key("mine")); p.Tier != queue.InFlight {
		t.Errorf("the user's pod is %s", p.Tier)
	}
}

// TestSchedulerRepeatsItsDecisions: going back and forward in a what-if repeats the same moves.
func TestSchedulerRepeatsItsDecisions(t *testing.T) {
	_, o := asked(t, fullNode(), func(o *owner) { o.addNodeLike("node-a", "") })
	first := o.fork.MovesFrom(o.fork.Forked.History.Moved)
	var before []string
	for _, m := range first {
		before = append(before, m.String())
	}
	for o.fork.Moved > o.fork.Forked.History.Moved+2 {
		o.step(-1)
	}
	o.inject("nothing", func(*timeline.Engine, time.Time) {})
	o.seek(o.now.Add(time.Second))
	var again []string
	for _, m := range o.fork.MovesFrom(o.fork.Forked.History.Moved) {
		again = append(again, m.String())
	}
	if a, b := strings.Join(before, "\n"), strings.Join(again, "\n"); a != b {
		t.Errorf("at first\n%s\nand again\n%s", a, b)
	}
}

// TestSchedulerWithoutNodes: without nodes no scheduler can run.
func TestSchedulerWithoutNodes(t *testing.T) {
	o := newOwner(world.SmallRecording(), timeline.Options{Paused: true})
	o.toggleScheduler()
	if !o.reply.Refused || o.fork != nil || !strings.Contains(o.reply.Text, "no nodes are known") {
		t.Errorf("got %q", o.reply.Text)
	}
}
