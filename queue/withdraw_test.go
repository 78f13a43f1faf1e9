package queue_test

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	fwk "k8s.io/kube-scheduler/framework"
)

// lone returns a pod of that name and UID.
func lone(name, uid string) *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(uid)}}
}

// TestPut: a pod that is put somewhere is as new as the moment if nothing else is known, a popped one counts as popped, and the
// counter of incoming pods counts what an event sent to a queue.
func TestPut(t *testing.T) {
	q := queue.New(queue.Defaults(), nil, nil)
	q.Put(noon, queue.PodInfo{Pod: lone("new", "1"), Tier: queue.Active}, queue.Transition{Event: "A"})
	q.Put(noon, queue.PodInfo{Pod: lone("old", "2"), Tier: queue.Gated, Timestamp: noon.Add(-time.Hour)}, queue.Transition{Event: "B"})
	q.Put(noon, queue.PodInfo{Pod: lone("quiet", "3"), Tier: queue.Unschedulable}, queue.Transition{})
	q.Put(noon, queue.PodInfo{Pod: lone("part", "4"), Tier: queue.Incomplete}, queue.Transition{Event: "C"})
	q.Put(noon, queue.PodInfo{Pod: lone("tried", "5"), Tier: queue.InFlight}, queue.Transition{})
	for name, want := range map[string]time.Time{"new": noon, "old": noon.Add(-time.Hour), "quiet": noon} {
		if info, _ := q.Get("", name); !info.Timestamp.Equal(want) {
			t.Errorf("%s is of %s", name, info.Timestamp)
		}
	}
	total := q.IncomingPodsTotal()
	if len(total) != 2 || total[queue.Incoming{Queue: queue.Active, Event: "A"}] != 1 || total[queue.Incoming{Queue: queue.Unschedulable, Event: "B"}] != 1 {
		t.Errorf("came: %v", total)
	}
	if q.SchedulingCycle() != 1 {
		t.Errorf("after one pop the scheduling cycle is %d", q.SchedulingCycle())
	}
}

// TestPutInFlight: a pod that was seen popped is one of the scheduling cycle after the last. In v1.31 a move request before it does
// not send it to backoffQ, and one after it does.
func TestPutInFlight(t *testing.T) {
	for name, c := range map[string]struct {
		before bool
		want   queue.Tier
	}{"before": {true, queue.Unschedulable}, "after": {false, queue.Backoff}} {
		opts, err := queue.ForRelease("v1.31")
		if err != nil {
			t.Fatal(err)
		}
		q := queue.New(opts, nil, nil)
		request := func() {
			q.MoveAllToActiveOrBackoffQueue(noon, fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}, nil, nil, nil)
		}
		q.Add(noon, lone("first", "1"))
		q.Pop(noon)
		if c.before {
			request()
		}
		pod := lone("seen", "2")
		queue.Observe(q, noon, queue.Observation{Pod: pod, To: queue.InFlight})
		if !c.before {
			request()
		}
		if err := q.AddUnschedulableIfNotPresent(noon, pod, queue.Rejection{UnschedulablePlugins: []string{"A"}}); err != nil {
			t.Fatal(err)
		}
		if info, _ := q.Get("", "seen"); info.Tier != c.want {
			t.Errorf("a move request %s its pop: it is %s", name, info.Tier)
		}
	}
}

// TestPutOverAnother: who has the UID, or the name, of a pod that is put somewhere is let go: its end was not seen.
func TestPutOverAnother(t *testing.T) {
	q := queue.New(queue.Defaults(), nil, nil)
	for _, pod := range []*v1.Pod{lone("a", "1"), lone("b", "1"), lone("b", "2")} {
		q.Put(noon, queue.PodInfo{Pod: pod, Tier: queue.InFlight}, queue.Transition{})
		if err := q.Invariants(); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := q.Get("", "a"); ok || q.PendingPods(queue.InFlight) != 2 {
		t.Errorf("a is known: %v; %d are in flight", ok, q.PendingPods(queue.InFlight))
	}
	for range 2 {
		q.Put(noon, queue.PodInfo{Pod: lone("c", "3"), Tier: queue.Active}, queue.Transition{})
	}
	if n := q.PendingPods(queue.Active); n != 1 {
		t.Errorf("%d of one name wait", n)
	}
}

// TestRefreshNominated: whoever is nominated is known by the newest object.
func TestRefreshNominated(t *testing.T) {
	q := queue.New(queue.Defaults(), nil, nil)
	pod := lone("a", "1")
	q.Add(noon, pod)
	q.AddNominatedPod(pod, "node")
	newer := pod.DeepCopy()
	if !q.Refresh(newer) || q.Refresh(lone("b", "2")) {
		t.Error("a is known, and b is not")
	}
	if on := q.NominatedPodsForNode("node"); len(on) != 1 || on[0] != newer {
		t.Errorf("nominated are %v", on)
	}
}

// TestWithdrawTheLast: a group of which nothing else is known is forgotten with its last pod.
func TestWithdrawTheLast(t *testing.T) {
	opts := queue.Defaults()
	opts.GenericWorkload = true
	q := queue.New(opts, nil, nil)
	group, pod := "g", lone("a", "1")
	pod.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &group}
	q.Add(noon, pod)
	if _, ok := q.Withdraw(pod, false); !ok {
		t.Fatal("a does not wait")
	}
	if _, ok := q.Group(types.NamespacedName{Name: group}); ok {
		t.Error("its group is known still")
	}
}
