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
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// TestNodes: the nodes page shows the free resources and the pods of each node, and what the
// selected pod lacks there.
func TestNodes(t *testing.T) {
	inTree(t)
	for _, size := range sizes {
		synctest.Test(t, func(t *testing.T) {
			p := sit(t, size[0], size[1], session.New(withTenants(t), timeline.Options{Paused: true}), Options{})
			p.goTo("10:36:02.5").do(keymap.FocusUnsched, keymap.RowDown, keymap.Nodes)
			golden(t, fmt.Sprintf("nodes/%dx%d", size[0], size[1]), p.screen()+"\n"+p.styles())
		})
	}
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, session.New(withTenants(t), timeline.Options{Paused: true}), Options{})
		p.goTo("10:36:02.5").do(keymap.Nodes).sees("2 nodes by name").seesTogether("▸ node-1", "node-role=gpu:NoSchedule")
		p.seesTogether("cpu", "3 free of 4").seesTogether("2 pods here").sees("taint node-role=gpu:NoSchedule", "not ready")
		p.do(keymap.RowDown).seesTogether("▸ node-2").sees("0 pods here")
		p.do(keymap.Back, keymap.FocusUnsched, keymap.RowDown, keymap.Nodes).sees("train-0 fits on none, nearest first")
		p.seesTogether("node-2", "2 nvidia.com/gpu (NodeResourcesFit)")
		p.do(keymap.Nodes).sees("3 unschedulable") // the same key goes back
	})
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.Nodes).sees("Nodes unknown: this recording contains no nodes; an audit log would")
		p.do(keymap.Back, keymap.FocusUnsched, keymap.RowDown, keymap.Nodes).sees("Nodes unknown") // also for a selected pod
		p.do(keymap.Open).sees("Nodes unknown", "can't: the nodes are unknown")
	})
}

// withTenants is withNodes with two pods on node-1, which has a taint and is not ready.
func withTenants(t *testing.T) *sources.Recording {
	rec := withNodes(t)
	for _, ev := range rec.Events {
		c, ok := ev.Fact.(*sources.ObjectChange)
		if !ok {
			continue
		}
		if n, ok := c.Object.(*v1.Node); ok && n.Name == "node-1" {
			n.Status.Allocatable[v1.ResourceCPU] = resource.MustParse("4")
			n.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionFalse}}
			n.Spec.Taints = []v1.Taint{{Key: "node-role", Value: "gpu", Effect: v1.TaintEffectNoSchedule}}
		}
	}
	for name, priority := range map[string]int32{"low": 1, "high": 100} {
		pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)}, Spec: v1.PodSpec{
			NodeName: "node-1", Priority: &priority, SchedulerName: v1.DefaultSchedulerName,
			Containers: []v1.Container{{Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("500m")}}}},
		}}
		rec.Events = append([]sources.Event{{Time: zero, Fact: &sources.ObjectChange{Verb: sources.Added, Object: pod}}}, rec.Events...)
	}
	return rec
}

// clusterOf returns a model that shows a page of n nodes.
func clusterOf(tb testing.TB, n int) *model {
	tb.Helper()
	rec := crowdRecording(10, 0, 0)
	for i := range n {
		rec.Events = append(rec.Events, sources.Event{Time: zero, Fact: &sources.ObjectChange{Verb: sources.Added, Object: &v1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%05d", i)},
			Status: v1.NodeStatus{Allocatable: v1.ResourceList{
				v1.ResourceCPU: resource.MustParse("8"), v1.ResourceMemory: resource.MustParse("32Gi"), v1.ResourcePods: resource.MustParse("110"),
			}},
		}}})
	}
	s := session.New(rec, timeline.Options{Paused: true})
	ctx, stop := context.WithCancel(tb.Context())
	go s.Run(ctx)
	s.SeekEnd()
	s.Sync()
	m := newModel(tb.Context(), s, Options{})
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	m.Do(keymap.Nodes)
	m.Frame = s.Sync()
	if cmd := m.nodes.Follow(); cmd != nil {
		m.Update(cmd())
	}
	stop() // the session's own work must not be measured
	for range s.Frames() {
	}
	return m
}

// TestCostOfAFrameDoesNotDependOnTheNumberOfNodes: the cost of the nodes page depends only on the
// terminal's size.
func TestCostOfAFrameDoesNotDependOnTheNumberOfNodes(t *testing.T) {
	few, many := clusterOf(t, 100), clusterOf(t, 15_000)
	ofFew, ofMany := testing.AllocsPerRun(20, few.frameAgain), testing.AllocsPerRun(20, many.frameAgain)
	t.Logf("allocations of a frame at 120 by 40: %.0f with 100 nodes, %.0f with 15,000", ofFew, ofMany)
	if ofMany > ofFew*1.1+2 || ofMany == 0 {
		t.Errorf("a frame of 15,000 nodes makes %.0f allocations, one of 100 makes %.0f", ofMany, ofFew)
	}
	if n := len(many.nodes.Listed()); n != 15_000 {
		t.Errorf("the page has %d nodes", n)
	}
}

func BenchmarkNodes(b *testing.B) {
	m := clusterOf(b, 15_000)
	b.ReportAllocs()
	for b.Loop() {
		m.frameAgain()
	}
}

// TestNodesAreCompleted: prompts for a node, a claim or a pod offer the existing ones.
func TestNodesAreCompleted(t *testing.T) {
	inTree(t)
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, session.New(withTenants(t), timeline.Options{Paused: true}), Options{})
		p.goTo("10:36:02.5").try(keymap.AddNode).sees("node-1", "node-2").press("tab")
		p.sees("node like: node-1").press("tab")
		p.sees("node like: node-2").press("esc")
		p.try(keymap.Delete).press("n")
		p.press("tab")
		p.press("space")
		p.sees("node-2").press("tab")
		p.sees("delete: node node-1").press("esc")
		p.try(keymap.Delete).paste("pod tr").press("tab")
		p.sees("delete: pod train-0").press("esc")
	})
}

// TestAsks: why? shows the requests and the constraints of the pod.
func TestAsks(t *testing.T) {
	inTree(t)
	synctest.Test(t, func(t *testing.T) {
		rec := withTenants(t)
		for _, ev := range rec.Events {
			if c, ok := ev.Fact.(*sources.ObjectChange); ok {
				if pod, ok := c.Object.(*v1.Pod); ok && pod.Name == "train-0" {
					pod.Spec.NodeSelector = map[string]string{"pool": "gpu"}
					pod.Spec.Tolerations = []v1.Toleration{{Key: "node-role", Value: "gpu", Effect: v1.TaintEffectNoSchedule}, {Operator: v1.TolerationOpExists}}
					pod.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{
						{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "train"}}, TopologyKey: "zone"},
					}}}
				}
			}
		}
		p := sit(t, 120, 40, session.New(rec, timeline.Options{Paused: true}), Options{})
		p.goTo("10:36:02.5").do(keymap.GoToPod).enter("train-0").do(keymap.Open)
		p.sees("Requests 2 nvidia.com/gpu.", "Only on nodes with pool=gpu.", "Other pods: anti-affinity: app=train (per zone).",
			"Tolerates node-role=gpu:NoSchedule, all taints.")
	})
}
