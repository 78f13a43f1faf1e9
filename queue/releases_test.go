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

// failures keeps what upstream would log as errors.
type failures struct{ errs []error }

func (f *failures) Moved(queue.Transition) {}
func (f *failures) Failed(err error)       { f.errs = append(f.errs, err) }

// waitsFor returns a pod with a required affinity to pods labelled app=name; without a name, to none.
func waitsFor(name string, operator metav1.LabelSelectorOperator) *v1.Pod {
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "waits", UID: "waits"}}
	if name != "" {
		pod.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{
			LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: operator, Values: []string{name}}}},
			TopologyKey:   "zone",
		}}}}
	}
	return pod
}

// TestAssignedPodsWake: whom a pod that got a node wakes, before hints: those with a required affinity to it and, in v1.31, those of
// its namespace that PodTopologySpread rejected.
func TestAssignedPodsWake(t *testing.T) {
	assigned := func(action fwk.ActionType) fwk.ClusterEvent {
		return fwk.ClusterEvent{Resource: fwk.AssignedPod, ActionType: action}
	}
	for name, c := range map[string]struct {
		affinity  string
		by        string
		namespace string // of the pod that got a node; "shop" is the waiting one's
		event     fwk.ClusterEvent
		wakes     []string // of these releases
	}{
		"affinity":                  {"web", "InterPodAffinity", "shop", assigned(fwk.Add), []string{"v1.30", "v1.31", "v1.32"}},
		"affinity, an update":       {"web", "InterPodAffinity", "shop", assigned(fwk.UpdatePodLabel), []string{"v1.30", "v1.31", "v1.32"}},
		"affinity to another":       {"db", "InterPodAffinity", "shop", assigned(fwk.Add), []string{"v1.32"}},
		"affinity, other namespace": {"web", "InterPodAffinity", "bank", assigned(fwk.Add), []string{"v1.32"}},
		"spread":                    {"", "PodTopologySpread", "shop", assigned(fwk.Add), []string{"v1.31", "v1.32"}},
		"spread, other namespace":   {"", "PodTopologySpread", "bank", assigned(fwk.Add), []string{"v1.32"}},
		"neither":                   {"", "NodeResourcesFit", "shop", assigned(fwk.Add), []string{"v1.32"}},
		"a pod that goes":           {"", "NodeResourcesFit", "shop", assigned(fwk.Delete), []string{"v1.30", "v1.31", "v1.32"}},
		"the pod itself":            {"", "NodeResourcesFit", "shop", fwk.ClusterEvent{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodLabel}, []string{"v1.30", "v1.31", "v1.32"}},
	} {
		for _, release := range []string{"v1.30", "v1.31", "v1.32"} {
			opts, err := queue.ForRelease(release)
			if err != nil {
				t.Fatal(err)
			}
			q := queue.New(opts, nil, nil)
			pod := waitsFor(c.affinity, metav1.LabelSelectorOpIn)
			q.Add(noon, pod)
			q.Pop(noon)
			if err := q.AddUnschedulableIfNotPresent(noon, pod, queue.Rejection{UnschedulablePlugins: []string{c.by}}); err != nil {
				t.Fatal(err)
			}
			other := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "other", Labels: map[string]string{"app": "web"}}}
			q.MoveAllToActiveOrBackoffQueue(noon.Add(time.Minute), c.event, nil, other, nil)
			info, _ := q.Get("shop", "waits")
			if woken := info.Tier != queue.Unschedulable; woken != slices.Contains(c.wakes, release) {
				t.Errorf("%s, %s: the pod is %s", release, name, info.Tier)
			}
		}
	}
}

// TestAffinityThatCannotBeRead: such a pod stays, and it is said why.
func TestAffinityThatCannotBeRead(t *testing.T) {
	opts, err := queue.ForRelease("v1.31")
	if err != nil {
		t.Fatal(err)
	}
	said := &failures{}
	q := queue.New(opts, nil, said)
	pod := waitsFor("web", "Resembles")
	q.Add(noon, pod)
	q.Pop(noon)
	if err := q.AddUnschedulableIfNotPresent(noon, pod, queue.Rejection{UnschedulablePlugins: []string{"InterPodAffinity"}}); err != nil {
		t.Fatal(err)
	}
	other := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "other", Labels: map[string]string{"app": "web"}}}
	q.MoveAllToActiveOrBackoffQueue(noon, fwk.ClusterEvent{Resource: fwk.AssignedPod, ActionType: fwk.Add}, nil, other, nil)
	if info, _ := q.Get("shop", "waits"); info.Tier != queue.Unschedulable || len(said.errs) != 1 || errors.Unwrap(said.errs[0]) == nil {
		t.Errorf("the pod is %s, and said was %v", info.Tier, said.errs)
	}
}

// TestWhatIsNoUpdate: what the API server keeps for itself, and the status, wake nobody in v1.31; what is asked for does.
func TestWhatIsNoUpdate(t *testing.T) {
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
		opts, err := queue.ForRelease("v1.31")
		if err != nil {
			t.Fatal(err)
		}
		q := queue.New(opts, nil, nil)
		pod := waitsFor("", "")
		q.Add(noon, pod)
		q.Pop(noon)
		if err := q.AddUnschedulableIfNotPresent(noon, pod, queue.Rejection{UnschedulablePlugins: []string{"A"}}); err != nil {
			t.Fatal(err)
		}
		changed := pod.DeepCopy()
		c.change(changed)
		q.Update(noon, pod, changed, nil)
		if info, _ := q.Get("shop", "waits"); (info.Tier != queue.Unschedulable) != c.wakes || info.Pod != changed {
			t.Errorf("%s: the pod is %s", name, info.Tier)
		}
	}
}

// TestIn: another release has its own rules and defaults, but what was configured stays.
func TestIn(t *testing.T) {
	all := queue.Releases()
	if all[0] != "v1.37" || all[len(all)-1] != "v1.16" {
		t.Errorf("the releases are %q", all)
	}
	configured := queue.Defaults()
	configured.PodInitialBackoff, configured.PodMaxBackoff, configured.PodMaxInUnschedulablePods = 2*time.Second, 20*time.Second, 3*time.Minute
	popless := queue.Defaults()
	popless.PopFromBackoffQ = false
	for name, c := range map[string]struct {
		opts    queue.Options
		release string
		want    func(*queue.Options)
	}{
		"its own defaults": {queue.Defaults(), "v1.16", func(*queue.Options) {}},
		"configured": {configured, "v1.16", func(o *queue.Options) {
			o.PodInitialBackoff, o.PodMaxBackoff, o.PodMaxInUnschedulablePods = 2*time.Second, 20*time.Second, 3*time.Minute
		}},
		"without the gate":        {popless, "v1.35", func(o *queue.Options) { o.PopFromBackoffQ = false }},
		"before there was one":    {queue.Defaults(), "v1.32", func(*queue.Options) {}},
		"with a gate that it has": {queue.Defaults(), "v1.34", func(*queue.Options) {}},
	} {
		want, err := queue.ForRelease(c.release)
		if err != nil {
			t.Fatal(err)
		}
		c.want(&want)
		if got, err := c.opts.In(c.release); err != nil || got != want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if got, err := configured.In("v1.2"); err == nil || got != configured {
		t.Errorf("in a release that is none: %+v, %v", got, err)
	}
}
