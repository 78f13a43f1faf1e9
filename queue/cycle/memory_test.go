package cycle

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// disableCache makes the story call all plugins in every attempt.
func (st *story) disableCache() {
	for name, p := range st.profiles {
		p := p.(seeded)
		p.memory = &memory{framework: p.memory.framework, postFilters: []string{"any"}}
		st.profiles[name] = p
	}
}

// life is a cluster with random changes that depend on a seed. It records the scheduler's
// decisions.
type life struct {
	*story
	rand    *rand.Rand
	nodes   []*v1.Node
	pods    []*v1.Pod // as they were put in
	decided []string
}

func newLife(t *testing.T, seed uint64, nodes int) *life {
	l := &life{rand: rand.New(rand.NewPCG(seed, 0))}
	var objects []runtime.Object
	for i := range nodes {
		n := aNode(fmt.Sprintf("n%03d", i), nodeLabel(v1.LabelTopologyZone, fmt.Sprint("z", i%3)), nodeLabel("disk", []string{"ssd", "hdd"}[i%2]))
		l.nodes = append(l.nodes, n)
		objects = append(objects, n)
		for j := range 2 {
			objects = append(objects, at(n.Name, aPod(fmt.Sprint("old-", i, "-", j), requests("cpu", "1500m"), podLabel("app", fmt.Sprint(i%4)), priority(int32(i+j)%3), startedAt(-(i*7+j)%20))))
		}
	}
	l.story = newStory(t, objects...)
	return l
}

// pod returns one of a few kinds of pods.
func (l *life) pod(name string) *v1.Pod {
	app := fmt.Sprint(l.rand.IntN(4))
	pod := aPod(name, podLabel("app", app), requests("cpu", []string{"500m", "1", "2500m", "9"}[l.rand.IntN(4)]), priority(int32(l.rand.IntN(4))))
	edits := []podEdit{
		nodeIn("disk", "ssd"), tolerates("infra"), hostPort(int32(8000 + l.rand.IntN(2))), spreads(v1.LabelTopologyZone, "app", app),
		antiAffinity(near(v1.LabelHostname, "app", app)), affinity(near(v1.LabelTopologyZone, "app", app)),
		func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "hdd"} },
		func(p *v1.Pod) { never := v1.PreemptNever; p.Spec.PreemptionPolicy = &never },
		func(p *v1.Pod) {
			p.Spec.Containers[0].Ports = []v1.ContainerPort{{HostPort: 8000, Protocol: v1.ProtocolUDP}}
		},
	}
	if i := l.rand.IntN(2 * len(edits)); i < len(edits) {
		edits[i](pod)
	}
	return pod
}

func (l *life) step(i int) {
	l.clock = l.clock.Add(100 * time.Millisecond)
	switch n := l.rand.IntN(len(l.nodes)); l.rand.IntN(12) {
	case 0, 1, 2:
		pod := l.pod(fmt.Sprint("p", i))
		l.pods = append(l.pods, pod)
		l.put(pod)
	case 3:
		node := l.nodes[n].DeepCopy()
		switch l.rand.IntN(4) {
		case 0:
			node.Spec.Unschedulable = !node.Spec.Unschedulable
		case 1:
			node.Spec.Taints = nil
			taint([]string{"infra", "other"}[l.rand.IntN(2)])(node)
		case 2:
			node.Spec.Taints = nil
			nodeLabel("disk", []string{"ssd", "hdd"}[l.rand.IntN(2)])(node)
		case 3:
			has("cpu", []string{"3", "4", "10"}[l.rand.IntN(3)])(node)
		}
		l.nodes[n] = node
		l.put(node)
	case 4:
		if l.rand.IntN(4) == 0 {
			l.remove(l.nodes[n])
			l.nodes[n] = aNode(fmt.Sprint("new-", i))
			l.put(l.nodes[n])
		}
	case 5:
		if len(l.pods) > 0 {
			k := l.rand.IntN(len(l.pods))
			l.remove(l.pods[k])
			l.pods = slices.Delete(l.pods, k, k+1)
		}
	case 6:
		budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("b", l.rand.IntN(2))}}
		least := intstr.FromInt32(1)
		budget.Spec.MinAvailable = &least
		budget.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprint(l.rand.IntN(4))}}
		if l.rand.IntN(2) == 0 {
			l.put(budget)
		} else {
			l.remove(budget)
		}
	default:
		l.q.FlushBackoffCompleted(l.clock)
		a, ok := l.Schedule(l.clock)
		if !ok {
			return
		}
		l.Conclude(l.clock, a)
		l.decided = append(l.decided, fmt.Sprint(a.Pod.Name, " ", result(a), " ", a.Evaluated, a.Feasible, a.Nominated, " ", counted(a.Reasons)))
		if a.Binding != nil {
			if err := l.Bind(l.clock, a.Binding); err != nil {
				l.t.Fatal(err)
			}
		}
		l.applyWrites()
		if e := l.Evictions(); len(e) > 0 && l.rand.IntN(2) == 0 {
			l.decided = append(l.decided, "evicted "+e[0].Victim.Name)
			l.Evicted(e[0])
			l.remove(e[0].Victim)
		}
	}
}

// TestMemoryDecidesNothing checks that a scheduler with cached verdicts makes the same decisions as
// one without.
func TestMemoryDecidesNothing(t *testing.T) {
	seeds := uint64(4)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		// More than a hundred nodes are searched in part, by several at a time.
		for _, nodes := range []int{7, 130} {
			remembers, asks := newLife(t, seed, nodes), newLife(t, seed, nodes)
			asks.disableCache()
			for i := range 1500 {
				remembers.step(i)
				asks.step(i)
			}
			if len(asks.decided) < 300 {
				t.Errorf("only %d attempts", len(asks.decided))
			}
			for i, want := range asks.decided {
				if i >= len(remembers.decided) || remembers.decided[i] != want {
					t.Fatalf("seed %d, %d nodes, decision %d: it says\n%q\nand remembers\n%q", seed, nodes, i, want, remembers.decided[min(i, len(remembers.decided)-1)])
				}
			}
			if got, want := remembers.takeMoves(), asks.takeMoves(); got != want {
				t.Errorf("seed %d, %d nodes: the queue moves other pods", seed, nodes)
			}
		}
	}
}

// TestMemoryIsBounded checks the limit of cached verdicts.
func TestMemoryIsBounded(t *testing.T) {
	st := newStory(t, sameForAll(10)...)
	m := st.profiles[v1.DefaultSchedulerName].(seeded).memory
	for i := range 30 {
		st.tries(aPod(fmt.Sprint("p", i), requests("cpu", fmt.Sprint(i+1, "m"))))
	}
	if len(m.rows) != 30 {
		t.Fatalf("of 30 kinds of pods, %d are remembered", len(m.rows))
	}
	for len(m.rows) < maxVerdicts/10 {
		m.rows[fmt.Sprint(len(m.rows))] = nil
	}
	st.tries(aPod("last", requests("cpu", "2")))
	if len(m.rows) != 1 {
		t.Errorf("%d are remembered after one too many, want 1", len(m.rows))
	}
}

// TestPortsAreNotCached checks that pods with ports of different protocols get different verdicts,
// although upstream's signature lacks the protocol.
func TestPortsAreNotCached(t *testing.T) {
	st := newStory(t, aNode("one"), at("one", aPod("old", hostPort(8000))))
	if a := st.tries(aPod("same", hostPort(8000))); a.Node != "" {
		t.Errorf("a port that is taken: %s", result(a))
	}
	udp := aPod("other", hostPort(8000), func(p *v1.Pod) { p.Spec.Containers[0].Ports[0].Protocol = v1.ProtocolUDP })
	if a := st.tries(udp); a.Node != "one" {
		t.Errorf("a port of another protocol: %s", result(a))
	}
}

// TestOwnNominationIsNotCached checks that the verdict on a node for another pod does not apply to
// the pod nominated there.
func TestOwnNominationIsNotCached(t *testing.T) {
	low := at("one", aPod("low", requests("cpu", "4")))
	st := newStory(t, aNode("one"), low)
	first := aPod("first", requests("cpu", "3"), priority(10))
	st.tries(first)
	st.evict(low, false)
	st.remove(low)
	st.pass(time.Minute)
	popped, ok := st.q.Pop(st.clock)
	if !ok || popped.Pod.Name != "first" {
		t.Fatalf("popped is %v", popped.Pod)
	}
	// Another one that is tried before has to leave it the room.
	if a := st.tries(aPod("like", requests("cpu", "3"), priority(10))); a.Node != "" {
		t.Errorf("the other goes to %s", a.Node)
	}
	if a, ok := st.Resume(st.clock, popped.Pod); !ok || a.Node != "one" {
		t.Errorf("the nominated pod: %s", result(a))
	}
}

// callCounter counts the calls of upstream's plugins whose results are cached.
type callCounter struct {
	framework.Framework
	preemption.Interface
	filters, postFilters, victims atomic.Int32
}

// RunFilterPlugins implements framework.Framework.
func (a *callCounter) RunFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	if !state.GetSkipFilterPlugins().Has(names.NodeResourcesFit) {
		a.filters.Add(1)
	}
	return a.Framework.RunFilterPlugins(ctx, state, pod, node)
}

// RunFilterPluginsWithNominatedPods implements framework.Framework.
func (a *callCounter) RunFilterPluginsWithNominatedPods(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	a.filters.Add(1)
	return a.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
}

// RunPostFilterPlugins implements framework.Framework.
func (a *callCounter) RunPostFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	a.postFilters.Add(1)
	return a.Framework.RunPostFilterPlugins(ctx, state, pod, nodes)
}

// SelectVictimsOnNode implements preemption.Interface.
func (a *callCounter) SelectVictimsOnNode(ctx context.Context, state fwk.CycleState, preemptor *v1.Pod, node fwk.NodeInfo, victims []*preemption.DomainVictim, budgets []*policyv1.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	a.victims.Add(1)
	return a.Interface.SelectVictimsOnNode(ctx, state, preemptor, node, victims, budgets)
}

// countCalls returns a function that schedules a pod and returns the numbers of calls: nodes
// filtered, nodes of the dry run, and whether PostFilter ran.
func (st *story) countCalls() func(*v1.Pod) string {
	p := st.profiles[v1.DefaultSchedulerName].(seeded)
	evaluator := preemptionOf(p).Evaluator
	chosen := evaluator.Interface.(seededPreemption)
	a := &callCounter{Framework: p.Framework, Interface: chosen.Interface}
	p.Framework, chosen.Interface = a, a
	st.profiles[v1.DefaultSchedulerName], evaluator.Interface = p, chosen
	return func(pod *v1.Pod) string {
		st.put(pod)
		for st.try().Pod.Name != pod.Name {
		}
		return fmt.Sprintf("%d %d %d", a.filters.Swap(0), a.victims.Swap(0), a.postFilters.Swap(0))
	}
}

// TestCacheSavesCalls checks that for a pod like the previous one, the plugins are called only for
// changed nodes.
func TestCacheSavesCalls(t *testing.T) {
	nodes := func(each ...podEdit) (objects []runtime.Object) {
		for i := range 5 {
			name := fmt.Sprint("n", i)
			objects = append(objects, aNode(name), at(name, aPod("old-"+name, append(each, requests("cpu", "3"))...)))
		}
		return objects
	}
	big := func(name string, edits ...podEdit) *v1.Pod { return aPod(name, append(edits, requests("cpu", "2"))...) }
	t.Run("in vain", func(t *testing.T) { // nobody can be preempted
		st := newStory(t, nodes()...)
		asks := st.countCalls()
		expect(t, "the first pod", asks(big("a")), "5 1 1") // on no node there is anybody less important: that is asked once
		expect(t, "one like it", asks(big("b")), "0 0 0")
		st.put(aNode("n3", has("cpu", "4500m")))
		expect(t, "one like it, when a node has changed", asks(big("c")), "1 0 0")
		expect(t, "one of another kind", asks(big("d", podLabel("app", "web"), tolerates("infra"))), "5 0 0")
		expect(t, "a less important one", asks(big("e", priority(-1))), "5 0 0")
		expect(t, "one that says itself that it is of the usual importance", asks(big("f", priority(0))), "0 0 0")
		st.put(aNode("n5", taint("infra")))
		expect(t, "one like the first, when a node has come", asks(big("g")), "6 0 1")
		expect(t, "one that asks for a port, too", asks(big("h", hostPort(80))), "6 0 0")
		never := v1.PreemptNever
		expect(t, "one that may not preempt", asks(big("i", func(p *v1.Pod) { p.Spec.PreemptionPolicy = &never })), "0 0 1")
		may := v1.PreemptLowerPriority
		expect(t, "one that may", asks(big("j", func(p *v1.Pod) { p.Spec.PreemptionPolicy = &may })), "0 0 0")
	})
	t.Run("passed by the first filters, and not by others", func(t *testing.T) {
		st := newStory(t, nodes(podLabel("app", "web"))...)
		asks := st.countCalls()
		small := func(name string) *v1.Pod { return aPod(name, antiAffinity(near(v1.LabelHostname, "app", "web"))) }
		expect(t, "the first pod", asks(small("a")), "5 1 1")
		expect(t, "one like it", asks(small("b")), "0 0 0")
	})
	t.Run("fits", func(t *testing.T) {
		st := newStory(t, nodes()...)
		asks := st.countCalls()
		expect(t, "the first pod", asks(aPod("a", requests("cpu", "1"))), "5 0 0")
		expect(t, "one like it", asks(aPod("b", requests("cpu", "1"))), "1 0 0")
	})
	t.Run("preempting", func(t *testing.T) {
		st := newStory(t, nodes()...)
		asks := st.countCalls()
		expect(t, "the first pod", asks(big("a", priority(10))), "5 5 1")
		expect(t, "one like it", asks(big("b", priority(10))), "1 1 1") // to one node, the first is nominated
		budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "budget"}}
		st.put(budget)
		expect(t, "one like it, with a budget", asks(big("c", priority(10))), "1 5 1") // to another one, the second
		st.remove(budget)
		expect(t, "and without", asks(big("d", priority(10))), "1 5 1")
	})
}

// expect compares two texts.
func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %s, want %s", what, got, want)
	}
}

// TestPostFilterCacheIsBounded checks the limit of cached PostFilter results.
func TestPostFilterCacheIsBounded(t *testing.T) {
	st := newStory(t, aNode("one"), at("one", aPod("old", requests("cpu", "3"))))
	m := st.profiles[v1.DefaultSchedulerName].(seeded).memory
	for i := range maxPostFilterResults {
		m.futile[emptyNodes{nodes: 2 + i}] = postFilterResult{}
	}
	if a := st.tries(aPod("web", requests("cpu", "2"))); !strings.Contains(a.Message, "No preemption victims found") || len(m.futile) != 1 {
		t.Errorf("%d are remembered, and it says %q", len(m.futile), a.Message)
	}
}

// TestFutureVictimsAreNotCached checks that victims are not cached while one of them starts in the
// future, because their order changes with time.
func TestFutureVictimsAreNotCached(t *testing.T) {
	st := newStory(t, aNode("one"), at("one", aPod("unstarted", requests("cpu", "2"))), at("one", aPod("to-start", requests("cpu", "2"), startedAt(5))))
	high := aPod("high", requests("cpu", "2"), priority(10))
	st.put(high)
	a, _ := st.Schedule(noon)
	if got := st.victims(); got != "to-start" {
		t.Errorf("at noon the victims are %s", got)
	}
	st.Undo(a)
	if _, ok := st.Resume(noon.Add(10*time.Minute), high); !ok || st.victims() != "unstarted" {
		t.Errorf("later the victims are %s", st.victims())
	}
}

// TestDeallocationIsNotCached checks that without possible victims, a pod with a claim does not get
// the cached result of one without: its claim may be deallocated (PostFilter in
// dynamicresources.go).
func TestDeallocationIsNotCached(t *testing.T) {
	claim := aDeviceClaim("mine", "gpu")
	claim.Status.Allocation = &resourcev1.AllocationResult{NodeSelector: selectNodes(v1.LabelHostname, "one"), Devices: resourcev1.DeviceAllocationResult{
		Results: []resourcev1.DeviceRequestAllocationResult{{Request: "one", Driver: "gpu.example.com", Pool: "one", Device: "gpu-0"}},
	}}
	st := newStory(t, aNode("one", func(n *v1.Node) { n.Spec.Unschedulable = true }), aNode("two"), aDeviceClass("gpu"), aSlice("one", "gpu-0"), claim)
	st.tries(aPod("big", requests("cpu", "9")))
	st.Writes()
	a := st.tries(aPod("ml", usesDevice("mine")))
	writes := st.Writes()
	if given, ok := writes[0].Object.(*resourcev1.ResourceClaim); !ok || given.Status.Allocation != nil || !strings.Contains(a.Message, "deallocation of ResourceClaim completed") {
		t.Errorf("it says %q, and wrote %+v", a.Message, writes)
	}
}
