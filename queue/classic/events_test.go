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

// hints is a framework whose plugins register for every event. It notes the events that their hints are
// asked about.
type hints struct {
	queue.EveryEvent
	asked *[]string
	skip  bool
	err   error
}

func (h hints) Hint(_ string, _ *v1.Pod, event fwk.ClusterEvent, _, _ any) (fwk.QueueingHint, error) {
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

// TestAssignedPods: what happens to a pod with a node is a move request, whose event says what it was.
func TestAssignedPods(t *testing.T) {
	running := assigned(nil, "2")
	for name, c := range map[string]struct {
		call func(q *classic.Queue) error
		want string
	}{
		"added":   {func(q *classic.Queue) error { return q.AssignedPodAdded(running) }, "AssignedPodAdd"},
		"deleted": {func(q *classic.Queue) error { return q.AssignedPodDeleted(running) }, "AssignedPodDelete"},
		"relabels": {func(q *classic.Queue) error {
			return q.AssignedPodUpdated(running, assigned(map[string]string{"a": "b"}, "2"))
		}, "AssignedPodUpdatePodLabel"},
		"relabels and shrinks": {func(q *classic.Queue) error {
			return q.AssignedPodUpdated(running, assigned(map[string]string{"a": "b"}, "1"))
		}, "AssignedPodUpdatePodLabel AssignedPodUpdatePodScaleDown"},
		"something else": {func(q *classic.Queue) error { return q.AssignedPodUpdated(running, running) }, "AssignedPodUpdate"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			q := classic.New(queue.Defaults(), classic.WithPlugins(hints{asked: &asked, skip: true}))
			check(t, q.Add(newPod("a")))
			pod := fail(t, q, "A")
			check(t, c.call(q))
			if got := strings.Join(asked, " "); got != c.want {
				t.Errorf("the hint was asked about %s, want %s", got, c.want)
			}
			if got := tierOf(q, pod); got != queue.Unschedulable {
				t.Errorf("the pod moved to %s though the hint said no", got)
			}
		})
	}
}

// TestAssignedPodsBeforeHints: up to v1.28, a pod that gets a node or changes moves only those that want to be
// near it; one that goes moves all.
func TestAssignedPodsBeforeHints(t *testing.T) {
	running := assigned(map[string]string{"app": "db"}, "1")
	for name, c := range map[string]struct {
		call func(q *classic.Queue) error
		want string // who moves
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

// TestUnreadableAffinity: a pod whose affinity makes no sense stays, and that is an error.
func TestUnreadableAffinity(t *testing.T) {
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
		t.Errorf("the pod is in %s", got)
	}
}

// TestUpdate: the queue works out itself what a pod's update means to the plugins that rejected it.
func TestUpdate(t *testing.T) {
	var asked []string
	q := classic.New(queue.Defaults(), classic.WithPlugins(hints{asked: &asked}))
	gated := newPod("a")
	gated.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "wait"}}
	check(t, q.Add(gated))
	if got := tierOf(q, gated); got != queue.Gated {
		t.Fatalf("a pod with a gate is in %s", got)
	}
	open := newPod("a")
	check(t, q.Update(gated, open))
	if got := tierOf(q, open); got != queue.Active {
		t.Errorf("after its gate opened, the pod is in %s", got)
	}
	if want := []string{"TargetPodUpdatePodSchedulingGatesEliminated"}; !slices.Equal(asked, want) {
		t.Errorf("the hint was asked about %s, want %s", asked, want)
	}
}

// TestUpdateInFlight: what happens to a pod during its attempt counts when that fails.
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
		t.Errorf("the pod is in %s, want backoff", got)
	}
}

// TestPreCheck: a move request can leave pods out.
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

// TestHintFails: a hint's error is returned by the call that asked it, once however many pods it was asked
// for; the pods move.
func TestHintFails(t *testing.T) {
	broken := errors.New("broken")
	var asked []string
	q := classic.New(queue.Defaults(), classic.WithPlugins(hints{asked: &asked, err: broken}))
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
		t.Errorf("the pod is in %s, want backoff", got)
	}
	check(t, q.Add(newPod("d"))) // the next call does not repeat it
}

// TestActivate: whoever is activated skips its backoff, and the order is that of the keys.
func TestActivate(t *testing.T) {
	var told log
	q := classic.New(queue.Defaults(), classic.WithObserver(&told))
	pods := map[string]*v1.Pod{}
	for _, name := range []string{"c", "b", "a"} {
		check(t, q.Add(newPod(name)))
		pods["default/"+name] = fail(t, q)
	}
	told.moves = nil
	check(t, q.Activate(pods))
	want := []string{
		"a backoff → active ForceActivate",
		"b backoff → active ForceActivate",
		"c backoff → active ForceActivate",
	}
	if !slices.Equal(told.moves, want) {
		t.Errorf("told %q", told.moves)
	}
}
