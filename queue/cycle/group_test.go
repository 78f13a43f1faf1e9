package cycle

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/kubernetes/pkg/features"

	"github.com/schedq/schedq/queue"
)

// inGroup adds a pod to a pod group.
func inGroup(name string) podEdit {
	return func(pod *v1.Pod) { pod.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &name} }
}

// gang returns a pod group with that minimum number of pods.
func gang(name string, least int32) *schedulingv1beta1.PodGroup {
	g := &schedulingv1beta1.PodGroup{}
	g.Namespace, g.Name, g.UID = "default", name, types.UID(name)
	g.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: least}
	return g
}

// TestPodGroup checks that a gang waits for its PodGroup, its minimum number of pods and resources
// for all of them, and is then bound as one.
func TestPodGroup(t *testing.T) {
	featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, featuregatetesting.FeatureOverrides{features.GenericWorkload: true})
	st := newStory(t, aNode("n1"))
	if !st.q.Options().GenericWorkload {
		t.Fatal("the queue does not know of the gate")
	}
	st.put(aPod("a", inGroup("train"), requests("cpu", "3")), aPod("b", inGroup("train"), requests("cpu", "3"), func(p *v1.Pod) { p.Status.NominatedNodeName = "n1" }))
	if got, want := st.takeMoves(), "a incomplete: UnscheduledPodAdd; b incomplete: UnscheduledPodAdd"; got != want {
		t.Errorf("moves:\n %s\nwant\n %s", got, want)
	}
	if st.q.CanPop() {
		t.Fatal("a pod without its PodGroup can be popped")
	}
	st.put(gang("train", 2))
	if info, _ := st.q.Group(types.NamespacedName{Namespace: "default", Name: "train"}); info.Tier != queue.Active || len(info.Members) != 2 {
		t.Fatalf("the group is %s with %d pods", info.Tier, len(info.Members))
	}
	st.moves = nil

	a, _ := st.Schedule(st.clock)
	st.clock = st.clock.Add(time.Second) // for which its cycle lasts
	st.Conclude(st.clock, a)
	if a.Group == nil || len(a.Bindings) != 0 {
		t.Fatalf("the attempt of the group came to %+v", a)
	}
	if got, want := st.takeMoves(), "a inflight; b inflight; a pending: ScheduleAttemptFailure; b pending: ScheduleAttemptFailure; a backoff: ScheduleAttemptFailure; b backoff: ScheduleAttemptFailure"; got != want {
		t.Errorf("moves:\n %s\nwant\n %s", got, want)
	}
	conditions := 0
	for _, w := range st.Writes() {
		if g, ok := w.Object.(*schedulingv1beta1.PodGroup); ok {
			conditions++
			if c := g.Status.Conditions[0]; c.Reason != "Unschedulable" || !c.LastTransitionTime.Time.Equal(st.clock) {
				t.Errorf("the condition of the group is %+v", c)
			}
		}
	}
	if conditions != 1 {
		t.Errorf("%d conditions of the group are written, want 1", conditions)
	}

	st.put(aNode("n2"))
	st.pass(3e9)
	st.moves = nil
	a = st.try()
	if len(a.Bindings) != 2 {
		t.Fatalf("%d pods are placed, want 2: %+v", len(a.Bindings), st.moves)
	}
	if a.Binding != a.Bindings[0] || a.Node != a.Bindings[0].Node || a.Evaluated != 4 {
		t.Errorf("the first of its pods goes to %q, %d nodes were looked at: %+v", a.Node, a.Evaluated, a.Binding)
	}
	if node := st.q.NominatedNode("b"); node != "" {
		t.Errorf("b is placed, and nominated to %q", node)
	}
	for _, b := range a.Bindings {
		if err := st.Bind(st.clock, b); err != nil {
			t.Error(err)
		}
	}
	if got, want := st.takeMoves(), "a inflight; b inflight; a scheduled; b scheduled"; got != want {
		t.Errorf("moves:\n %s\nwant\n %s", got, want)
	}
	if info, _ := st.q.Group(types.NamespacedName{Namespace: "default", Name: "train"}); info.Tier != queue.None || st.q.PendingPods(queue.InFlight) != 0 {
		t.Error("the attempt is not over")
	}
}

// TestPodGroupChanges checks updates of the minimum, and the deletion of the PodGroup.
func TestPodGroupChanges(t *testing.T) {
	featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, featuregatetesting.FeatureOverrides{features.GenericWorkload: true})
	st := newStory(t, aNode("n1"))
	if err := st.Load(st.next(gang("loaded", 1))); err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(){
		func() { _ = st.Load(st.next(gang("loaded", 2))) }, func() { _ = st.Unload(gang("loaded", 2)) },
	} {
		if change(); len(st.moves) > 0 {
			t.Errorf("what was there before moves pods: %v", st.moves)
		}
	}
	st.put(gang("train", 3), aPod("a", inGroup("train")), aPod("b", inGroup("train")))
	if st.q.CanPop() {
		t.Fatal("a gang can be popped that lacks a pod")
	}
	name := types.NamespacedName{Namespace: "default", Name: "train"}
	st.put(gang("train", 2), aPod("c", inGroup("train")))
	if info, _ := st.q.Group(name); info.Tier != queue.Active || info.Object.Spec.SchedulingPolicy.Gang.MinCount != 2 {
		t.Errorf("one that wants fewer is %s", info.Tier)
	}
	st.remove(gang("train", 2))
	if st.q.CanPop() {
		t.Error("a gang can be popped whose PodGroup is gone")
	}
}

// TestBoundOutOfGroup checks that a pod that is observed as bound while its group is in flight is
// not scheduled with the group.
func TestBoundOutOfGroup(t *testing.T) {
	featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, featuregatetesting.FeatureOverrides{features.GenericWorkload: true})
	st := newStory(t, aNode("n1"))
	st.put(gang("train", 1), aPod("a", inGroup("train")), aPod("b", inGroup("train")))
	a, _ := st.Schedule(st.clock)
	st.q.Bound(st.clock, "a")
	if st.Conclude(st.clock, a); len(a.Bindings) != 1 || a.Bindings[0].Pod.Name != "b" || a.Node != "n1" {
		t.Errorf("placed are %+v", a.Bindings)
	}
}
