package classic_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/classic"
)

// hintRecorder are plugins that registered for every event. It records the events that their hints are asked about.
type hintRecorder struct {
	queue.EveryEvent
	asked *[]string
	skip  bool
	err   error
}

func (h hintRecorder) Hint(_ string, _ *v1.Pod, event fwk.ClusterEvent, _, _ any) (fwk.QueueingHint, error) {
	*h.asked = append(*h.asked, event.Label())
	if h.skip {
		return fwk.QueueSkip, h.err
	}
	return fwk.Queue, h.err
}

func assigned(labels map[string]string, cpu string) *v1.Pod {
	pod := newPod("running")
	pod.Labels = labels
	pod.Spec.NodeName = "node-1"
	pod.Spec.Containers = []v1.Container{{Resources: v1.ResourceRequirements{
		Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu)},
	}}}
	return pod
}

// TestAssignedPods checks the events of move requests about assigned pods.
func TestAssignedPods(t *testing.T) {
	running := assigned(nil, "2")
	for name, c := range map[string]struct {
		call func(q *classic.Queue) error
		want string
	}{
		"added":   {func(q *classic.Queue) error { return q.AssignedPodAdded(running) }, "AssignedPodAdd"},
		"deleted": {func(q *classic.Queue) error { return q.AssignedPodDeleted(running) }, "AssignedPodDelete"},
		"new label": {func(q *classic.Queue) error {
			return q.AssignedPodUpdated(running, assigned(map[string]string{"a": "b"}, "2"))
		}, "AssignedPodUpdatePodLabel"},
		"new label, fewer requests": {func(q *classic.Queue) error {
			return q.AssignedPodUpdated(running, assigned(map[string]string{"a": "b"}, "1"))
		}, "AssignedPodUpdatePodLabel AssignedPodUpdatePodScaleDown"},
		"another change": {func(q *classic.Queue) error { return q.AssignedPodUpdated(running, running) }, "AssignedPodUpdate"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			q := classic.New(queue.Defaults(), classic.WithPlugins(hintRecorder{asked: &asked, skip: true}))
			check(t, q.Add(newPod("a")))
			pod := fail(t, q, "A")
			check(t, c.call(q))
			if got := strings.Join(asked, " "); got != c.want {
				t.Errorf("the hint was asked about %s, want %s", got, c.want)
			}
			if got := tierOf(q, pod); got != queue.Unschedulable {
				t.Errorf("the pod moved to %s although the hint returned QueueSkip", got)
			}
		})
	}
}

// TestAssignedPodsBeforeHints checks that until v1.28, an added or updated pod moves only the pods with an affinity to
// it, and a deleted one moves all.
func TestAssignedPodsBeforeHints(t *testing.T) {
	running := assigned(map[string]string{"app": "db"}, "1")
	for name, c := range map[string]struct {
		call func(q *classic.Queue) error
		want string // pods that move
	}{
		"added":   {func(q *classic.Queue) error { return q.AssignedPodAdded(running) }, "near-db"},
		"changed": {func(q *classic.Queue) error { return q.AssignedPodUpdated(running, running) }, "near-db"},
		"another": {func(q *classic.Queue) error {
			return q.AssignedPodAdded(assigned(map[string]string{"app": "web"}, "1"))
		}, ""},
		"deleted": {func(q *classic.Queue) error { return q.AssignedPodDeleted(running) }, "alone near-db"},
	} {
		for _, release := range []string{"v1.16", "v1.19", "v1.28"} {
			t.Run(name+" "+release, func(t *testing.T) {
				opts, err := queue.ForRelease(release)
				check(t, err)
				q := classic.New(opts)
				near := newPod("near-db")
				near.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{
					RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{
						TopologyKey:   "zone",
						LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}},
					}},
				}}
				pods := []*v1.Pod{newPod("alone"), near}
				for _, pod := range pods {
					check(t, q.Add(pod))
					fail(t, q, "A")
				}
				check(t, c.call(q))
				pods = slices.DeleteFunc(pods, func(pod *v1.Pod) bool { return tierOf(q, pod) == queue.Unschedulable })
				if got := names(pods); got != c.want {
					t.Errorf("moved: %q, want %q", got, c.want)
				}
			})
		}
	}
}

// TestInvalidAffinity checks that an invalid affinity is an error, and that the pod does not move.
func TestInvalidAffinity(t *testing.T) {
	opts, err := queue.ForRelease("v1.19")
	check(t, err)
	q := classic.New(opts)
	pod := newPod("a")
	pod.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"!": "!"}},
		}},
	}}
	check(t, q.Add(pod))
	fail(t, q, "A")
	if err := q.AssignedPodAdded(assigned(nil, "1")); err == nil || !strings.Contains(err.Error(), "default/a") {
		t.Errorf("error %v", err)
	}
	if got := tierOf(q, pod); got != queue.Unschedulable {
		t.Errorf("the pod is %s", got)
	}
}

// TestUpdate checks that the queue derives the events of an update.
func TestUpdate(t *testing.T) {
	var asked []string
	q := classic.New(queue.Defaults(), classic.WithPlugins(hintRecorder{asked: &asked}))
	gated := newPod("a")
	gated.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "wait"}}
	check(t, q.Add(gated))
	if got := tierOf(q, gated); got != queue.Gated {
		t.Fatalf("a pod with a gate is %s, want gated", got)
	}
	open := newPod("a")
	check(t, q.Update(gated, open))
	if got := tierOf(q, open); got != queue.Active {
		t.Errorf("after the removal of its gate, the pod is %s, want active", got)
	}
	if want := []string{"TargetPodUpdatePodSchedulingGatesEliminated"}; !slices.Equal(asked, want) {
		t.Errorf("the hint was asked about %s, want %s", asked, want)
	}
}

// TestUpdateInFlight checks that an update during an attempt counts when the attempt fails.
func TestUpdateInFlight(t *testing.T) {
	q := classic.New(queue.Defaults())
	check(t, q.Add(newPod("a")))
	info := pop(t, q)
	labelled := newPod("a")
	labelled.Labels = map[string]string{"tier": "web"}
	check(t, q.Update(info.Pod, labelled))
	info.Pod, info.UnschedulablePlugins = labelled, []string{"A"}
	check(t, q.AddUnschedulableIfNotPresent(info, q.SchedulingCycle()))
	if got := tierOf(q, labelled); got != queue.Backoff {
		t.Errorf("the pod is %s, want backoff", got)
	}
}

// TestPreCheck checks that preCheck excludes pods from a move request.
func TestPreCheck(t *testing.T) {
	q := classic.New(queue.Defaults())
	check(t, q.Add(newPod("a")))
	check(t, q.Add(newPod("b")))
	a, b := fail(t, q, "A"), fail(t, q, "A")
	check(t, q.MoveAllToActiveOrBackoffQueue(nodeAdd, nil, nil, func(pod *v1.Pod) bool { return pod.Name == "a" }))
	if tierOf(q, a) != queue.Backoff || tierOf(q, b) != queue.Unschedulable {
		t.Errorf("a is in %s, b in %s", tierOf(q, a), tierOf(q, b))
	}
}

// TestHintFails checks that a call returns its hints' errors once for all pods, and that the pods move.
func TestHintFails(t *testing.T) {
	broken := errors.New("broken")
	var asked []string
	q := classic.New(queue.Defaults(), classic.WithPlugins(hintRecorder{asked: &asked, err: broken}))
	for _, name := range []string{"a", "b", "c"} {
		check(t, q.Add(newPod(name)))
	}
	a := fail(t, q, "A")
	fail(t, q, "A")
	fail(t, q, "A")
	err := q.MoveAllToActiveOrBackoffQueue(nodeAdd, nil, nil, nil)
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "and 2 more failures") {
		t.Errorf("error %v", err)
	}
	if got := tierOf(q, a); got != queue.Backoff {
		t.Errorf("the pod is %s, want backoff", got)
	}
	check(t, q.Add(newPod("d"))) // must not return the error again
}

// TestActivate checks that activated pods skip their backoff, in the order of the keys.
func TestActivate(t *testing.T) {
	var observer log
	q := classic.New(queue.Defaults(), classic.WithObserver(&observer))
	pods := map[string]*v1.Pod{}
	for _, name := range []string{"c", "b", "a"} {
		check(t, q.Add(newPod(name)))
		pods["default/"+name] = fail(t, q)
	}
	observer.moves = nil
	check(t, q.Activate(pods))
	want := []string{
		"a backoff → active ForceActivate",
		"b backoff → active ForceActivate",
		"c backoff → active ForceActivate",
	}
	if !slices.Equal(observer.moves, want) {
		t.Errorf("observed %q", observer.moves)
	}
}
