package tui

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/tui/page"
)

// placed has pods that are bound to a node, and pods that fit on no node.
const placed = `
1.0  pod web 0
1.0  web active UnscheduledPodAdd
1.1  web inflight
1.2  web scheduled node-b
2.0  pod only 0
2.0  only active UnscheduledPodAdd
2.1  only inflight
2.2  only scheduled node-a
3.0  pod urgent 100
3.0  urgent active UnscheduledPodAdd
3.1  urgent inflight
3.2  urgent unschedulable ScheduleAttemptFailure NodeResourcesFit
`

// withPlaced is placed with its objects: node-a has 4 CPUs of which 3 are in use, node-b has 8, and
// node-c is cordoned. The pod web requests 1 CPU and selects node-a; urgent requests 7.
func withPlaced(t testing.TB, nodes int) *sources.Recording {
	rec := tell(t, placed)
	requests := func(cpu, memory string) []v1.Container {
		return []v1.Container{{Name: "main", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{
			v1.ResourceCPU: resource.MustParse(cpu), v1.ResourceMemory: resource.MustParse(memory)}}}}
	}
	var before []sources.Event
	add := func(obj sources.ObjectChange) {
		obj.Verb = sources.Added
		before = append(before, sources.Event{Time: zero, Fact: &obj})
	}
	node := func(name, cpu string) *v1.Node {
		return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelHostname: name}}, Status: v1.NodeStatus{Allocatable: v1.ResourceList{
			v1.ResourceCPU: resource.MustParse(cpu), v1.ResourceMemory: resource.MustParse("16Gi"), v1.ResourcePods: resource.MustParse("110"),
		}}}
	}
	add(sources.ObjectChange{Object: node("node-a", "4")})
	add(sources.ObjectChange{Object: node("node-b", "8")})
	cordoned := node("node-c", "8")
	cordoned.Spec.Unschedulable = true
	add(sources.ObjectChange{Object: cordoned})
	for i := 3; i < nodes; i++ {
		add(sources.ObjectChange{Object: node(fmt.Sprintf("node-%05d", i), "8")})
	}
	add(sources.ObjectChange{Object: &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "old", UID: "old"},
		Spec:       v1.PodSpec{NodeName: "node-a", SchedulerName: v1.DefaultSchedulerName, Priority: new(int32), Containers: requests("3", "4Gi")},
	}})
	for _, ev := range rec.Events {
		c, ok := ev.Fact.(*sources.ObjectChange)
		if !ok {
			continue
		}
		pod := c.Object.(*v1.Pod)
		pod.Spec.SchedulerName, pod.Spec.Containers = v1.DefaultSchedulerName, requests("1", "1Gi")
		switch pod.Name {
		case "only":
			pod.Spec.NodeSelector = map[string]string{v1.LabelHostname: "node-a"}
		case "urgent":
			pod.Spec.Containers = requests("4", "1Gi")
			pod.Spec.NodeSelector = map[string]string{v1.LabelHostname: "node-a"}
		}
	}
	rec.Events = append(before, rec.Events...)
	return rec
}

// TestAttempt: the page of a cycle shows why a pod got its node or none, and what would change
// that.
func TestAttempt(t *testing.T) {
	inTree(t)
	for _, size := range sizes {
		synctest.Test(t, func(t *testing.T) {
			p := sit(t, size[0], size[1], session.New(withPlaced(t, 3), timeline.Options{Paused: true}), Options{})
			p.goTo("10:36:04").do(keymap.GoToPod).enter("web").do(keymap.OpenCycle)
			golden(t, fmt.Sprintf("attempt/%dx%d", size[0], size[1]), p.screen()+"\n"+p.styles())
		})
	}
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, session.New(withPlaced(t, 3), timeline.Options{Paused: true}), Options{})
		p.goTo("10:36:04").do(keymap.GoToPod).enter("web").do(keymap.OpenCycle)
		p.sees("Queue: popped from activeQ after 100 ms: none ahead, none behind.", "node-b: 463 points, the most of 2 feasible nodes.", "node-a lost by 59: more of its CPU and memory requested (NodeResourcesFit", "It was bound to node-b at 10:36:01.200.", "NodeUnschedulable rejects 1 of 3 nodes.")
		p.seesTogether("✓node-b").do(keymap.CycleNextColumn).sees("▼Fit")
		p.do(keymap.CycleLastPoint).sees("node(s) were unschedulable", "first rejection").do(keymap.CycleAll).sees("all rejections")
		p.do(keymap.CycleNextPoint, keymap.CycleNextPoint).sees("is assumed on node-b from here")
		p.do(keymap.CycleChange).sees("what would change it?", "node-b cordon").do(keymap.ListLast).do(keymap.ListChoose)
		p.enter("node-b cordon")
		p.sees("With node-b cordon: node-a instead of node-b.", "Without this change, it was bound to node-b")
		p.do(keymap.CycleChange).do(keymap.ListFirst).do(keymap.ListChoose).sees("It was bound to node-b")
		p.do(keymap.CycleChange).do(keymap.ListLast).do(keymap.ListChoose)
		p.enter("node-x cordon")
		p.sees("The cycle is unknown: node node-x not found.")
		p.do(keymap.Back).seesNot("why this node? default")
	})
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, session.New(withPlaced(t, 3), timeline.Options{Paused: true}), Options{})
		p.goTo("10:36:04").do(keymap.GoToPod).enter("only").do(keymap.OpenCycle)
		p.sees("node-a: only one node is feasible: kube-scheduler computes no scores then.", "NodeAffinity rejects")
		p.do(keymap.CycleNextPoint).sees("No scores: only one node is feasible")
		p.do(keymap.Back).do(keymap.GoToPod).enter("urgent").do(keymap.OpenCycle)
		p.sees("why no node? default/urgent", "No node is feasible: ", "Preemption chooses node-a.", "It evicts default/old.", "evicted from node-a")
		p.do(keymap.CycleNextPoint).sees("activeQ is sorted by priority", "Its priority is 100.")
	})
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.FocusUnsched, keymap.RowDown, keymap.OpenCycle).sees("The cycle is unknown: this recording contains no nodes")
	})
}

// TestCostOfACycleDoesNotDependOnTheNumberOfNodes: only the visible rows are drawn.
func TestCostOfACycleDoesNotDependOnTheNumberOfNodes(t *testing.T) {
	few, many := cycleOf(t, 100), cycleOf(t, 5_000)
	ofFew, ofMany := testing.AllocsPerRun(20, few.frameAgain), testing.AllocsPerRun(20, many.frameAgain)
	t.Logf("allocations of a frame at 120 by 40: %.0f with 100 nodes, %.0f with 5,000", ofFew, ofMany)
	if ofMany > ofFew*1.1+2 || ofMany == 0 {
		t.Errorf("a frame of 5,000 nodes makes %.0f allocations, one of 100 makes %.0f", ofMany, ofFew)
	}
}

// cycleOf returns a model that shows a cycle over n nodes.
func cycleOf(tb testing.TB, n int) *model {
	tb.Helper()
	s := session.New(withPlaced(tb, n), timeline.Options{Paused: true})
	ctx, stop := context.WithCancel(tb.Context())
	go s.Run(ctx)
	s.SeekEnd()
	s.Sync()
	m := newModel(tb.Context(), s, Options{})
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	m.Frame = s.Frame()
	m.Selected = page.Selection{Key: named("urgent"), Any: true}
	m.Do(keymap.OpenCycle)
	m.Frame = s.Sync()
	m.attempt.Follow()
	m.Do(keymap.CycleLastPoint)
	stop() // the session's own work must not be measured
	for range s.Frames() {
	}
	return m
}
