package cycle

import (
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestHints adds, updates and removes objects, and checks that exactly the pods move for which
// upstream's hints return Queue. Every pod is rejected and its backoff over before.
func TestHints(t *testing.T) {
	zone := v1.LabelTopologyZone
	a := aNode("a", nodeLabel(zone, "z1"), taint("infra"))
	b := aNode("b", nodeLabel(zone, "z2"), taint("infra"))
	plain := aPod("plain")
	big := aPod("big", requests("cpu", "6"), tolerates("infra"))
	porter := aPod("porter", hostPort(80), nodeIn(zone, "z1"), tolerates("infra"))
	shy := aPod("shy", antiAffinity(near(zone, "app", "web")), tolerates("infra"))
	lonely := aPod("lonely", affinity(near(zone, "app", "db")), tolerates("infra"))
	picky := aPod("picky", nodeIn(zone, "z3"), tolerates("infra"))
	db := aPod("db", uses("data"), tolerates("infra"))
	ml := aPod("ml", usesDevice("train"), tolerates("infra"))
	pods := []*v1.Pod{plain, big, porter, shy, lonely, picky, db, ml}

	webA := at("a", aPod("web-a", podLabel("app", "web"), hostPort(80), requests("cpu", "3")))
	webB := at("b", aPod("web-b", podLabel("app", "web")))
	cluster := []runtime.Object{a, b, webA, webB,
		aClass("now", storagev1.VolumeBindingImmediate), aClaim("data", "now", ""), aDeviceClass("gpu"), aDeviceClaim("train", "gpu")}
	rejectors := map[string]string{
		"plain": "TaintToleration", "big": "NodeResourcesFit", "porter": "NodeAffinity,NodePorts", "shy": "InterPodAffinity",
		"lonely": "InterPodAffinity", "picky": "NodeAffinity", "db": "VolumeBinding", "ml": "DynamicResources",
	}

	for _, c := range []struct {
		name    string
		happens func(st *story)
		moves   []string
	}{
		{"nothing", func(st *story) {}, nil},
		{"a node says again what it is", func(st *story) { st.put(a) }, nil},
		// DynamicResources has no hint for nodes: a driver's device may have come with it.
		{"a node grows, but not enough", func(st *story) { st.put(edited(a, has("cpu", "5"))) }, []string{"ml"}},
		{"a node grows far enough", func(st *story) { st.put(edited(a, has("cpu", "6"))) }, []string{"big", "ml"}},
		{"a taint goes", func(st *story) { st.put(edited(a, func(n *v1.Node) { n.Spec.Taints = nil })) }, []string{"plain"}},
		{"another taint comes", func(st *story) { st.put(edited(a, taint("more"))) }, nil},
		{"a label that nobody asks for", func(st *story) { st.put(edited(a, nodeLabel("color", "red"))) }, []string{"db", "ml"}},
		{"the label that one asks for", func(st *story) { st.put(edited(b, nodeLabel(zone, "z3"))) }, []string{"db", "lonely", "ml", "picky", "shy"}},
		// NodePorts, VolumeBinding and DynamicResources do not look at the node, and InterPodAffinity only
		// at the topology: without one, nothing there is near anything.
		{"a node comes", func(st *story) { st.put(aNode("c", nodeLabel(zone, "z3"))) }, []string{"db", "lonely", "ml", "picky", "plain", "porter", "shy"}},
		{"a node comes that is tainted", func(st *story) { st.put(aNode("c", nodeLabel(zone, "z4"), taint("more"))) }, []string{"db", "lonely", "ml", "porter", "shy"}},
		{"a large node comes", func(st *story) { st.put(aNode("c", has("cpu", "16"), taint("more"))) }, []string{"big", "db", "ml", "porter", "shy"}},
		{"a node goes", func(st *story) { st.remove(b) }, nil},
		{"the pod on the port goes", func(st *story) { st.remove(webA) }, []string{"big", "porter", "shy"}},
		// NodeResourcesFit does not ask what the pod had that goes, only that it was on a node.
		{"the pod in the other zone goes", func(st *story) { st.remove(webB) }, []string{"big", "shy"}},
		{"a friend comes", func(st *story) { st.put(at("b", aPod("db-1", podLabel("app", "db")))) }, []string{"lonely"}},
		{"a stranger comes", func(st *story) { st.put(at("b", aPod("mail"))) }, nil},
		{"a pod becomes a friend", func(st *story) {
			st.put(at("b", aPod("web-b", podLabel("app", "db"))))
		}, []string{"lonely", "shy"}},
		{"the claim is bound", func(st *story) { st.put(aClaim("data", "now", "disk")) }, []string{"db"}},
		{"another claim comes", func(st *story) { st.put(aClaim("other", "now", "")) }, nil},
		{"a volume comes", func(st *story) { st.put(aVolume("disk", "now", "", zone, "z1")) }, []string{"db"}},
		{"a device comes", func(st *story) { st.put(aSlice("a", "gpu-0")) }, []string{"ml"}},
		{"a device claim is allocated", func(st *story) {
			claim := aDeviceClaim("train", "gpu")
			claim.Labels = map[string]string{"touched": "yes"}
			st.put(claim)
		}, nil},
		{"the pod itself asks for less", func(st *story) {
			st.put(aPod("big", requests("cpu", "1"), tolerates("infra")))
		}, []string{"big"}},
		{"the pod itself tolerates", func(st *story) { st.put(aPod("plain", tolerates("infra"))) }, []string{"plain"}},
		{"the pod itself is labelled", func(st *story) { st.put(aPod("big", requests("cpu", "6"), tolerates("infra"), podLabel("x", "y"))) }, nil},
		{"the pod itself goes", func(st *story) { st.remove(big) }, []string{"big gone"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := newStory(t, cluster...)
			for _, pod := range pods {
				st.tries(pod)
				st.is("after its attempt", pod.Name+" unschedulable "+rejectors[pod.Name])
			}
			st.pass(10 * time.Second)
			st.unschedulable, st.wouldWake = pods, nil
			c.happens(st)
			if st.wouldWake != nil && !slices.Equal(st.wouldWake, c.moves) {
				t.Errorf("it would wake %v, and moves %v", st.wouldWake, c.moves)
			}
			moved := map[string]string{}
			for _, pod := range c.moves {
				moved[pod] = "active " + rejectors[pod]
				if pod == "big gone" {
					moved["big"] = "gone"
				}
			}
			for _, pod := range pods {
				want := moved[pod.Name]
				if want == "" {
					want = "unschedulable " + rejectors[pod.Name]
				}
				st.is("when "+c.name, pod.Name+" "+want)
			}
		})
	}
}

func edited(node *v1.Node, edits ...nodeEdit) *v1.Node {
	node = node.DeepCopy()
	for _, edit := range edits {
		edit(node)
	}
	return node
}

// TestBackoff checks that a pod that is woken during its backoff waits for its end.
func TestBackoff(t *testing.T) {
	st := newStory(t, aNode("one", taint("infra")))
	st.tries(aPod("web"))
	st.put(aNode("one"))
	st.is("when the taint goes at once", "web backoff TaintToleration")
	st.pass(2 * time.Second)
	st.is("later", "web active TaintToleration")
}

// TestDuringAnAttempt checks that the hints of the rejecting plugins decide about events between
// Schedule and Conclude.
func TestDuringAnAttempt(t *testing.T) {
	for _, c := range []struct {
		name string
		node *v1.Node
		want string
	}{
		{"helps", aNode("one"), "web backoff TaintToleration"},
		{"does not help", aNode("one", taint("infra"), has("cpu", "8")), "web unschedulable TaintToleration"},
	} {
		st := newStory(t, aNode("one", taint("infra")))
		st.put(aPod("web"))
		a, _ := st.Schedule(st.clock)
		st.is("during its attempt", "web inflight")
		st.put(c.node)
		st.Conclude(st.clock, a)
		st.is("after an event that "+c.name, c.want)
		st.Conclude(st.clock, a)
		st.is("concluded twice", c.want)
	}
}

// TestCondition checks that a failure is written into the pod's status, with the model's time, and
// only if it is new.
func TestCondition(t *testing.T) {
	st := newStory(t, aNode("one", taint("infra")))
	a := st.tries(aPod("web"))
	writes := st.Writes()
	if len(writes) != 1 || !writes[0].Status || writes[0].New {
		t.Fatalf("writes: %+v", writes)
	}
	pod := writes[0].Object.(*v1.Pod)
	want := v1.PodCondition{Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonUnschedulable, Message: a.Message, LastTransitionTime: metav1.NewTime(st.clock)}
	if len(pod.Status.Conditions) != 1 || pod.Status.Conditions[0] != want {
		t.Errorf("it wrote %+v, want %+v", pod.Status.Conditions, want)
	}
	if pod.ResourceVersion <= a.Pod.ResourceVersion {
		t.Errorf("the written pod has version %s, the pod %s", pod.ResourceVersion, a.Pod.ResourceVersion)
	}
	if err := st.Put(st.clock, pod); err != nil {
		t.Fatal(err)
	}
	st.is("when its status changed", "web unschedulable TaintToleration")
	st.Activate(aPod("web"))
	if st.try(); len(st.Writes()) != 0 {
		t.Error("the same failure is written twice")
	}
}

// Activate moves a pod to activeQ.
func (st *story) Activate(pod *v1.Pod) { st.q.Activate(st.clock, pod) }
