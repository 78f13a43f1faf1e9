package queue_test

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
)

// TestObserveDefaults checks the state of pods about which nothing but their tier is known, and the metrics:
// an event counts incoming pods, and an observed pop counts as a scheduling cycle.
func TestObserveDefaults(t *testing.T) {
	q := queue.New(queue.Defaults(), nil, nil)
	q.Observe(noon, queue.Observation{Pod: newPod("new", "1"), To: queue.Active, Event: "A"})
	q.Observe(noon, queue.Observation{Pod: newPod("gated", "2"), To: queue.Gated, Event: "B"})
	q.Observe(noon, queue.Observation{Pod: newPod("no-event", "3"), To: queue.Unschedulable})
	q.Observe(noon, queue.Observation{Pod: newPod("member", "4"), To: queue.Incomplete, Event: "C"})
	q.Observe(noon, queue.Observation{Pod: newPod("popped", "5"), To: queue.InFlight})
	q.Restore(noon, queue.PodInfo{Pod: newPod("old", "6"), Tier: queue.Gated, Timestamp: noon.Add(-time.Hour)})
	for name, want := range map[string]time.Time{"new": noon, "gated": noon, "no-event": noon, "old": noon.Add(-time.Hour)} {
		if info, _ := q.Get("", name); !info.Timestamp.Equal(want) {
			t.Errorf("timestamp of %s is %s, want %s", name, info.Timestamp, want)
		}
	}
	total := q.IncomingPodsTotal()
	if len(total) != 2 || total[queue.Incoming{Queue: queue.Active, Event: "A"}] != 1 || total[queue.Incoming{Queue: queue.Unschedulable, Event: "B"}] != 1 {
		t.Errorf("incoming pods: %v", total)
	}
	if q.SchedulingCycle() != 1 {
		t.Errorf("scheduling cycle is %d after one pop", q.SchedulingCycle())
	}
}

// TestObservedPopStartsACycle checks in v1.31 that a move request sends a pod with a failed attempt to
// backoffQ only if it arrived after the pod's observed pop.
func TestObservedPopStartsACycle(t *testing.T) {
	for before, want := range map[bool]queue.Tier{true: queue.Unschedulable, false: queue.Backoff} {
		q := queue.New(mustRelease(t, "v1.31"), nil, nil)
		q.Add(noon, newPod("first", "1"))
		q.Pop(noon)
		if before {
			q.MoveAllToActiveOrBackoffQueue(noon, nodeAdd, nil, nil, nil)
		}
		pod := newPod("observed", "2")
		q.Observe(noon, queue.Observation{Pod: pod, To: queue.InFlight})
		if !before {
			q.MoveAllToActiveOrBackoffQueue(noon, nodeAdd, nil, nil, nil)
		}
		fail(t, q, noon, pod, "A")
		if info, _ := q.Get("", "observed"); info.Tier != want {
			t.Errorf("move request before the pop: %t: the pod is %s, want %s", before, info.Tier, want)
		}
	}
}

// TestObserveReplaces checks that an observed pod replaces the one with its UID in flight, and the waiting one
// with its name: their ends were missed.
func TestObserveReplaces(t *testing.T) {
	q := queue.New(queue.Defaults(), nil, nil)
	for _, pod := range []*v1.Pod{newPod("a", "1"), newPod("b", "1"), newPod("b", "2")} {
		q.Restore(noon, queue.PodInfo{Pod: pod, Tier: queue.InFlight})
		checkInvariants(t, q)
	}
	if _, ok := q.Get("", "a"); ok || q.PendingPods(queue.InFlight) != 2 {
		t.Errorf("a is known: %t; %d pods in flight, want 2", ok, q.PendingPods(queue.InFlight))
	}
	for range 2 {
		q.Restore(noon, queue.PodInfo{Pod: newPod("c", "3"), Tier: queue.Active})
	}
	if n := q.PendingPods(queue.Active); n != 1 {
		t.Errorf("%d active pods of one name", n)
	}
}

// TestRefreshNominated checks that Refresh replaces the object of a nominated pod.
func TestRefreshNominated(t *testing.T) {
	q := queue.New(queue.Defaults(), nil, nil)
	pod := newPod("a", "1")
	q.Add(noon, pod)
	q.AddNominatedPod(pod, "node")
	newer := pod.DeepCopy()
	if !q.Refresh(newer) || q.Refresh(newPod("b", "2")) {
		t.Error("Refresh must know a, and not b")
	}
	if on := q.NominatedPodsForNode("node"); len(on) != 1 || on[0] != newer {
		t.Errorf("nominated pods: %v", on)
	}
}

// TestExtractLastOfGroup checks that a group without a PodGroup is freed with its last pod.
func TestExtractLastOfGroup(t *testing.T) {
	q := queue.New(groupsEnabled(), nil, nil)
	pod := inGroup("a", "1", "g")
	q.Add(noon, pod)
	if _, ok := q.Extract(pod, false); !ok {
		t.Fatal("a does not wait")
	}
	if _, ok := q.Group(types.NamespacedName{Name: "g"}); ok {
		t.Error("group g was not freed")
	}
}

// TestObservedEndEndsNomination checks that a deletion that is observed after the object is gone ends the pod's
// nomination.
func TestObservedEndEndsNomination(t *testing.T) {
	q := queue.New(queue.Defaults(), nil, nil)
	pod := newPod("web", "1")
	q.Observe(noon, queue.Observation{Pod: pod, To: queue.Active, Event: "UnscheduledPodAdd"})
	q.AddNominatedPod(pod, "node-a")
	q.Observe(noon, queue.Observation{Pod: newPod("web", ""), To: queue.Deleted})
	if left := q.NominatedPodsForNode("node-a"); len(left) > 0 {
		t.Errorf("%s is still nominated", left[0].Name)
	}
}
