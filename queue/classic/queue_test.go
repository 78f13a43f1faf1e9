package classic_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/classic"
)

// The methods of SchedulingQueue in v1.19, with current parameter types, and those of later releases.
var _ interface {
	Add(*v1.Pod) error
	AddUnschedulableIfNotPresent(*queue.PodInfo, int64) error
	SchedulingCycle() int64
	Pop() (*queue.PodInfo, error)
	Update(oldPod, newPod *v1.Pod) error
	Delete(*v1.Pod) error
	MoveAllToActiveOrBackoffQueue(event fwk.ClusterEvent, oldObj, newObj any, preCheck func(*v1.Pod) bool) error
	AssignedPodAdded(*v1.Pod) error
	AssignedPodUpdated(oldPod, newPod *v1.Pod) error
	PendingPods() ([]*v1.Pod, string)
	Close()
	NumUnschedulablePods() int
	Run(context.Context)

	AssignedPodDeleted(*v1.Pod) error
	Activate(map[string]*v1.Pod) error
	Done(types.UID)
	InFlightPods() []*v1.Pod
	AddNominatedPod(*v1.Pod, string) error
	DeleteNominatedPodIfExists(*v1.Pod) error
	NominatedPodsForNode(string) []*v1.Pod
} = (*classic.Queue)(nil)

var nodeAdd = fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}

func newPod(name string) *v1.Pod {
	pod := &v1.Pod{}
	pod.Namespace, pod.Name, pod.UID = "default", name, types.UID("uid-"+name)
	return pod
}

func names(pods []*v1.Pod) string {
	var s []string
	for _, p := range pods {
		s = append(s, p.Name)
	}
	return strings.Join(s, " ")
}

// pop pops a pod.
func pop(t *testing.T, q *classic.Queue) *queue.PodInfo {
	t.Helper()
	info, err := q.Pop()
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// fail pops a pod and fails its attempt, rejected by plugins.
func fail(t *testing.T, q *classic.Queue, plugins ...string) *v1.Pod {
	t.Helper()
	info := pop(t, q)
	info.UnschedulablePlugins = plugins
	check(t, q.AddUnschedulableIfNotPresent(info, q.SchedulingCycle()))
	return info.Pod
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func tierOf(q *classic.Queue, pod *v1.Pod) queue.Tier {
	info, _ := q.Get(pod.Namespace, pod.Name)
	return info.Tier
}

// TestPopWaits checks that Pop blocks until there is a pod.
func TestPopWaits(t *testing.T) {
	wakes := map[string]func(q *classic.Queue, rejected *v1.Pod) error{
		"Add": func(q *classic.Queue, _ *v1.Pod) error { return q.Add(newPod("new")) },
		"Update of an unknown pod": func(q *classic.Queue, _ *v1.Pod) error {
			return q.Update(newPod("new"), newPod("new"))
		},
		"a move request": func(q *classic.Queue, _ *v1.Pod) error {
			return q.MoveAllToActiveOrBackoffQueue(nodeAdd, nil, &v1.Node{}, nil)
		},
		"Activate": func(q *classic.Queue, rejected *v1.Pod) error {
			return q.Activate(map[string]*v1.Pod{"default/rejected": rejected})
		},
	}
	for name, wake := range wakes {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := classic.New(queue.Defaults())
				check(t, q.Add(newPod("rejected")))
				rejected := fail(t, q, "A")
				popped := false
				go func() {
					_, err := q.Pop()
					popped = err == nil
				}()
				synctest.Wait()
				if popped {
					t.Fatal("Pop found a pod in an empty queue")
				}
				check(t, wake(q, rejected))
				synctest.Wait()
				if !popped {
					t.Fatal("Pop still waits")
				}
			})
		})
	}
}

// TestPopClearsRejectors checks that Pop's result does not contain the plugins of the previous attempt, so that it can
// be returned to the queue after an error.
func TestPopClearsRejectors(t *testing.T) {
	q := classic.New(queue.Defaults())
	check(t, q.Add(newPod("a")))
	pod := fail(t, q, "A")
	check(t, q.Activate(map[string]*v1.Pod{"default/a": pod}))
	check(t, q.AddUnschedulableIfNotPresent(pop(t, q), q.SchedulingCycle()))
	if info, _ := q.Get("default", "a"); info.ConsecutiveErrorsCount != 1 || info.UnschedulableCount != 1 {
		t.Errorf("%d rejections and %d errors, want 1 and 1", info.UnschedulableCount, info.ConsecutiveErrorsCount)
	}
}

// TestClose checks that Close ends all waiting calls of Pop, and that Pop still returns pods afterwards.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := classic.New(queue.Defaults())
		var mu sync.Mutex
		var ended []error
		for range 3 {
			go func() {
				_, err := q.Pop()
				mu.Lock()
				defer mu.Unlock()
				ended = append(ended, err)
			}()
		}
		synctest.Wait()
		if len(ended) > 0 {
			t.Fatal("Pop did not wait")
		}
		q.Close()
		q.Close()
		synctest.Wait()
		if want := []error{classic.ErrClosed, classic.ErrClosed, classic.ErrClosed}; !slices.Equal(ended, want) {
			t.Fatalf("the waiting calls of Pop returned %v", ended)
		}

		check(t, q.Add(newPod("late")))
		if got := pop(t, q).Pod.Name; got != "late" {
			t.Errorf("popped %s", got)
		}
		if _, err := q.Pop(); !errors.Is(err, classic.ErrClosed) {
			t.Errorf("Pop of a closed and empty queue: %v", err)
		}
	})
}

// TestPending checks the lists and numbers of waiting pods and of pods in flight.
func TestPending(t *testing.T) {
	q := classic.New(queue.Defaults())
	gated := newPod("gated")
	gated.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "wait"}}
	for _, pod := range []*v1.Pod{newPod("rejected"), newPod("failed"), gated} {
		check(t, q.Add(pod))
	}
	fail(t, q, "A")
	fail(t, q)
	for _, name := range []string{"popped", "ready"} {
		check(t, q.Add(newPod(name)))
	}
	pop(t, q)

	pods, summary := q.PendingPods()
	if got := names(pods); got != "ready failed rejected gated" && got != "ready failed gated rejected" {
		t.Errorf("pending: %s", got)
	}
	if want := "activeQ:1; backoffQ:1; unschedulableEntities:2"; summary != want {
		t.Errorf("%s, want %s", summary, want)
	}
	if got := q.NumUnschedulablePods(); got != 2 {
		t.Errorf("%d unschedulable pods, want 2", got)
	}
	if got := names(q.InFlightPods()); got != "popped" {
		t.Errorf("in flight: %s", got)
	}
	if got := q.SchedulingCycle(); got != 3 {
		t.Errorf("scheduling cycle %d, want 3", got)
	}
}

// TestPendingRecreated checks that the end of an attempt does not affect a new pod of the same name.
func TestPendingRecreated(t *testing.T) {
	q := classic.New(queue.Defaults())
	check(t, q.Add(newPod("a")))
	old := pop(t, q).Pod
	check(t, q.Delete(old))
	again := newPod("a")
	again.UID = "another"
	check(t, q.Add(again))
	q.Done(old.UID)
	if pods, _ := q.PendingPods(); len(pods) != 1 || pods[0] != again {
		t.Errorf("pending: %s", names(pods))
	}
	check(t, q.Delete(again))
	if pods, _ := q.PendingPods(); len(pods) != 0 {
		t.Errorf("pending after its deletion: %s", names(pods))
	}
}

func TestNominations(t *testing.T) {
	q := classic.New(queue.Defaults())
	a, b := newPod("a"), newPod("b")
	b.Status.NominatedNodeName = "node-1"
	check(t, q.Add(a))
	check(t, q.Add(b))
	check(t, q.AddNominatedPod(a, "node-1"))
	if got := names(q.NominatedPodsForNode("node-1")); got != "b a" {
		t.Errorf("nominated: %s", got)
	}
	// An update keeps a nomination that is not in the pod's status.
	labelled := newPod("a")
	labelled.Labels = map[string]string{"tier": "web"}
	check(t, q.Update(a, labelled))
	check(t, q.DeleteNominatedPodIfExists(b))
	if got := q.NominatedPodsForNode("node-1"); len(got) != 1 || got[0] != labelled {
		t.Errorf("nominated: %s", names(got))
	}
	check(t, q.Delete(labelled))
	if got := q.NominatedPodsForNode("node-1"); len(got) != 0 {
		t.Errorf("nominated after its deletion: %s", names(got))
	}
}

// TestNominatedPodsDuringMoveRequest checks that NominatedPodsForNode does not wait for a move request.
func TestNominatedPodsDuringMoveRequest(t *testing.T) {
	q := classic.New(queue.Defaults())
	check(t, q.Add(newPod("a")))
	a := fail(t, q, "A")
	check(t, q.AddNominatedPod(a, "node-1"))
	check(t, q.MoveAllToActiveOrBackoffQueue(nodeAdd, nil, nil, func(*v1.Pod) bool {
		nominated := make(chan []*v1.Pod)
		go func() { nominated <- q.NominatedPodsForNode("node-1") }()
		if got := <-nominated; names(got) != "a" {
			t.Errorf("nominated: %s", names(got))
		}
		return true
	}))
}

// TestMisuse checks that invalid calls return an error and do not change the queue.
func TestMisuse(t *testing.T) {
	a, b := newPod("a"), newPod("b")
	unpopped := &queue.PodInfo{Pod: newPod("unpopped"), UnschedulablePlugins: []string{"A"}}
	for name, c := range map[string]struct {
		call func(q *classic.Queue) error
		want string // in the error
		kept string // pods in the queue afterwards
	}{
		"Add nil":                        {func(q *classic.Queue) error { return q.Add(nil) }, "the pod is nil", "a"},
		"Delete nil":                     {func(q *classic.Queue) error { return q.Delete(nil) }, "the pod is nil", "a"},
		"Update from nil":                {func(q *classic.Queue) error { return q.Update(nil, a) }, "the old or new pod is nil", "a"},
		"Update to another name":         {func(q *classic.Queue) error { return q.Update(a, b) }, "cannot update pod default/a to default/b", "a"},
		"AssignedPodAdded nil":           {func(q *classic.Queue) error { return q.AssignedPodAdded(nil) }, "the pod is nil", "a"},
		"AssignedPodUpdated to nil":      {func(q *classic.Queue) error { return q.AssignedPodUpdated(a, nil) }, "the old or new pod is nil", "a"},
		"AssignedPodDeleted nil":         {func(q *classic.Queue) error { return q.AssignedPodDeleted(nil) }, "the pod is nil", "a"},
		"Activate nil":                   {func(q *classic.Queue) error { return q.Activate(map[string]*v1.Pod{"default/x": nil}) }, `"default/x"`, "a"},
		"AddNominatedPod nil":            {func(q *classic.Queue) error { return q.AddNominatedPod(nil, "node-1") }, "the pod is nil", "a"},
		"DeleteNominatedPodIfExists nil": {func(q *classic.Queue) error { return q.DeleteNominatedPodIfExists(nil) }, "the pod is nil", "a"},
		"failure without info":           {func(q *classic.Queue) error { return q.AddUnschedulableIfNotPresent(nil, 0) }, "pass the result of Pop", "a"},
		"failure without a pod":          {func(q *classic.Queue) error { return q.AddUnschedulableIfNotPresent(&queue.PodInfo{}, 0) }, "the pod is nil", "a"},
		"failure of a queued pod":        {func(q *classic.Queue) error { return q.AddUnschedulableIfNotPresent(&queue.PodInfo{Pod: a}, 0) }, "already present", "a"},
		"failure without a pop":          {func(q *classic.Queue) error { return q.AddUnschedulableIfNotPresent(unpopped, 0) }, "never popped", "a unpopped"},
		"a second Add":                   {func(q *classic.Queue) error { return q.Add(newPod("a")) }, "", "a"},
		"Delete of an unknown pod":       {func(q *classic.Queue) error { return q.Delete(b) }, "", "a"},
		"Done of an unknown pod":         {func(q *classic.Queue) error { q.Done("nobody"); return nil }, "", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			q := classic.New(queue.Defaults())
			check(t, q.Add(a))
			err := c.call(q)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			pods, _ := q.PendingPods()
			if got := strings.Fields(names(pods)); strings.Join(slices.Sorted(slices.Values(got)), " ") != c.kept {
				t.Errorf("the queue has %s, want %s", got, c.kept)
			}
		})
	}
}

// TestClockGoesBack checks that scheduling continues when the clock goes backwards.
func TestClockGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newClock()
		q := classic.New(queue.Defaults(), classic.WithClock(clock))
		check(t, q.Add(newPod("a")))
		fail(t, q, "A")
		clock.SetTime(clock.Now().Add(-time.Hour))
		check(t, q.MoveAllToActiveOrBackoffQueue(nodeAdd, nil, nil, nil))
		if got := pop(t, q).Pod.Name; got != "a" {
			t.Errorf("popped %s", got)
		}
	})
}
