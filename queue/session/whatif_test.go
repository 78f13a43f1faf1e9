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

// fullNode is a cluster of one node of one cpu, which a running pod fills, and of a pod that waits.
func fullNode() *world.Cluster {
	c := &world.Cluster{}
	world.Happens(c, 1, sources.Added, world.Node("node-a", "1"), nil)
	world.Happens(c, 2, sources.Added, world.Wants("running", "1"), func(p *v1.Pod) {
		p.Spec.NodeName = "node-a"
		p.Status.Phase = v1.PodRunning
	})
	world.Happens(c, 3, sources.Added, world.Wants("web", "1"), nil)
	return c
}

// asked opens a recording's end, has ask do something and returns what is said of it.
func asked(t *testing.T, c *world.Cluster, ask func(o *owner)) (string, *owner) {
	t.Helper()
	o := newOwner(c.Recording(20), timeline.Options{Paused: true})
	t.Cleanup(func() {
		if o.fork != nil {
			o.fork.Close()
		}
	})
	o.seekEnd()
	ask(o)
	return o.said.Text, o
}

func TestAskForANode(t *testing.T) {
	said, o := asked(t, fullNode(), func(o *owner) { o.addNodeLike("node-a", "") })
	world.Says(t, said, "a node like node-a: 1 bound (web on node-a-2), none waits")
	if p := o.fork.Shown.Get(world.Key("web")); p.Node != "node-a-2" || o.fork.Engine.Objects.Pod(world.Key("web")).Spec.NodeName != "node-a-2" {
		t.Errorf("web is on %q", p.Node)
	}
	o.addNodeLike("node-a", "node-a-2")
	world.Says(t, o.said.Text, "node node-a-2 like node-a: there is a node node-a-2 already")
	o.addNodeLike("node-x", "")
	world.Says(t, o.said.Text, "a node like node-x: there is no node node-x")
	o.addNodeLike("node-a", "Node_B")
	world.Says(t, o.said.Text, `add a node: "Node_B" is no node name, use a-z, 0-9, - and .`)
}

func TestAskByEditingANode(t *testing.T) {
	c := &world.Cluster{}
	world.Happens(c, 1, sources.Added, world.Node("node-a", "4"), func(n *v1.Node) {
		n.Spec.Taints = []v1.Taint{{Key: "dedicated", Value: "gpu", Effect: v1.TaintEffectNoSchedule}}
	})
	world.Happens(c, 3, sources.Added, world.Wants("web", "1"), func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} })
	said, o := asked(t, c, func(o *owner) { o.editNode("node-a", []string{"dedicated-"}) })
	world.Says(t, said, "node node-a dedicated-: none bound, 1 waits: NodeAffinity")
	o.editNode("node-a", []string{"cordon", "disk=ssd"})
	world.Says(t, o.said.Text, "node node-a cordon disk=ssd: none bound, 1 waits: NodeUnschedulable")
	o.editNode("node-a", []string{"uncordon"})
	world.Says(t, o.said.Text, "node node-a uncordon: 1 bound (web on node-a), none waits")
	injected := len(o.fork.Injected)
	for edit, want := range map[string]string{
		"zone-":      "node node-a has no label and no taint zone",
		"a=b:Never":  `"Never" is no effect of a taint: NoSchedule, PreferNoSchedule, NoExecute`,
		"just-words": `"just-words" is no change of a node: KEY=VALUE labels it`,
		"a=b c":      `"b c" is no value of a label or a taint`,
	} {
		o.editNode("node-a", []string{edit})
		world.Says(t, o.said.Text, "node node-a "+edit+": "+want)
	}
	if len(o.fork.Injected) != injected {
		t.Errorf("%d injections are remembered, want %d: what failed is none", len(o.fork.Injected), injected)
	}
}

func TestAskByDeletingARunningPod(t *testing.T) {
	said, o := asked(t, fullNode(), func(o *owner) { o.deleteObject("pod", world.Key("running")) })
	world.Says(t, said, "delete pod default/running: 1 bound (web on node-a), none waits")
	o.deleteObject("node", types.NamespacedName{Name: "node-x"})
	world.Says(t, o.said.Text, "delete node node-x: there is no such node")
}

// TestAskWithAManifest: a Deployment's pods are placed, and one of a higher priority preempts.
func TestAskWithAManifest(t *testing.T) {
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
	said, o := asked(t, fullNode(), func(o *owner) { o.apply("urgent.yaml", read.Objects) })
	world.Says(t, said, "apply urgent.yaml: 1 bound (urgent on node-a) within 1s, 1 waits: NodeResourcesFit")
	if o.fork.Engine.Objects.Pod(world.Key("running")) != nil {
		t.Error("the victim is still there")
	}
	o.apply("urgent.yaml", read.Objects)
	world.Says(t, o.said.Text, "apply urgent.yaml: there is a pod default/urgent already, and a pod's specification can't be changed")
}

func TestAskByBindingAClaim(t *testing.T) {
	c := &world.Cluster{}
	world.Happens(c, 1, sources.Added, world.Node("node-a", "4"), nil)
	world.Happens(c, 2, sources.Added, world.PendingClaim("data", ""), nil)
	world.Happens(c, 3, sources.Added, world.Wants("store", "1"), func(p *v1.Pod) {
		world.Mount(p, "data")
	})
	said, o := asked(t, c, func(o *owner) { o.bindClaim(world.Key("data")) })
	world.Says(t, said, "bind claim default/data: 1 bound (store on node-a), none waits")
	o.bindClaim(world.Key("data"))
	world.Says(t, o.said.Text, "bind claim default/data: it is bound to volume what-if-default-data already")
	o.bindClaim(world.Key("none"))
	world.Says(t, o.said.Text, "bind claim default/none: there is no such claim")
}

// TestSchedulerDecides: while it does, a person can't; afterwards a person can again.
func TestSchedulerDecides(t *testing.T) {
	said, o := asked(t, fullNode(), (*owner).toggleScheduler)
	world.Says(t, said, "a local scheduler takes over: none bound, 1 waits: NodeResourcesFit")
	if f := o.frame(); !f.Fork.Scheduling {
		t.Error("the frame does not say so")
	}
	o.pop()
	world.Says(t, o.said.Text, "the local scheduler decides: take its place first")
	o.addPod(NewPod{Key: world.Key("small")})
	o.seek(o.now.Add(time.Second))
	if p := o.fork.Shown.Get(world.Key("small")); p.Tier != queue.Scheduled || p.Node != "node-a" {
		t.Errorf("a pod without requests is %s on %q", p.Tier, p.Node)
	}
	o.toggleScheduler()
	world.Says(t, o.said.Text, "you are the scheduler again: nothing moved")
	o.addPod(NewPod{Key: world.Key("mine")})
	o.pop()
	if p := o.fork.Shown.Get(world.Key("mine")); p.Tier != queue.InFlight {
		t.Errorf("the person's pod is %s", p.Tier)
	}
}

// TestSchedulerIsAskedAgain: going back in a what-if and on does the same again.
func TestSchedulerIsAskedAgain(t *testing.T) {
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

// TestNothingToAsk: without nodes no scheduler can decide.
func TestNothingToAsk(t *testing.T) {
	o := newOwner(world.SmallRecording(), timeline.Options{Paused: true})
	o.toggleScheduler()
	if !o.said.Refused || o.fork != nil || !strings.Contains(o.said.Text, "no nodes are known") {
		t.Errorf("it says %q", o.said.Text)
	}
}
