package cycle

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
)

// story is a scheduler with a queue and a clock.
type story struct {
	*Scheduler
	t        testing.TB
	q        *queue.Queue
	clock    time.Time
	revision int
	moves    []string // of the queue since takeMoves
	careless bool     // about what the queue finds odd
	// unschedulable are pods for which put and remove predict whether they wake. The prediction is wouldWake, sorted, and
	// nil if there was none.
	unschedulable []*v1.Pod
	wouldWake     []string
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// newStory returns a story in a cluster with these objects.
func newStory(t testing.TB, objects ...runtime.Object) *story {
	return newStoryWith(t, defaultConfig(t), 1, objects...)
}

func newStoryWith(t testing.TB, cfg *schedulerconfig.Config, seed uint64, objects ...runtime.Object) *story {
	t.Helper()
	s, err := New(cfg, seed)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	st := &story{Scheduler: s, t: t, clock: noon}
	for _, obj := range objects {
		if err := s.Load(st.next(obj)); err != nil {
			t.Fatal(err)
		}
	}
	st.q = queue.New(cfg.Queue, s.Plugins(), st)
	s.Drive(st.q)
	return st
}

func defaultConfig(t testing.TB) *schedulerconfig.Config {
	t.Helper()
	cfg, err := schedulerconfig.Default()
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// Moved implements queue.Observer.
func (st *story) Moved(m queue.Transition) {
	st.moves = append(st.moves, strings.TrimSuffix(fmt.Sprintf("%s %s: %s", m.Pod.Name, m.To, m.Event), ": "))
}

// Failed implements queue.Observer. It fails the test, because no hint fails and no pod is queued
// twice.
func (st *story) Failed(err error) {
	if !st.careless {
		st.t.Error(err)
	}
}

// next returns a copy of obj with a new resourceVersion.
func (st *story) next(obj runtime.Object) runtime.Object {
	st.revision++
	obj = obj.DeepCopyObject()
	obj.(metav1.Object).SetResourceVersion(strconv.Itoa(st.revision))
	return obj
}

// put adds or updates objects.
func (st *story) put(objects ...runtime.Object) {
	st.t.Helper()
	for _, obj := range objects {
		st.predictWakes(obj, false)
		if err := st.Put(st.clock, st.next(obj)); err != nil {
			st.t.Fatal(err)
		}
	}
}

// predictWakes records which pods in st.unschedulable would be woken by an update of a node, or by
// the deletion of an assigned pod.
func (st *story) predictWakes(obj runtime.Object, gone bool) {
	pod, is := obj.(*v1.Pod)
	if _, node := obj.(*v1.Node); !node && (!is || !gone || pod.Spec.NodeName == "") {
		return
	}
	st.wouldWake = []string{}
	for _, pod := range st.unschedulable {
		if st.WouldWake(pod, obj, gone) {
			st.wouldWake = append(st.wouldWake, pod.Name)
		}
	}
	slices.Sort(st.wouldWake)
}

func (st *story) remove(objects ...runtime.Object) {
	st.t.Helper()
	for _, obj := range objects {
		st.predictWakes(obj, true)
		if err := st.Remove(st.clock, obj); err != nil {
			st.t.Fatal(err)
		}
	}
}

// pass advances the clock and runs the queue's flushes.
func (st *story) pass(d time.Duration) {
	for range int(d / time.Second) {
		st.clock = st.clock.Add(time.Second)
		st.q.FlushBackoffCompleted(st.clock)
	}
}

// try runs the next attempt, and concludes it if it failed.
func (st *story) try() *Attempt {
	st.t.Helper()
	st.clock = st.clock.Add(time.Millisecond)
	a, ok := st.Schedule(st.clock)
	if !ok {
		st.t.Fatal("there is no pod to pop")
	}
	st.Conclude(st.clock, a)
	return a
}

// tries adds pod and runs its attempt.
func (st *story) tries(pod *v1.Pod) *Attempt {
	st.t.Helper()
	st.put(pod)
	a := st.try()
	if a.Pod.Name != pod.Name {
		st.t.Fatalf("popped %s, want %s", a.Pod.Name, pod.Name)
	}
	return a
}

// binds adds pod, which must fit, binds it and applies the writes.
func (st *story) binds(pod *v1.Pod) string {
	st.t.Helper()
	a := st.tries(pod)
	if a.Binding == nil {
		st.t.Fatalf("%s: %s", pod.Name, a.Message)
	}
	if err := st.Bind(st.clock, a.Binding); err != nil {
		st.t.Fatal(err)
	}
	st.applyWrites()
	return a.Node
}

// applyWrites applies the scheduler's writes to the cluster.
func (st *story) applyWrites() {
	st.t.Helper()
	for _, w := range st.Writes() {
		if err := st.Put(st.clock, w.Object); err != nil {
			st.t.Fatal(err)
		}
	}
}

// tier returns the tier of a pod in the default namespace and its rejecting plugins, such as
// "unschedulable NodePorts".
func (st *story) tier(pod string) string {
	info, ok := st.q.Get("default", pod)
	if !ok {
		return "gone"
	}
	plugins := append(slices.Clone(info.UnschedulablePlugins), info.PendingPlugins...)
	return strings.TrimSuffix(info.Tier.String()+" "+strings.Join(plugins, ","), " ")
}

// is checks tiers such as "web active" and "db unschedulable NodePorts".
func (st *story) is(when string, wants ...string) {
	st.t.Helper()
	for _, want := range wants {
		pod, tier, _ := strings.Cut(want, " ")
		if got := st.tier(pod); got != tier {
			st.t.Errorf("%s, %s is %s, want %s", when, pod, got, tier)
		}
	}
}

// takeMoves returns the moves since the last call.
func (st *story) takeMoves() string {
	moves := strings.Join(st.moves, "; ")
	st.moves = nil
	return moves
}

// rejectors returns the plugins that rejected an attempt, as recorded in the queue.
func (st *story) rejectors(a *Attempt) string {
	_, plugins, _ := strings.Cut(st.tier(a.Pod.Name), " ")
	return plugins
}

// result returns the node or the message of an attempt.
func result(a *Attempt) string { return cmp.Or(a.Node, a.Message) }

func counted(reasons []Reason) string {
	var texts []string
	for _, r := range reasons {
		text := fmt.Sprintf("%d %s: %s", r.Nodes, r.Plugin, r.Text)
		if r.Final {
			text += " (final)"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}

type podEdit = func(*v1.Pod)

// aPod returns a pod in the default namespace for the default scheduler. Its UID is its name.
func aPod(name string, edits ...podEdit) *v1.Pod {
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name)}}
	pod.Spec.SchedulerName = v1.DefaultSchedulerName
	pod.Spec.Containers = []v1.Container{{Name: "c", Image: "app"}}
	for _, edit := range edits {
		edit(pod)
	}
	return pod
}

// at assigns pod to a node.
func at(node string, pod *v1.Pod) *v1.Pod {
	pod = pod.DeepCopy()
	pod.Spec.NodeName = node
	return pod
}

func requests(resource, amount string) podEdit {
	return func(p *v1.Pod) {
		r := &p.Spec.Containers[0].Resources
		if r.Requests == nil {
			r.Requests = v1.ResourceList{}
		}
		r.Requests[v1.ResourceName(resource)] = apiresource.MustParse(amount)
	}
}

func priority(p int32) podEdit { return func(pod *v1.Pod) { pod.Spec.Priority = &p } }

func podLabel(key, value string) podEdit {
	return func(p *v1.Pod) { metav1.SetMetaDataLabel(&p.ObjectMeta, key, value) }
}

func hostPort(port int32) podEdit {
	return func(p *v1.Pod) { p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 80, HostPort: port}} }
}

func tolerates(key string) podEdit {
	return func(p *v1.Pod) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Key: key, Operator: v1.TolerationOpExists})
	}
}

// nodeIn adds a required node affinity to a label with one of values.
func nodeIn(key string, values ...string) podEdit {
	return func(p *v1.Pod) {
		p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: selectNodes(key, values...)}}
	}
}

func selectNodes(key string, values ...string) *v1.NodeSelector {
	return &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
		MatchExpressions: []v1.NodeSelectorRequirement{{Key: key, Operator: v1.NodeSelectorOpIn, Values: values}},
	}}}
}

func near(topology, key, value string) v1.PodAffinityTerm {
	return v1.PodAffinityTerm{TopologyKey: topology, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}}
}

func affinity(term v1.PodAffinityTerm) podEdit {
	return func(p *v1.Pod) {
		p.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term}}}
	}
}

func antiAffinity(term v1.PodAffinityTerm) podEdit {
	return func(p *v1.Pod) {
		p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term}}}
	}
}

// spreads adds a topology spread constraint with a maximum skew of 1 for the pods with a label.
func spreads(topology, key, value string) podEdit {
	return func(p *v1.Pod) {
		p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: topology, WhenUnsatisfiable: v1.DoNotSchedule,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{key: value}},
		}}
	}
}

type nodeEdit = func(*v1.Node)

// aNode returns a node with 4 CPUs, 8 GiB and 110 pods, whose hostname is its name.
func aNode(name string, edits ...nodeEdit) *v1.Node {
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("node-" + name), Labels: map[string]string{v1.LabelHostname: name}}}
	node.Status.Allocatable = v1.ResourceList{
		"cpu": apiresource.MustParse("4"), "memory": apiresource.MustParse("8Gi"), "pods": apiresource.MustParse("110"),
	}
	for _, edit := range edits {
		edit(node)
	}
	return node
}

func has(resource, amount string) nodeEdit {
	return func(n *v1.Node) { n.Status.Allocatable[v1.ResourceName(resource)] = apiresource.MustParse(amount) }
}

func nodeLabel(key, value string) nodeEdit {
	return func(n *v1.Node) { n.Labels[key] = value }
}

func taint(key string) nodeEdit {
	return func(n *v1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: key, Effect: v1.TaintEffectNoSchedule})
	}
}
