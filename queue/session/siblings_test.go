package session

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// ofJob makes a pod one of a Job.
func ofJob(name string) func(*v1.Pod) {
	controller := true
	return func(p *v1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Name: name, Controller: &controller}}
	}
}

// shownTo returns the owner of a session at its end.
func shownTo(t *testing.T, c *world.Cluster, until float64) *owner {
	t.Helper()
	o := newOwner(c.Recording(until), timeline.Options{Paused: true})
	t.Cleanup(o.close)
	o.seek(o.recording.End)
	return o
}

// parting compares a pod with its first sibling.
func parting(t *testing.T, o *owner, name string) (*explain.Siblings, *explain.Parting) {
	t.Helper()
	o.findSiblings(world.Key(name))
	f := o.frame()
	if len(f.Siblings.Pods) == 0 {
		t.Fatalf("%s has no siblings", name)
	}
	return f.Siblings, f.Part([2]*board.Pod{f.Board.Get(world.Key(name)), f.Siblings.Pods[0]})
}

func names(pods []*board.Pod) string {
	var all []string
	for _, p := range pods {
		all = append(all, p.Key.Name)
	}
	return strings.Join(all, " ")
}

// TestSiblingsOfAJob: seven of eight workers run since before the recording. The eighth is compared with one of them.
func TestSiblingsOfAJob(t *testing.T) {
	c := &world.Cluster{}
	world.Change(c, 1, sources.Added, world.Node("node-a", "7"), nil)
	for i := range 7 {
		world.Change(c, 1.5, sources.Added, world.PendingPod(fmt.Sprint("worker-", i), "1"), func(p *v1.Pod) {
			ofJob("train")(p)
			p.Spec.NodeName = "node-a"
			p.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionTrue, LastTransitionTime: metav1.NewTime(world.At(-60))}}
		})
	}
	world.Change(c, 1.5, sources.Added, world.PendingPod("worker-9", "1"), func(p *v1.Pod) { // of another one
		ofJob("other")(p)
		p.Spec.NodeName = "node-a"
	})
	world.Change(c, 2, sources.Added, world.PendingPod("worker-7", "2"), func(p *v1.Pod) {
		ofJob("train")(p)
		p.Spec.Tolerations = []v1.Toleration{{Key: "gpu", Operator: v1.TolerationOpExists}}
		p.Labels = map[string]string{v1.LabelTopologyZone: "a", "batch.kubernetes.io/job-completion-index": "7", "app": "train"}
	})
	siblings, parted := parting(t, shownTo(t, c, 20), "worker-7")
	world.ExpectText(t, string(siblings.Owner), "Job train")
	world.ExpectText(t, names(siblings.Pods), "worker-0 worker-1 worker-2 worker-3 worker-4 worker-5 worker-6")
	world.ExpectText(t, string(parted.Text), "worker-7 has been unschedulable since 12:00:02; worker-0 was bound to node-a at 11:59:00. "+
		"The first moves of worker-0 are not known, so neither is the move at which they parted.")
	world.ExpectText(t, fmt.Sprint(parted.Differences), "[{requests [2 cpu 1 cpu]} {tolerations [gpu ]} {labels [app=train ]}]")
}

// TestSiblingsPart: two pods fail alike until a node is added that has room for one of them.
func TestSiblingsPart(t *testing.T) {
	c := &world.Cluster{}
	world.Change(c, 1, sources.Added, world.Node("node-a", "1"), nil)
	first := world.Change(c, 2, sources.Added, world.PendingPod("web-1", "4"), ofJob("web"))
	world.Change(c, 2, sources.Added, world.PendingPod("web-2", "4"), ofJob("web"))
	world.Change(c, 10, sources.Added, world.Node("node-b", "5"), nil)
	c.Bound(10.01, first, "node-b")
	o := shownTo(t, c, 30)
	siblings, parted := parting(t, o, "web-2")
	world.ExpectText(t, string(parted.Text), "Both failed attempt 1 at 12:00:02, rejected by NodeResourcesFit. "+
		"web-2 was woken by NodeAdd at 12:00:10 and failed attempt 2 at 12:00:10, rejected by NodeResourcesFit; "+
		"web-1 was woken by NodeAdd at 12:00:10 and was bound to node-b at 12:00:10.")
	if len(parted.Differences) > 0 || parted.Unknown != "" {
		t.Errorf("the same pods differ: %v %s", parted.Differences, parted.Unknown)
	}
	for i := range parted.Moves {
		if first := parted.Moves[i][parted.Common[i]]; !strings.Contains(first.Line(o.zone), "in-flight") {
			t.Errorf("they parted at %s", first)
		}
	}
	world.ExpectText(t, names(siblings.Pods), "web-1")

	o.seek(world.At(5))
	_, parted = parting(t, o, "web-2")
	world.ExpectText(t, string(parted.Text), "Both failed attempt 1 at 12:00:02, rejected by NodeResourcesFit. They have not parted so far.")
}

// TestSiblingsOfReusedName: of a pod that was replaced by another of its name, only the moves of the last are compared.
func TestSiblingsOfReusedName(t *testing.T) {
	c := &world.Cluster{}
	world.Change(c, 1, sources.Added, world.Node("node-a", "1"), nil)
	old := world.Change(c, 2, sources.Added, world.PendingPod("web-1", "4"), ofJob("web"))
	world.Change(c, 5, sources.Deleted, old, nil)
	for _, name := range []string{"web-1", "web-2"} {
		world.Change(c, 6, sources.Added, world.PendingPod(name, "4"), func(p *v1.Pod) {
			ofJob("web")(p)
			p.UID = types.UID("new " + name)
		})
	}
	_, parted := parting(t, shownTo(t, c, 20), "web-1")
	world.ExpectText(t, string(parted.Text), "Both failed attempt 1 at 12:00:06, rejected by NodeResourcesFit. They have not parted so far.")
}
