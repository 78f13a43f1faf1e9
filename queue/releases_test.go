package queue_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/queue"
	fwk "k8s.io/kube-scheduler/framework"
)

// errorRecorder records the errors that upstream would log.
type errorRecorder struct{ errs []error }

func (r *errorRecorder) Moved(queue.Transition) {}
func (r *errorRecorder) Failed(err error)       { r.errs = append(r.errs, err) }

// withAffinity returns a pod with a required affinity to pods labelled app=name, or without affinity if name is empty.
func withAffinity(name string, operator metav1.LabelSelectorOperator) *v1.Pod {
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "waits", UID: "waits"}}
	if name != "" {
		pod.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{
			LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: operator, Values: []string{name}}}},
			TopologyKey:   "zone",
		}}}}
	}
	return pod
}

// TestAssignedPodsWake checks which pods an event about an assigned pod wakes in releases before hints: those with a
// matching required affinity and, in v1.31, those in its namespace that PodTopologySpread rejected.
func TestAssignedPodsWake(t *testing.T) {
	assigned := func(action fwk.ActionType) fwk.ClusterEvent {
		return fwk.ClusterEvent{Resource: fwk.AssignedPod, ActionType: action}
	}
	for name, c := range map[string]struct {
		affinity  string
		by        string
		namespace string // of the assigned pod; the waiting pod's is "shop"
		event     fwk.ClusterEvent
		wakes     []string // releases
	}{
		"affinity":                  {"web", "InterPodAffinity", "shop", assigned(fwk.Add), []string{"v1.30", "v1.31", "v1.32"}},
		"affinity, an update":       {"web", "InterPodAffinity", "shop", assigned(fwk.UpdatePodLabel), []string{"v1.30", "v1.31", "v1.32"}},
		"affinity to another":       {"db", "InterPodAffinity", "shop", assigned(fwk.Add), []string{"v1.32"}},
		"affinity, other namespace": {"web", "InterPodAffinity", "bank", assigned(fwk.Add), []string{"v1.32"}},
		"spread":                    {"", "PodTopologySpread", "shop", assigned(fwk.Add), []string{"v1.31", "v1.32"}},
		"spread, other namespace":   {"", "PodTopologySpread", "bank", assigned(fwk.Add), []string{"v1.32"}},
		"neither":                   {"", "NodeResourcesFit", "shop", assigned(fwk.Add), []string{"v1.32"}},
		"deletion":                  {"", "NodeResourcesFit", "shop", assigned(fwk.Delete), []string{"v1.30", "v1.31", "v1.32"}},
		"an event about the pod":    {"", "NodeResourcesFit", "shop", fwk.ClusterEvent{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodLabel}, []string{"v1.30", "v1.31", "v1.32"}},
	} {
		for _, release := range []string{"v1.30", "v1.31", "v1.32"} {
			q := queue.New(mustRelease(t, release), nil, nil)
			pod := withAffinity(c.affinity, metav1.LabelSelectorOpIn)
			q.Add(noon, pod)
			q.Pop(noon)
			fail(t, q, noon, pod, c.by)
			other := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "other", Labels: map[string]string{"app": "web"}}}
			q.MoveAllToActiveOrBackoffQueue(noon.Add(time.Minute), c.event, nil, other, nil)
			info, _ := q.Get("shop", "waits")
			if woken := info.Tier != queue.Unschedulable; woken != slices.Contains(c.wakes, release) {
				t.Errorf("%s, %s: the pod is %s", release, name, info.Tier)
			}
		}
	}
}

// TestInvalidAffinity checks that a pod with an invalid affinity does not move, and that the error is reported.
func TestInvalidAffinity(t *testing.T) {
	observer := &errorRecorder{}
	q := queue.New(mustRelease(t, "v1.31"), nil, observer)
	pod := withAffinity("web", "Resembles")
	q.Add(noon, pod)
	q.Pop(noon)
	fail(t, q, noon, pod, "InterPodAffinity")
	other := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "other", Labels: map[string]string{"app": "web"}}}
	q.MoveAllToActiveOrBackoffQueue(noon, fwk.ClusterEvent{Resource: fwk.AssignedPod, ActionType: fwk.Add}, nil, other, nil)
	if info, _ := q.Get("shop", "waits"); info.Tier != queue.Unschedulable || len(observer.errs) != 1 || errors.Unwrap(observer.errs[0]) == nil {
		t.Errorf("the pod is %s, errors: %v", info.Tier, observer.errs)
	}
}

// TestIgnoredUpdates checks that changes of the status and of the API server's metadata do not requeue a pod in v1.31.
func TestIgnoredUpdates(t *testing.T) {
	claim := "claim"
	for name, c := range map[string]struct {
		change func(*v1.Pod)
		wakes  bool
	}{
		"version":    {func(p *v1.Pod) { p.ResourceVersion = "7" }, false},
		"generation": {func(p *v1.Pod) { p.Generation = 7 }, false},
		"fields":     {func(p *v1.Pod) { p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}} }, false},
		"finalizers": {func(p *v1.Pod) { p.Finalizers = []string{"a/b"} }, false},
		"condition":  {func(p *v1.Pod) { p.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled}} }, false},
		"label":      {func(p *v1.Pod) { p.Labels = map[string]string{"a": "b"} }, true},
		"claim": {func(p *v1.Pod) {
			p.Status.ResourceClaimStatuses = []v1.PodResourceClaimStatus{{Name: "gpu", ResourceClaimName: &claim}}
		}, true},
	} {
		q := queue.New(mustRelease(t, "v1.31"), nil, nil)
		pod := withAffinity("", "")
		q.Add(noon, pod)
		q.Pop(noon)
		fail(t, q, noon, pod, "A")
		changed := pod.DeepCopy()
		c.change(changed)
		q.Update(noon, pod, changed, nil)
		if info, _ := q.Get("shop", "waits"); (info.Tier != queue.Unschedulable) != c.wakes || info.Pod != changed {
			t.Errorf("%s: the pod is %s", name, info.Tier)
		}
	}
}

// TestIn checks that In applies a release's rules and defaults and keeps configured options.
func TestIn(t *testing.T) {
	all := queue.Releases()
	if all[0] != "v1.37" || all[len(all)-1] != "v1.16" {
		t.Errorf("Releases() = %q", all)
	}
	configured := queue.Defaults()
	configured.PodInitialBackoff, configured.PodMaxBackoff, configured.PodMaxInUnschedulablePods = 2*time.Second, 20*time.Second, 3*time.Minute
	withoutGate := queue.Defaults()
	withoutGate.PopFromBackoffQ = false
	for name, c := range map[string]struct {
		opts    queue.Options
		release string
		want    func(*queue.Options)
	}{
		"defaults": {queue.Defaults(), "v1.16", func(*queue.Options) {}},
		"configured": {configured, "v1.16", func(o *queue.Options) {
			o.PodInitialBackoff, o.PodMaxBackoff, o.PodMaxInUnschedulablePods = 2*time.Second, 20*time.Second, 3*time.Minute
		}},
		"gate off":        {withoutGate, "v1.35", func(o *queue.Options) { o.PopFromBackoffQ = false }},
		"before the gate": {queue.Defaults(), "v1.32", func(*queue.Options) {}},
		"gate on":         {queue.Defaults(), "v1.34", func(*queue.Options) {}},
	} {
		want := mustRelease(t, c.release)
		c.want(&want)
		if got, err := c.opts.In(c.release); err != nil || got != want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if got, err := configured.In("v1.2"); err == nil || got != configured {
		t.Errorf("In an unknown release: %+v, %v", got, err)
	}
}

// TestReleaseFor checks the preset for a version.
func TestReleaseFor(t *testing.T) {
	for version, want := range map[string]struct {
		name  string
		exact bool
	}{
		"v1.37.1": {"v1.37", true}, "v1.36.0": {"v1.36", true}, "v1.35.0": {"v1.35", true}, "v1.34.3": {"v1.34", true},
		"v1.33.5-gke.100": {"v1.33", true}, "v1.32.9": {"v1.32", true}, "v1.31.4": {"v1.31", true}, "v1.29.0": {"v1.29", true}, "v1.27.0": {"v1.28", true},
		"v1.25.0": {"v1.24", true}, "v1.23.17": {"v1.23", true}, "v1.22.0": {"v1.23", true}, "v1.21.14": {"v1.19", true},
		"v1.18.20": {"v1.19", true}, "v1.17.17": {"v1.16", true}, "v1.16.15": {"v1.16", true},
		"v1.38.0": {"v1.37", false}, "v1.9.0": {"v1.16", false}, "": {"", false}, "1.37": {"", false}, "v2.0.0": {"", false},
	} {
		if name, exact := queue.ReleaseFor(version); name != want.name || exact != want.exact {
			t.Errorf("ReleaseFor(%q) = %q, %t, want %q, %t", version, name, exact, want.name, want.exact)
		}
	}
}
