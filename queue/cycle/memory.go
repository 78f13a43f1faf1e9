package cycle

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// The first filter plugins of the default profile look at nothing but the node and a part of the pod's
// specification that upstream's own signatures tell. What they said of a node therefore holds for all pods of
// the same signature until the node's generation changes: most attempts in a large cluster are of a pod like
// one that was just tried, over nodes of which one or two changed. So it is remembered, and the plugins are
// asked only of nodes that changed.

// nodeLocal are the filter plugins whose verdict may be remembered. NodePorts is not among them: its signature
// leaves out protocols and addresses.
var nodeLocal = []string{names.NodeUnschedulable, names.NodeName, names.TaintToleration, names.NodeAffinity, names.NodeResourcesFit}

// maxRemembered is how many verdicts are remembered at the most, over all nodes and signatures. One that
// would be more makes all be forgotten.
const maxRemembered = 1 << 19

// memory is what a profile's plugins said of nodes.
type memory struct {
	framework framework.Framework
	filters   []string // the profile's filter plugins, in their order
	signers   map[string]fwk.SignPlugin
	nodes     []fwk.NodeInfo // the snapshot's list to which numbers and rows belong
	numbers   map[string]int // of the nodes, by name
	rows      map[string]*row

	postFilters []string // the profile's PostFilter plugins
	deserts     map[desert]postFiltered
}

// row is what was said of each node for pods of one signature and priority.
type row struct {
	verdicts   []remembered
	selections []*selection // nil until the first preemption
}

// remembered is what those plugins said of a node with the pods that were nominated to run there; a nil
// status if all let it pass.
type remembered struct {
	generation int64
	nominated  []*v1.Pod
	status     *fwk.Status
}

// selection is whom a preemption would evict from a node.
type selection struct {
	remembered
	budgets    uint64 // the Scheduler's
	victims    []*v1.Pod
	violations int
}

func newMemory(f framework.Framework) *memory {
	m := &memory{framework: f, signers: map[string]fwk.SignPlugin{}, deserts: map[desert]postFiltered{}}
	plugins := f.ListPlugins()
	for _, p := range plugins.PostFilter.Enabled {
		m.postFilters = append(m.postFilters, p.Name)
	}
	if utilfeature.DefaultFeatureGate.Enabled(features.InPlacePodVerticalScalingSchedulerPreemption) {
		return m // then filters look at a pod's status, too
	}
	for _, p := range plugins.Filter.Enabled {
		m.filters = append(m.filters, p.Name)
	}
	for _, p := range f.EnqueueExtensions() { // all plugins that register for events, as all of these do
		if signer, ok := p.(fwk.SignPlugin); ok && slices.Contains(nodeLocal, p.Name()) {
			m.signers[p.Name()] = signer
		}
	}
	return m
}

// recall is an attempt's access to the memory, kept in the cycle's state.
type recall struct {
	*row
	numbers map[string]int
	uid     types.UID
	// skip are the plugins that have nothing to say, or whose verdict is remembered; complete is true if
	// those are all.
	skip     sets.Set[string]
	complete bool
}

const recallKey fwk.StateKey = "schedq/recall"

// Clone implements fwk.StateData.
func (r *recall) Clone() fwk.StateData { return r }

// recalled returns the recall in state, or nil.
func recalled(state fwk.CycleState) *recall {
	data, err := state.Read(recallKey)
	if err != nil {
		return nil
	}
	return data.(*recall)
}

// recall returns the access to what is known for pods like pod, of which state has what PreFilter left, or
// nil if nothing may be remembered.
func (m *memory) recall(ctx context.Context, state fwk.CycleState, pod *v1.Pod) *recall {
	nodes, err := m.framework.SnapshotSharedLister().NodeInfos().List()
	if err != nil || len(nodes) == 0 {
		return nil
	}
	r := &recall{uid: pod.UID, skip: state.GetSkipFilterPlugins().Clone(), complete: true}
	signature := map[string]any{"priority": corev1helpers.PodPriority(pod)}
	var asked []string
	for _, name := range m.filters {
		if r.skip.Has(name) {
			continue
		}
		signer, ok := m.signers[name]
		if !ok { // from here on, they are asked
			r.complete = false
			break
		}
		fragments, status := signer.SignPod(ctx, pod)
		if !status.IsSuccess() {
			r.complete = false
			break
		}
		for _, f := range fragments {
			signature[f.Key] = f.Value
		}
		asked = append(asked, name)
		r.skip.Insert(name)
	}
	key, err := json.Marshal(signature)
	if err != nil || len(asked) == 0 {
		return nil
	}
	r.row, r.numbers = m.row(strings.Join(asked, " ")+string(key), nodes), m.numbers
	return r
}

// row returns the row of a signature.
func (m *memory) row(key string, nodes []fwk.NodeInfo) *row {
	// Upstream makes a new list whenever a node comes or goes.
	if len(nodes) != len(m.nodes) || &nodes[0] != &m.nodes[0] {
		m.nodes, m.numbers, m.rows = nodes, make(map[string]int, len(nodes)), map[string]*row{}
		for i, n := range nodes {
			m.numbers[n.Node().Name] = i
		}
	}
	known, ok := m.rows[key]
	if !ok {
		if (len(m.rows)+1)*len(nodes) > maxRemembered {
			clear(m.rows)
		}
		known = &row{verdicts: make([]remembered, len(nodes))}
		m.rows[key] = known
	}
	return known
}

// verdict returns where the verdict of a node with those nominated pods is remembered, or nil. Each node's
// belongs to whoever looks at that node.
func (r *recall) verdict(node string, nominated []*v1.Pod) *remembered {
	if r == nil || r.isAmong(nominated) {
		return nil
	}
	i, ok := r.numbers[node]
	if !ok {
		return nil
	}
	return &r.verdicts[i]
}

// isAmong reports whether the attempted pod is itself one of those nominated: a pod does not count against itself.
func (r *recall) isAmong(nominated []*v1.Pod) bool {
	return slices.ContainsFunc(nominated, func(p *v1.Pod) bool { return p.UID == r.uid })
}

// validFor reports whether the plugins would still say v: of a node of that generation, with those pods nominated.
func (v *remembered) validFor(generation int64, nominated []*v1.Pod) bool {
	return v.generation == generation && slices.Equal(v.nominated, nominated)
}

// remembering is a cycle's state for the plugins that are not remembered.
type remembering struct {
	fwk.CycleState
	skip sets.Set[string]
}

// GetSkipFilterPlugins implements fwk.CycleState.
func (s remembering) GetSkipFilterPlugins() sets.Set[string] { return s.skip }

// RunPreFilterPlugins implements framework.Framework.
func (f seeded) RunPreFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod) (*fwk.PreFilterResult, *fwk.Status, sets.Set[string]) {
	result, status, plugins := f.Framework.RunPreFilterPlugins(ctx, state, pod)
	if status.IsSuccess() {
		if r := f.memory.recall(ctx, state, pod); r != nil {
			state.Write(recallKey, r)
		}
	}
	return result, status, plugins
}

// RunFilterPluginsWithNominatedPods implements framework.Framework.
func (f seeded) RunFilterPluginsWithNominatedPods(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	status := f.filter(ctx, state, pod, node)
	if status.IsSuccess() {
		f.feasible.found.Add(1)
	}
	return status
}

func (f seeded) filter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	name, generation := node.Node().Name, node.GetGeneration()
	nominated := f.scheduler.queue.NominatedPodsForNode(name)
	r := recalled(state)
	known := r.verdict(name, nominated)
	if known != nil && known.validFor(generation, nominated) {
		switch {
		case known.status != nil || r.complete:
			return known.status
		case len(nominated) == 0:
			return f.RunFilterPlugins(ctx, remembering{state, r.skip}, pod, node)
		}
	}
	var status *fwk.Status
	if len(nominated) > 0 {
		status = f.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
	} else {
		status = f.RunFilterPlugins(ctx, state, pod, node) // what it comes to then
	}
	// Whom these plugins let pass with the nominated pods, they let pass without.
	switch {
	case known == nil:
	case status.IsRejected() && r.skip.Has(status.Plugin()):
		*known = remembered{generation, nominated, status}
	case status.IsSuccess() || status.IsRejected():
		*known = remembered{generation, nominated, nil}
	}
	return status
}
