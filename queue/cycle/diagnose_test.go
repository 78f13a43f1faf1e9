package cycle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
)

// lines returns a diagnosis as text: a line for the rejections on all nodes, and one per node.
func (d *Diagnosis) lines() []string {
	var lines []string
	lines = append(lines, fmt.Sprintf("%d nodes, fits %v", d.Nodes, d.Fits))
	if d.Message != "" {
		lines = append(lines, d.Message)
	}
	for _, r := range d.Reasons {
		line := fmt.Sprintf("%d %s: %s", r.Nodes, r.Plugin, r.Text)
		if r.Final {
			line += ", finally"
		}
		lines = append(lines, line)
	}
	text := func(lacks []Lack) string {
		var texts []string
		for _, l := range lacks {
			t := l.Plugin + ": " + strings.Join(slices.Concat(l.Reasons, details(l)), ", ")
			for _, r := range l.Resources {
				t += fmt.Sprintf(" [%s needs %s, free %s of %s, lacks %s]", r.Resource, r.Needs.String(), r.Free.String(), r.Allocatable.String(), r.Lacks.String())
			}
			texts = append(texts, t)
		}
		return strings.Join(texts, "; ")
	}
	if len(d.Everywhere) > 0 {
		lines = append(lines, "everywhere "+text(d.Everywhere))
	}
	for _, n := range d.Rejected {
		line := strings.TrimSpace(n.Node + " " + text(n.Lacks))
		if n.Never {
			line += ", never"
		}
		lines = append(lines, line)
	}
	for _, s := range d.Spread {
		line := fmt.Sprintf("spread over %s, max skew %d:", s.TopologyKey, s.MaxSkew)
		for _, domain := range s.Domains {
			line += fmt.Sprintf(" %s %d %t", domain.Value, domain.Pods, domain.Takes)
		}
		lines = append(lines, line)
	}
	return lines
}

func details(l Lack) []string {
	var all []string
	for _, label := range l.Labels {
		all = append(all, "no label "+label)
	}
	for _, t := range l.Taints {
		all = append(all, "taint "+t.ToString())
	}
	for _, p := range l.Pods {
		all = append(all, "pod "+p.Name)
	}
	for _, v := range l.Volumes {
		all = append(all, "volume "+v.Name)
	}
	return all
}

func diagnosed(t *testing.T, pod *v1.Pod, objects ...runtime.Object) []string {
	t.Helper()
	cfg, err := schedulerconfig.Default()
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(cfg, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Drive(queue.New(cfg.Queue, s.Plugins(), nil))
	for _, obj := range append(objects, pod) {
		if err := s.Load(obj); err != nil {
			t.Fatal(err)
		}
	}
	before := s.queue.Clone(nil, nil)
	d, err := s.Diagnose(pod)
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Diagnose(pod)
	if err != nil || !slices.Equal(again.lines(), d.lines()) {
		t.Errorf("the second time it says %v, %s, the first %s", err, again.lines(), d.lines())
	}
	if _, ok := s.queue.Get(pod.Namespace, pod.Name); ok || before.CanPop() || len(s.Writes()) > 0 {
		t.Errorf("it changed the queue, or wrote")
	}
	return d.lines()
}

func diagnosedNode(name, cpu string, edit ...func(*v1.Node)) *v1.Node {
	room := v1.ResourceList{
		v1.ResourceCPU: apiresource.MustParse(cpu), v1.ResourceMemory: apiresource.MustParse("8Gi"), v1.ResourcePods: apiresource.MustParse("110"),
	}
	n := &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{v1.LabelHostname: name}},
		Status:     v1.NodeStatus{Capacity: room, Allocatable: room},
	}
	for _, e := range edit {
		e(n)
	}
	return n
}

func tainted(n *v1.Node) {
	n.Spec.Taints = []v1.Taint{
		{Key: "dedicated", Value: "infra", Effect: v1.TaintEffectNoSchedule},
		{Key: "soft", Effect: v1.TaintEffectPreferNoSchedule},
	}
}

func diagnosedPod(name, cpu string, edit ...func(*v1.Pod)) *v1.Pod {
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)},
		Spec: v1.PodSpec{SchedulerName: v1.DefaultSchedulerName, Containers: []v1.Container{{
			Name: "c", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: apiresource.MustParse(cpu)}},
		}}},
	}
	for _, e := range edit {
		e(p)
	}
	return p
}

func on(node string) func(*v1.Pod) { return func(p *v1.Pod) { p.Spec.NodeName = node } }

func claiming(claim string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Spec.Volumes = []v1.Volume{{Name: "v", VolumeSource: v1.VolumeSource{
			PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
	}
}

func TestDiagnose(t *testing.T) {
	unbound := &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data", UID: "data"}}
	for name, c := range map[string]struct {
		pod     *v1.Pod
		objects []runtime.Object
		want    []string
	}{
		"no nodes": {diagnosedPod("web", "1"), nil, []string{
			"0 nodes, fits []",
			"no nodes available to schedule pods",
		}},
		"fits": {diagnosedPod("web", "2"), []runtime.Object{diagnosedNode("b", "4"), diagnosedNode("a", "2"), diagnosedNode("c", "1")}, []string{
			"3 nodes, fits [a b]",
			"c NodeResourcesFit: Insufficient cpu [cpu needs 2, free 1 of 1, lacks 1], never",
		}},
		// The smallest lack is first. A node that is too small comes later although it lacks less, and the one
		// with two rejecting plugins last although it lacks least.
		"amounts": {
			diagnosedPod("web", "2", func(p *v1.Pod) {
				p.Spec.Containers[0].Resources.Requests[v1.ResourceMemory] = apiresource.MustParse("1Gi")
			}),
			[]runtime.Object{
				diagnosedNode("full", "4"), diagnosedPod("one", "3500m", on("full")),
				diagnosedNode("roomy", "4"), diagnosedPod("two", "3", on("roomy")),
				diagnosedNode("small", "1"),
				diagnosedNode("infra", "1900m", tainted),
			},
			[]string{
				"4 nodes, fits []",
				"0/4 nodes are available: 1 node(s) had untolerated taint(s), 3 Insufficient cpu.",
				"2 NodeResourcesFit: Insufficient cpu",
				"1 NodeResourcesFit: Insufficient cpu, finally", // more than small has at all
				"1 TaintToleration: node(s) had untolerated taint(s), finally",
				"roomy NodeResourcesFit: Insufficient cpu [cpu needs 2, free 1 of 4, lacks 1]",
				"full NodeResourcesFit: Insufficient cpu [cpu needs 2, free 500m of 4, lacks 1500m]",
				"small NodeResourcesFit: Insufficient cpu [cpu needs 2, free 1 of 1, lacks 1], never",
				"infra TaintToleration: node(s) had untolerated taint(s), taint dedicated=infra:NoSchedule;" +
					" NodeResourcesFit: Insufficient cpu [cpu needs 2, free 1900m of 1900m, lacks 100m], never",
			},
		},
		"selector": {
			diagnosedPod("web", "1", func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} }),
			[]runtime.Object{diagnosedNode("a", "4")},
			[]string{
				"1 nodes, fits []",
				"0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
				"1 NodeAffinity: node(s) didn't match Pod's node affinity/selector, finally",
				"a NodeAffinity: node(s) didn't match Pod's node affinity/selector, no label disk=ssd",
			},
		},
		// A label with another value counts as missing.
		"selectors": {
			diagnosedPod("web", "1", func(p *v1.Pod) {
				p.Spec.NodeSelector = map[string]string{"zone": "z1", "disk": "ssd", v1.LabelHostname: "a"}
			}),
			[]runtime.Object{diagnosedNode("a", "4", func(n *v1.Node) { n.Labels["disk"] = "hdd" })},
			[]string{
				"1 nodes, fits []",
				"0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
				"1 NodeAffinity: node(s) didn't match Pod's node affinity/selector, finally",
				"a NodeAffinity: node(s) didn't match Pod's node affinity/selector, no label disk=ssd, no label zone=z1",
			},
		},
		// Quantities have the format of a pod's requests.
		"resources": {
			diagnosedPod("web", "100m", func(p *v1.Pod) {
				for name, amount := range map[v1.ResourceName]string{"memory": "9Gi", "ephemeral-storage": "2Gi", "hugepages-2Mi": "4Mi", "example.com/gpu": "2048"} {
					p.Spec.Containers[0].Resources.Requests[name] = apiresource.MustParse(amount)
				}
			}),
			[]runtime.Object{diagnosedNode("a", "1", func(n *v1.Node) { n.Status.Allocatable["hugepages-2Mi"] = apiresource.MustParse("2Mi") })},
			[]string{
				"1 nodes, fits []",
				"0/1 nodes are available: 1 Insufficient ephemeral-storage, 1 Insufficient example.com/gpu, 1 Insufficient hugepages-2Mi, 1 Insufficient memory.",
				"1 NodeResourcesFit: Insufficient ephemeral-storage, finally",
				"1 NodeResourcesFit: Insufficient example.com/gpu, finally",
				"1 NodeResourcesFit: Insufficient hugepages-2Mi, finally",
				"1 NodeResourcesFit: Insufficient memory, finally",
				"a NodeResourcesFit: Insufficient ephemeral-storage, Insufficient example.com/gpu, Insufficient hugepages-2Mi, Insufficient memory" +
					" [ephemeral-storage needs 2Gi, free 0 of 0, lacks 2Gi] [example.com/gpu needs 2048, free 0 of 0, lacks 2048]" +
					" [hugepages-2Mi needs 4Mi, free 2Mi of 2Mi, lacks 2Mi] [memory needs 9Gi, free 8Gi of 8Gi, lacks 1Gi], never",
			},
		},
		// A taint counts as 1, insufficient CPU as a fraction.
		// One change is nearer than two, and a change of a label or taint nearer than pods that have to leave.
		"nearest": {
			diagnosedPod("web", "2"),
			[]runtime.Object{diagnosedNode("a", "4", tainted), diagnosedNode("b", "4"), diagnosedPod("one", "3", on("b"))},
			[]string{
				"2 nodes, fits []",
				"0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s).",
				"1 NodeResourcesFit: Insufficient cpu",
				"1 TaintToleration: node(s) had untolerated taint(s), finally",
				"a TaintToleration: node(s) had untolerated taint(s), taint dedicated=infra:NoSchedule",
				"b NodeResourcesFit: Insufficient cpu [cpu needs 2, free 1 of 4, lacks 1]",
			},
		},
		// The pod would fit on an empty node of its own size, and not on a smaller one, although that lacks less.
		"as large as the pod": {
			diagnosedPod("web", "4"),
			[]runtime.Object{diagnosedNode("a", "3"), diagnosedNode("b", "4"), diagnosedPod("one", "3900m", on("b"))},
			[]string{
				"2 nodes, fits []",
				"0/2 nodes are available: 2 Insufficient cpu.",
				"1 NodeResourcesFit: Insufficient cpu",
				"1 NodeResourcesFit: Insufficient cpu, finally",
				"b NodeResourcesFit: Insufficient cpu [cpu needs 4, free 100m of 4, lacks 3900m]",
				"a NodeResourcesFit: Insufficient cpu [cpu needs 4, free 3 of 3, lacks 1], never",
			},
		},
		// An unbound claim is reported once, with the nodes' other lacks.
		"unbound claim": {
			diagnosedPod("web", "2", claiming("data")),
			[]runtime.Object{unbound, diagnosedNode("a", "1"), diagnosedNode("b", "4")},
			[]string{
				"2 nodes, fits []",
				"0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims.",
				"2 VolumeBinding: pod has unbound immediate PersistentVolumeClaims, finally",
				"everywhere VolumeBinding: pod has unbound immediate PersistentVolumeClaims;" +
					" VolumeZone: PersistentVolumeClaim had no pv name and storageClass name",
				"b",
				"a NodeResourcesFit: Insufficient cpu [cpu needs 2, free 1 of 1, lacks 1], never",
			},
		},
		// All plugins that read claims report a missing claim, but not for each node.
		"missing claim": {
			diagnosedPod("web", "2", claiming("data")),
			[]runtime.Object{diagnosedNode("a", "4")},
			[]string{
				"1 nodes, fits []",
				`0/1 nodes are available: persistentvolumeclaim "data" not found.`,
				`1 VolumeRestrictions: persistentvolumeclaim "data" not found, finally`,
				`everywhere VolumeRestrictions: persistentvolumeclaim "data" not found; VolumeBinding: persistentvolumeclaim "data" not found;` +
					` VolumeZone: persistentvolumeclaim "data" not found`,
				"a",
			},
		},
		// PreFilter excludes all other nodes for a pod of a DaemonSet.
		"one node": {
			diagnosedPod("agent", "2", func(p *v1.Pod) {
				p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{
					NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchFields: []v1.NodeSelectorRequirement{
						{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{"a"}}}}}}}}
			}),
			[]runtime.Object{diagnosedNode("c", "4"), diagnosedNode("a", "1", tainted), diagnosedNode("b", "4")},
			[]string{
				"3 nodes, fits []",
				"0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) didn't satisfy plugin(s) [NodeAffinity].",
				"2 NodeAffinity: node(s) didn't satisfy plugin(s) [NodeAffinity], finally",
				"1 TaintToleration: node(s) had untolerated taint(s), finally",
				"a TaintToleration: node(s) had untolerated taint(s), taint dedicated=infra:NoSchedule;" +
					" NodeResourcesFit: Insufficient cpu [cpu needs 2, free 1 of 1, lacks 1], never",
				"b NodeAffinity: node(s) didn't match Pod's node affinity/selector, never",
				"c NodeAffinity: node(s) didn't match Pod's node affinity/selector, never",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := diagnosed(t, c.pod, c.objects...); !slices.Equal(got, c.want) {
				t.Errorf("diagnosis:\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
			}
		})
	}
}

// TestDiagnoseAsAttempt checks that the message and the reasons equal those of an attempt.
func TestDiagnoseAsAttempt(t *testing.T) {
	cfg, err := schedulerconfig.Default()
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(cfg, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Drive(queue.New(cfg.Queue, s.Plugins(), nil))
	pod := diagnosedPod("web", "2", func(p *v1.Pod) {
		p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "other"}}, TopologyKey: v1.LabelHostname}}}}
	})
	for _, obj := range []runtime.Object{
		diagnosedNode("a", "4"), diagnosedPod("one", "1", on("a"), func(p *v1.Pod) { p.Labels = map[string]string{"app": "other"} }),
		diagnosedNode("b", "1"), diagnosedNode("c", "1", tainted),
	} {
		if err := s.Load(obj); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Put(s.now, pod); err != nil {
		t.Fatal(err)
	}
	d, err := s.Diagnose(pod)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range d.Rejected { // of a, a pod could be evicted; b is too small, and c is tainted
		if n.Lacks[0].Final == (n.Node == "a") {
			t.Errorf("of %s it says %+v", n.Node, n.Lacks)
		}
	}
	a, ok := s.Schedule(s.now)
	if !ok {
		t.Fatal("there is nothing to pop: diagnosing changed the queue")
	}
	if !slices.Equal(a.Reasons, d.Reasons) || len(d.Reasons) != 3 {
		t.Errorf("it counts %+v, an attempt %+v", d.Reasons, a.Reasons)
	}
	if before, _, _ := strings.Cut(a.Message, " preemption:"); before != d.Message {
		t.Errorf("it says %q, an attempt %q", d.Message, a.Message)
	}
}

// TestDiagnoseExtender checks that extenders are called only for the nodes that pass all plugins.
func TestDiagnoseExtender(t *testing.T) {
	e := newTestExtender(t)
	e.rejects = func(_ *v1.Pod, node string) (string, bool) {
		if node == "a" {
			return "no licence", true
		}
		return "", false
	}
	cfg, err := schedulerconfig.Default()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Extenders = append(cfg.Extenders, e.config())
	s, err := New(cfg, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Drive(queue.New(cfg.Queue, s.Plugins(), nil))
	for _, n := range []*v1.Node{diagnosedNode("a", "4"), diagnosedNode("b", "4"), diagnosedNode("c", "1")} {
		if err := s.Load(n); err != nil {
			t.Fatal(err)
		}
	}
	d, err := s.Diagnose(diagnosedPod("web", "2"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"3 nodes, fits [b]", "a Extender: no licence", "c NodeResourcesFit: Insufficient cpu [cpu needs 2, free 1 of 1, lacks 1], never"}; !slices.Equal(d.lines(), want) {
		t.Errorf("diagnosis is %s, want %s", d.lines(), want)
	}
	if n := e.count("filter"); n != 1 {
		t.Errorf("%d calls of the extender", n)
	}
	e.status = 500
	if d, err = s.Diagnose(diagnosedPod("web", "2")); err == nil {
		t.Errorf("an extender that fails is no error, but %s", d.lines())
	}
}

// TestDiagnoseExtenders checks that an extender is called only for the nodes that pass the
// extenders before it.
func TestDiagnoseExtenders(t *testing.T) {
	first, second := newTestExtender(t), newTestExtender(t)
	first.rejects = func(pod *v1.Pod, node string) (string, bool) {
		if node == "a" || pod.Name == "nowhere" {
			return "no licence", true
		}
		return "", false
	}
	second.rejects = func(_ *v1.Pod, node string) (string, bool) { return "busy", node != "b" }
	cfg := defaultConfig(t)
	cfg.Extenders = append(cfg.Extenders, first.config(), second.config())
	s, err := New(cfg, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Drive(queue.New(cfg.Queue, s.Plugins(), nil))
	for _, n := range []*v1.Node{diagnosedNode("a", "4"), diagnosedNode("b", "4")} {
		if err := s.Load(n); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ pod, want string }{
		{"web", "[2 nodes, fits [] 0/2 nodes are available: 1 busy, 1 no licence. 1 Extender: busy 1 Extender: no licence, finally" +
			" a Extender: no licence b Extender: busy]"},
		{"nowhere", "[2 nodes, fits [] 0/2 nodes are available: 2 no licence. 2 Extender: no licence, finally" +
			" a Extender: no licence b Extender: no licence]"},
	} {
		d, err := s.Diagnose(diagnosedPod(c.pod, "2"))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(d.lines()); got != c.want {
			t.Errorf("of %s it says %s, want %s", c.pod, got, c.want)
		}
		if n := second.count("filter"); n != 1 {
			t.Errorf("after %s the second was asked %d times", c.pod, n)
		}
	}
}

// TestDiagnoseNominated checks that the resources of a nominated pod are not free.
func TestDiagnoseNominated(t *testing.T) {
	cfg, err := schedulerconfig.Default()
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(cfg, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Drive(queue.New(cfg.Queue, s.Plugins(), nil))
	if err := s.Load(diagnosedNode("a", "4")); err != nil {
		t.Fatal(err)
	}
	s.queue.AddNominatedPod(diagnosedPod("first", "3"), "a")
	d, err := s.Diagnose(diagnosedPod("web", "2"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "a NodeResourcesFit: Insufficient cpu [cpu needs 2, free 1 of 4, lacks 1]"; !slices.Contains(d.lines(), want) {
		t.Errorf("diagnosis is %s, want %s", d.lines(), want)
	}
	s.queue.AddNominatedPod(diagnosedPod("second", "500m", func(p *v1.Pod) { p.Spec.Priority = new(int32(1)) }), "a")
	d, err = s.Diagnose(diagnosedPod("web", "2"))
	if want := "a NodeResourcesFit: Insufficient cpu [cpu needs 2, free 500m of 4, lacks 1500m]"; err != nil || !slices.Contains(d.lines(), want) {
		t.Errorf("of two it says %v, %s, want %s", err, d.lines(), want)
	}
	one := func(p *v1.Pod) { p.Spec.Priority = new(int32(1)) }
	d, err = s.Diagnose(diagnosedPod("web", "3800m", one))
	if want := "a NodeResourcesFit: Insufficient cpu [cpu needs 3800m, free 3500m of 4, lacks 300m]"; err != nil || !slices.Contains(d.lines(), want) {
		t.Errorf("of a more important one it says %v, %s, want %s", err, d.lines(), want)
	}
	own := diagnosedPod("second", "3800m", one)
	if d, err = s.Diagnose(own); err != nil || !slices.Equal(d.Fits, []string{"a"}) {
		t.Errorf("of one that is nominated itself it says %v, %s", err, d.lines())
	}
	high := diagnosedPod("high", "2", func(p *v1.Pod) { p.Spec.Priority = new(int32(10)) })
	if d, err = s.Diagnose(high); err != nil || !slices.Equal(d.Fits, []string{"a"}) {
		t.Errorf("a higher pod does not yield: %v, %+v", err, d)
	}
	high.Spec.SchedulerName = "other"
	if _, err := s.Diagnose(high); err == nil || err.Error() != `profile not found for scheduler name "other"` {
		t.Errorf("of another scheduler's pod it says %v", err)
	}
}

// TestDiagnoseIgnorableExtender checks that an ignorable extender that fails is skipped, and that
// one with managed resources is called only for pods that request them.
func TestDiagnoseIgnorableExtender(t *testing.T) {
	lax, choosy := newTestExtender(t), newTestExtender(t)
	lax.rejects = func(_ *v1.Pod, node string) (string, bool) { return "busy", node != "b" }
	choosy.rejects = func(_ *v1.Pod, node string) (string, bool) { return "no gpu", false }
	cfg := defaultConfig(t)
	ignorable, managing := lax.config(), choosy.config()
	ignorable.Ignorable = true
	managing.ManagedResources = []schedulerapi.ExtenderManagedResource{{Name: "example.com/gpu", IgnoredByScheduler: true}}
	cfg.Extenders = append(cfg.Extenders, ignorable, managing)
	st := newStoryWith(t, cfg, 1, diagnosedNode("a", "4"))
	says := func(name, want string, edit ...func(*v1.Pod)) {
		t.Helper()
		d, err := st.Diagnose(diagnosedPod(name, "2", edit...))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(d.lines(), "; "); got != want {
			t.Errorf("of %s it says %s, want %s", name, got, want)
		}
	}
	gpu := func(p *v1.Pod) {
		p.Spec.Containers[0].Resources.Requests["example.com/gpu"] = apiresource.MustParse("1")
	}
	says("web", "1 nodes, fits []; 0/1 nodes are available: 1 busy.; 1 Extender: busy, finally; a Extender: busy")
	lax.status = 500
	says("web", "1 nodes, fits [a]")
	says("gpu", "1 nodes, fits []; 0/1 nodes are available: 1 no gpu.; 1 Extender: no gpu; a Extender: no gpu", gpu)
}

// TestDiagnoseExcluded checks nodes that a plugin excludes in PreFilter while its Filter is
// disabled.
func TestDiagnoseExcluded(t *testing.T) {
	cfg := configured(t, "profiles: [{schedulerName: default-scheduler, plugins: {filter: {disabled: [{name: NodeAffinity}]}}}]")
	st := newStoryWith(t, cfg, 1, diagnosedNode("b", "1"), diagnosedNode("a", "1"))
	d, err := st.Diagnose(diagnosedPod("agent", "2", nodeNamed("a")))
	want := []string{
		"2 nodes, fits []",
		"0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeAffinity].",
		"1 NodeAffinity: node(s) didn't satisfy plugin(s) [NodeAffinity], finally",
		"1 NodeResourcesFit: Insufficient cpu, finally",
		"a NodeResourcesFit: Insufficient cpu [cpu needs 2, free 1 of 1, lacks 1], never",
		"b NodeResourcesFit: Insufficient cpu [cpu needs 2, free 1 of 1, lacks 1]; NodeAffinity: node(s) didn't satisfy plugin(s) [NodeAffinity], never",
	}
	if err != nil || !slices.Equal(d.lines(), want) {
		t.Errorf("%v, it says\n  %s\nwant\n  %s", err, strings.Join(d.lines(), "\n  "), strings.Join(want, "\n  "))
	}
}

// TestDiagnoseIgnored checks that a resource that the profile ignores is not reported as
// insufficient.
func TestDiagnoseIgnored(t *testing.T) {
	cfg := configured(t, "profiles: [{schedulerName: default-scheduler, pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [example.com/gpu]}}]}]")
	st := newStoryWith(t, cfg, 1, diagnosedNode("a", "1"))
	d, err := st.Diagnose(diagnosedPod("web", "2", func(p *v1.Pod) {
		p.Spec.Containers[0].Resources.Requests["example.com/gpu"] = apiresource.MustParse("1")
	}))
	if want := "a NodeResourcesFit: Insufficient cpu [cpu needs 2, free 1 of 1, lacks 1], never"; err != nil || !slices.Contains(d.lines(), want) {
		t.Errorf("%v, it says %s, want %s", err, d.lines(), want)
	}
}
