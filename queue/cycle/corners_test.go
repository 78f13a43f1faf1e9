package cycle

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// TestNoNodes checks that without nodes, a pod backs off as after an error.
func TestNoNodes(t *testing.T) {
	st := newStory(t)
	a := st.tries(aPod("web"))
	if a.Message != "no nodes available to schedule pods" || a.Nodes != 0 || len(a.Reasons) != 0 {
		t.Errorf("%+v", a)
	}
	if w := st.Writes(); len(w) != 1 || w[0].Object.(*v1.Pod).Status.Conditions[0].Reason != v1.PodReasonUnschedulable {
		t.Errorf("writes: %+v", w)
	}
	st.put(aNode("one"))
	st.is("when a node comes", "web backoff")
	if st.q.CanPop() {
		t.Error("it can be taken before its backoff is over")
	}
	st.pass(2 * time.Second)
	if a := st.try(); a.Node != "one" {
		t.Error(result(a))
	}
}

// TestOtherSchedulers checks that pods with another scheduler name are not queued, and are skipped
// if queued.
func TestOtherSchedulers(t *testing.T) {
	st := newStory(t, aNode("one"))
	other := aPod("web", func(p *v1.Pod) { p.Spec.SchedulerName = "other" })
	st.put(other)
	st.is("when it comes", "web gone")
	if st.Responsible(other) || !st.Responsible(aPod("mine")) {
		t.Error("the scheduler does not know whose pods are its own")
	}
	st.q.Add(st.clock, other)
	if a := st.try(); !a.Skipped || a.Message != `profile not found for scheduler name "other"` || a.Node != "" {
		t.Errorf("%+v", a)
	}
	st.is("when it was taken", "web gone")
	st.put(at("one", other)) // another scheduler's pod takes room nevertheless
	st.remove(at("one", other))
}

// TestSkipped checks that pods that are being deleted are skipped.
func TestSkipped(t *testing.T) {
	st := newStory(t, aNode("one"))
	a := st.tries(aPod("web", func(p *v1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: noon} }))
	if !a.Skipped || a.Node != "" || a.Message != "" {
		t.Errorf("%+v", a)
	}
	st.is("when it was taken", "web gone")
}

// TestReplaced checks that a pod is distinguished from another one of the same name.
func TestReplaced(t *testing.T) {
	for _, where := range []string{"", "one"} {
		st := newStory(t, aNode("one"))
		st.put(at(where, aPod("web", requests("cpu", "3"))))
		second := aPod("web", requests("cpu", "3"), func(p *v1.Pod) { p.UID = "second" })
		st.put(second)
		if a := st.try(); a.Pod.UID != "second" || a.Node != "one" {
			t.Errorf("%s: %s", a.Pod.UID, result(a))
		}
	}
}

// TestReplacedDuringAnAttempt checks that an attempt ends with its pod when another one of the same
// name is added.
func TestReplacedDuringAnAttempt(t *testing.T) {
	st := newStory(t, aNode("one", taint("infra")))
	st.put(aPod("web"))
	a, _ := st.Schedule(st.clock)
	st.put(aPod("web", func(p *v1.Pod) { p.UID = "second" }))
	st.Conclude(st.clock, a)
	info, _ := st.q.Get("default", "web")
	if info.Pod.UID != "second" || info.Attempts != 0 || st.q.PendingPods(1) < 0 || len(st.Writes()) != 0 {
		t.Errorf("queue: %+v", info)
	}
}

// TestMovedPod checks an update that moves a pod to another node, which no real cluster allows.
func TestMovedPod(t *testing.T) {
	st := newStory(t, aNode("one"), aNode("two"), at("one", aPod("old", requests("cpu", "3"))))
	st.put(at("two", aPod("old", requests("cpu", "3"))))
	if a := st.tries(aPod("new", requests("cpu", "3"))); a.Node != "one" {
		t.Error(result(a))
	}
	st.put(aPod("old", requests("cpu", "3"))) // and now on none: it waits again
	st.is("when it has no node", "old active")
}

// TestSameUID checks that the second pod with a UID is ignored.
func TestSameUID(t *testing.T) {
	st := newStory(t, aNode("one"))
	st.put(at("one", aPod("web")))
	err := st.Put(st.clock, aPod("copy", func(p *v1.Pod) { p.UID = "web" }))
	if err == nil || !strings.Contains(err.Error(), "same UID web") {
		t.Errorf("the copy: %v", err)
	}
	st.is("when a copy comes", "copy gone")
	st.remove(at("one", aPod("web")))
	st.put(aPod("copy", func(p *v1.Pod) { p.UID = "web" }))
	st.is("when it is the only one", "copy active")
}

// TestUnknownNode checks pods on nodes that do not exist yet or no longer.
func TestUnknownNode(t *testing.T) {
	st := newStory(t, at("later", aPod("old", requests("cpu", "3"))))
	st.put(aNode("later"))
	if a := st.tries(aPod("new", requests("cpu", "3"))); a.Node != "" {
		t.Error("it goes where the old one is")
	}
	st.remove(aNode("later"))
	st.put(at("later", aPod("old", requests("cpu", "1"))))
	st.put(aNode("later"))
	st.pass(time.Minute)
	if a := st.try(); a.Node != "later" {
		t.Error(result(a))
	}
}

// TestTerminal checks that terminal pods take no resources and are not queued.
func TestTerminal(t *testing.T) {
	st := newStory(t, aNode("one"), at("one", aPod("old", requests("cpu", "3"))))
	ended := func(p *v1.Pod) { p.Status.Phase = v1.PodSucceeded }
	st.put(at("one", aPod("old", requests("cpu", "3"), ended)), aPod("never", ended))
	st.is("when they ended", "never gone")
	if a := st.tries(aPod("new", requests("cpu", "3"))); a.Node != "one" {
		t.Error(result(a))
	}
}

// TestRemovedByName checks that removing a pod by name uses its stored state, and wakes pods with
// an anti-affinity to it.
func TestRemovedByName(t *testing.T) {
	st := newStory(t, aNode("one"), at("one", aPod("old", podLabel("app", "web"))))
	st.tries(aPod("new", antiAffinity(near(v1.LabelHostname, "app", "web"))))
	st.pass(time.Minute)
	st.remove(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "old", UID: "old"}, Spec: v1.PodSpec{NodeName: "one"}})
	st.is("when the old one is gone", "new active InterPodAffinity")
}

// TestRemovedAsItWas checks that removing a pod uses the last state, even if that was not stored
// before.
func TestRemovedAsItWas(t *testing.T) {
	st := newStory(t, aNode("one"), at("one", aPod("old", podLabel("app", "web"))))
	st.tries(aPod("new", antiAffinity(near(v1.LabelHostname, "app", "web"))))
	st.pass(time.Minute)
	st.remove(st.next(at("one", aPod("old", podLabel("app", "db")))))
	st.is("when the old one, which kept nobody away any more, is gone", "new unschedulable InterPodAffinity")
}

// TestSynced checks that all informers have synced.
func TestSynced(t *testing.T) {
	i := newStory(t).watches.informerOf(&v1.Pod{})
	select {
	case <-i.HasSyncedChecker().Done():
	default:
		t.Error("an informer has not synced")
	}
}

// TestIgnored checks that types that the scheduler does not watch and unknown objects are ignored.
func TestIgnored(t *testing.T) {
	st := newStory(t)
	st.put(&v1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}})
	st.remove(&v1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}}, aPod("web"), at("one", aPod("db")), aNode("one"), aClaim("c", "x", ""),
		aSlice("one"), aDeviceClaim("d", "gpu"), aCSINode("one", 1), aVolume("v", "x", "", "a", "b"))
	if got := st.takeMoves(); got != "" {
		t.Errorf("moves: %s", got)
	}
}

// TestAnyOrder adds, updates and removes objects in random order. For some of that, upstream's
// cache would end the process.
func TestAnyOrder(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 0))
		st := newStory(t)
		st.careless = true
		pick := func(names string, n int) string { return fmt.Sprint(names, random.IntN(n)) }
		object := func() runtime.Object {
			switch random.IntN(8) {
			case 0:
				return aNode(pick("n", 3), has("cpu", "2"))
			case 1:
				return aClaim(pick("c", 2), "now", []string{"", "disk"}[random.IntN(2)])
			case 2:
				return aVolume("disk", "now", "", v1.LabelHostname, pick("n", 3))
			case 3:
				return aSlice(pick("n", 3), "gpu")
			case 4:
				return aDeviceClaim("d", "gpu")
			}
			return aPod(pick("p", 6), requests("cpu", pick("", 3)), priority(random.Int32N(3)), func(p *v1.Pod) {
				p.UID = types.UID(pick("u", 8))
				p.Spec.NodeName = []string{"", "", pick("n", 4)}[random.IntN(3)]
				p.Status.Phase = []v1.PodPhase{"", v1.PodRunning, v1.PodFailed}[random.IntN(3)]
				if random.IntN(5) == 0 {
					p.DeletionTimestamp = &metav1.Time{Time: st.clock}
				}
				switch random.IntN(6) {
				case 0:
					uses("c0")(p)
				case 1:
					usesDevice("d")(p)
				case 2:
					antiAffinity(near(v1.LabelHostname, "a", "b"))(p)
				}
			})
		}
		var bindings []*Binding
		for range 300 {
			switch random.IntN(6) {
			case 0, 1:
				_ = st.Put(st.clock, st.next(object())) // two pods of one UID are refused
			case 2:
				_ = st.Put(st.clock, object()) // without a version
			case 3:
				st.remove(object())
			case 4:
				st.pass(time.Second)
				if a, ok := st.Schedule(st.clock); ok {
					if random.IntN(2) == 0 {
						_ = st.Put(st.clock, st.next(object()))
					}
					st.Conclude(st.clock, a)
					if a.Binding != nil {
						bindings = append(bindings, a.Binding)
					}
				}
				for _, e := range st.Evictions() {
					st.Evicted(e)
				}
			case 5:
				if len(bindings) > 0 {
					switch random.IntN(3) {
					case 0:
						_ = st.Bind(st.clock, bindings[0])
					case 1:
						st.Fail(st.clock, bindings[0], fmt.Errorf("failed"))
					case 2:
						st.Forget(bindings[0])
					}
					bindings = bindings[1:]
				}
				for _, w := range st.Writes() {
					_ = st.Put(st.clock, w.Object)
				}
			}
		}
	}
}

// TestPlace checks that Place assumes a pod on a node if it fits.
func TestPlace(t *testing.T) {
	st := newStory(t)
	pod := aPod("web", requests("cpu", "2"))
	if _, err := st.Place(pod, "a"); err == nil {
		t.Error("it is placed where no node is")
	}
	st.put(aNode("a"), aNode("b"), pod)
	b, err := st.Place(pod, "b")
	if err != nil || b.Node != "b" || b.Pod.Spec.NodeName != "b" || pod.Spec.NodeName != "" {
		t.Fatalf("%v, it is placed: %+v", err, b)
	}
	if _, err := st.Place(pod, "b"); err == nil {
		t.Error("the pod was placed twice")
	}
	st.Forget(b)
	for name, of := range map[string]struct {
		pod  *v1.Pod
		node string
	}{
		"a node that is not there":      {pod, "c"},
		"a node without room":           {aPod("large", requests("cpu", "64")), "a"},
		"a scheduler that is not there": {aPod("other", func(p *v1.Pod) { p.Spec.SchedulerName = "other" }), "a"},
	} {
		if _, err := st.Place(of.pod, of.node); err == nil {
			t.Errorf("%s: it is placed", name)
		}
	}
	if b, err := st.Place(pod, "a"); err != nil || b.Node != "a" {
		t.Errorf("%v, once more it is placed: %+v", err, b)
	}
}

// TestPlaceOn checks that PlaceOn assumes a rejected pod on a node, where it can be bound.
func TestPlaceOn(t *testing.T) {
	st := newStory(t)
	st.put(aNode("a"), aNode("b"))
	st.put(aPod("large", requests("cpu", "64")))
	a, ok := st.Schedule(st.clock)
	if !ok || a.Binding != nil || a.Message == "" {
		t.Fatalf("large fits on %q", a.Node)
	}
	if st.PlaceOn(a, "c") || a.Binding != nil {
		t.Error("it is placed on a node that is not there")
	}
	if !st.PlaceOn(a, "b") || a.Node != "b" || a.Binding.Pod.Spec.NodeName != "b" || a.Message != "" || a.Reasons != nil {
		t.Fatalf("it is not placed: %+v", a)
	}
	if st.PlaceOn(a, "a") {
		t.Error("the pod was placed twice")
	}
	st.Conclude(st.clock, a)
	if _, err := st.Place(aPod("other", requests("cpu", "1")), "b"); err == nil {
		t.Error("another has room beside it")
	}
	if err := st.Bind(st.clock, a.Binding); err != nil {
		t.Error(err)
	}
}

// TestUndo checks that Undo frees the node of an assumed pod.
func TestUndo(t *testing.T) {
	st := newStory(t)
	st.put(aNode("a"))
	a := st.tries(aPod("web", requests("cpu", "3")))
	if a.Binding == nil {
		t.Fatal("web fits nowhere")
	}
	other := aPod("other", requests("cpu", "3"))
	if _, err := st.Place(other, "a"); err == nil {
		t.Fatal("there is room for both")
	}
	st.Undo(a)
	if _, err := st.Place(other, "a"); a.Binding != nil || err != nil {
		t.Errorf("web has its room still: %v", err)
	}
}
