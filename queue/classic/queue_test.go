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

// The methods of v1.19's SchedulingQueue, with today's types of what they take, and those of later releases.
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

// pop returns the name of the pod at the head of the queue.
func pop(t *testing.T, q *classic.Queue) *queue.PodInfo {
	t.Helper()
	info, err := q.Pop()
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// fail pops a pod and returns it rejected by plugins.
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

// TestPopWaits: Pop blocks while there is nothing to pop, and takes what comes.
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

// TestPopForgetsRejectors: what Pop returns can be returned after an error without naming plugins, which
// the attempt before had.
func TestPopForgetsRejectors(t *testing.T) {
	q := classic.New(queue.Defaults())
	check(t, q.Add(newPod("a")))
	pod := fail(t, q, "A")
	check(t, q.Activate(map[string]*v1.Pod{"default/a": pod}))
	check(t, q.AddUnschedulableIfNotPresent(pop(t, q), q.SchedulingCycle()))
	if info, _ := q.Get("default", "a"); info.ConsecutiveErrorsCount != 1 || info.UnschedulableCount != 1 {
		t.Errorf("%d rejections and %d errors, want 1 and 1", info.UnschedulableCount, info.ConsecutiveErrorsCount)
	}
}

// TestClose: the pods that are ready are popped first; then every Pop ends, those that wait too.
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
			t.Fatalf("the waiting Pops ended with %v", ended)
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

// TestPending: who is where.
func TestPending(t *testing.T) {
	q := classic.New(queue.Defaults())
	gated := newPod("gated")
	gated.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "wait"}}
	for _, pod := range []*v1.Pod{newPod("rejected"), newPod("erring"), gated} {
		check(t, q.Add(pod))
	}
	fail(t, q, "A")
	fail(t, q)
	for _, name := range []string{"flying", "ready"} {
		check(t, q.Add(newPod(name)))
	}
	pop(t, q)

	pods, summary := q.PendingPods()
	if got := names(pods); got != "ready erring rejected gated" && got != "ready erring gated rejected" {
		t.Errorf("pending: %s", got)
	}
	if want := "activeQ:1; backoffQ:1; unschedulableEntities:2"; summary != want {
		t.Errorf("%s, want %s", summary, want)
	}
	if got := q.NumUnschedulablePods(); got != 2 {
		t.Errorf("%d unschedulable pods, want 2", got)
	}
	if got := names(q.InFlightPods()); got != "flying" {
		t.Errorf("in flight: %s", got)
	}
	if got := q.SchedulingCycle(); got != 3 {
		t.Errorf("scheduling cycle %d, want 3", got)
	}
}

// TestPendingRecreated: the end of an attempt does not hide a new pod of the same name.
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
	// A nomination that only the scheduler knows of outlives an update of the pod.
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

// TestNominationsAreNotHeldUp: who asks for the pods nominated for a node, as each attempt does of each node, waits for no other
// method: not for a move request of many pods either.
func TestNominationsAreNotHeldUp(t *testing.T) {
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

// TestMistakes: what makes no sense is an error and leaves the queue as it was.
func TestMistakes(t *testing.T) {
	a, b := newPod("a"), newPod("b")
	unpopped := &queue.PodInfo{Pod: newPod("unpopped"), UnschedulablePlugins: []string{"A"}}
	for name, c := range map[string]struct {
		call func(q *classic.Queue) error
		want string // in the error
		kept string // the pods that the queue has afterwards
	}{
		"Add of nothing":                 {func(q *classic.Queue) error { return q.Add(nil) }, "there is no pod", "a"},
		"Delete of nothing":              {func(q *classic.Queue) error { return q.Delete(nil) }, "there is no pod", "a"},
		"Update from nothing":            {func(q *classic.Queue) error { return q.Update(nil, a) }, "as it was and as it is", "a"},
		"Update of the name":             {func(q *classic.Queue) error { return q.Update(a, b) }, "default/a cannot become default/b", "a"},
		"AssignedPodAdded of nothing":    {func(q *classic.Queue) error { return q.AssignedPodAdded(nil) }, "there is no pod", "a"},
		"AssignedPodUpdated to nothing":  {func(q *classic.Queue) error { return q.AssignedPodUpdated(a, nil) }, "as it was and as it is", "a"},
		"AssignedPodDeleted of nothing":  {func(q *classic.Queue) error { return q.AssignedPodDeleted(nil) }, "there is no pod", "a"},
		"Activate of nothing":            {func(q *classic.Queue) error { return q.Activate(map[string]*v1.Pod{"default/x": nil}) }, `"default/x"`, "a"},
		"a nomination of nothing":        {func(q *classic.Queue) error { return q.AddNominatedPod(nil, "node-1") }, "there is no pod", "a"},
		"no nomination of nothing":       {func(q *classic.Queue) error { return q.DeleteNominatedPodIfExists(nil) }, "there is no pod", "a"},
		"failure of nothing":             {func(q *classic.Queue) error { return q.AddUnschedulableIfNotPresent(nil, 0) }, "give it what Pop returned", "a"},
		"failure of a pod without a pod": {func(q *classic.Queue) error { return q.AddUnschedulableIfNotPresent(&queue.PodInfo{}, 0) }, "there is no pod", "a"},
		"failure of a queued pod":        {func(q *classic.Queue) error { return q.AddUnschedulableIfNotPresent(&queue.PodInfo{Pod: a}, 0) }, "already present", "a"},
		"failure of a pod never popped":  {func(q *classic.Queue) error { return q.AddUnschedulableIfNotPresent(unpopped, 0) }, "never popped", "a unpopped"},
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

// TestClockGoesBack: a clock that goes back is no reason to stop scheduling.
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
