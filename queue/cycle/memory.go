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

// The first filter plugins of the default profile depend only on the node and on the part of the pod's spec in
// upstream's signature. Their verdict on a node is therefore the same for all pods with that signature until the
// node's generation changes. Most attempts in a large cluster are for a pod like the previous one, with one or two
// changed nodes, so a memory caches the verdicts.

// nodeLocal are the filter plugins whose verdicts can be cached. NodePorts is not among them, because its signature
// lacks protocols and addresses.
var nodeLocal = []string{names.NodeUnschedulable, names.NodeName, names.TaintToleration, names.NodeAffinity, names.NodeResourcesFit}

// maxVerdicts limits the cached verdicts, over all nodes and signatures. Beyond it, the cache is cleared.
const maxVerdicts = 1 << 19

// memory caches the verdicts of a profile's plugins on nodes.
type memory struct {
	framework framework.Framework
	filters   []string // the profile's filter plugins, in their order
	signers   map[string]fwk.SignPlugin
	nodes     []fwk.NodeInfo // the snapshot's list, for which numbers and rows are valid
	numbers   map[string]int // index in nodes by name
	rows      map[string]*row

	postFilters []string // the profile's PostFilter plugins
	futile      map[emptyNodes]postFilterResult
}

// row contains the verdicts on each node for pods of one signature and priority.
type row struct {
	verdicts   []nodeVerdict
	selections []*selection // nil until the first preemption
}

// nodeVerdict is the status of the cached plugins for a node with its nominated pods; nil if all passed.
type nodeVerdict struct {
	generation int64
	nominated  []*v1.Pod
	status     *fwk.Status
}

// selection is the set of pods that a preemption would evict from a node.
type selection struct {
	nodeVerdict
	budgets    uint64 // Scheduler.budgets
	victims    []*v1.Pod
	violations int
}

func newMemory(f framework.Framework) *memory {
	m := &memory{framework: f, signers: map[string]fwk.SignPlugin{}, futile: map[emptyNodes]postFilterResult{}}
	plugins := f.ListPlugins()
	m.postFilters = enabled(plugins.PostFilter)
	if utilfeature.DefaultFeatureGate.Enabled(features.InPlacePodVerticalScalingSchedulerPreemption) {
		return m // filters also depend on the pod's status
	}
	m.filters = enabled(plugins.Filter)
	for _, p := range f.EnqueueExtensions() { // contains all of nodeLocal
		if signer, ok := p.(fwk.SignPlugin); ok && slices.Contains(nodeLocal, p.Name()) {
			m.signers[p.Name()] = signer
		}
	}
	return m
}

// cacheAccess is an attempt's access to a memory, stored in the cycle's state.
type cacheAccess struct {
	*row
	numbers map[string]int
	uid     types.UID
	// skip are the plugins that are skipped or whose verdicts are cached. complete is true if those are all.
	skip     sets.Set[string]
	complete bool
}

const cacheKey fwk.StateKey = "schedq/cache"

// Clone implements fwk.StateData.
func (r *cacheAccess) Clone() fwk.StateData { return r }

// cacheOf returns the cacheAccess in state, or nil.
func cacheOf(state fwk.CycleState) *cacheAccess {
	data, err := state.Read(cacheKey)
	if err != nil {
		return nil
	}
	return data.(*cacheAccess)
}

// access returns the access to the verdicts for pods like pod after PreFilter, or nil if none can be cached.
func (m *memory) access(ctx context.Context, state fwk.CycleState, pod *v1.Pod) *cacheAccess {
	nodes, err := m.framework.SnapshotSharedLister().NodeInfos().List()
	if err != nil || len(nodes) == 0 {
		return nil
	}
	r := &cacheAccess{uid: pod.UID, skip: state.GetSkipFilterPlugins().Clone(), complete: true}
	signature := map[string]any{"priority": corev1helpers.PodPriority(pod)}
	var cached []string
	for _, name := range m.filters {
		if r.skip.Has(name) {
			continue
		}
		signer, ok := m.signers[name]
		if !ok { // this and all further plugins are called
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
		cached = append(cached, name)
		r.skip.Insert(name)
	}
	key, err := json.Marshal(signature)
	if err != nil || len(cached) == 0 {
		return nil
	}
	r.row, r.numbers = m.row(strings.Join(cached, " ")+string(key), nodes), m.numbers
	return r
}

// row returns the row of a signature.
func (m *memory) row(key string, nodes []fwk.NodeInfo) *row {
	// Upstream creates a new list whenever a node is added or deleted.
	if len(nodes) != len(m.nodes) || &nodes[0] != &m.nodes[0] {
		m.nodes, m.numbers, m.rows = nodes, make(map[string]int, len(nodes)), map[string]*row{}
		for i, n := range nodes {
			m.numbers[n.Node().Name] = i
		}
	}
	known, ok := m.rows[key]
	if !ok {
		if (len(m.rows)+1)*len(nodes) > maxVerdicts {
			clear(m.rows)
		}
		known = &row{verdicts: make([]nodeVerdict, len(nodes))}
		m.rows[key] = known
	}
	return known
}

// verdict returns the cache slot of a node with those nominated pods, or nil. Only the goroutine that filters the node
// may use it.
func (r *cacheAccess) verdict(node string, nominated []*v1.Pod) *nodeVerdict {
	if r == nil || r.isAmong(nominated) {
		return nil
	}
	i, ok := r.numbers[node]
	if !ok {
		return nil
	}
	return &r.verdicts[i]
}

// isAmong reports whether the attempt's pod is itself nominated: a pod does not count against itself.
func (r *cacheAccess) isAmong(nominated []*v1.Pod) bool {
	return slices.ContainsFunc(nominated, func(p *v1.Pod) bool { return p.UID == r.uid })
}

// validFor reports whether v applies to a node of that generation with those nominated pods.
func (v *nodeVerdict) validFor(generation int64, nominated []*v1.Pod) bool {
	return v.generation == generation && slices.Equal(v.nominated, nominated)
}

// uncachedState is a cycle's state that skips the cached plugins.
type uncachedState struct {
	fwk.CycleState
	skip sets.Set[string]
}

// GetSkipFilterPlugins implements fwk.CycleState.
func (s uncachedState) GetSkipFilterPlugins() sets.Set[string] { return s.skip }

// RunPreFilterPlugins implements framework.Framework.
func (f seeded) RunPreFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod) (*fwk.PreFilterResult, *fwk.Status, sets.Set[string]) {
	result, status, plugins := f.Framework.RunPreFilterPlugins(ctx, state, pod)
	if status.IsSuccess() {
		if r := f.memory.access(ctx, state, pod); r != nil {
			state.Write(cacheKey, r)
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
	r := cacheOf(state)
	known := r.verdict(name, nominated)
	if known != nil && known.validFor(generation, nominated) {
		switch {
		case known.status != nil || r.complete:
			return known.status
		case len(nominated) == 0:
			return f.RunFilterPlugins(ctx, uncachedState{state, r.skip}, pod, node)
		}
	}
	var status *fwk.Status
	if len(nominated) > 0 {
		status = f.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
	} else {
		status = f.RunFilterPlugins(ctx, state, pod, node) // equivalent, and faster
	}
	// A pod that passes these plugins with the nominated pods also passes without them.
	switch {
	case known == nil:
	case status.IsRejected() && r.skip.Has(status.Plugin()):
		*known = nodeVerdict{generation, nominated, status}
	case status.IsSuccess() || status.IsRejected():
		*known = nodeVerdict{generation, nominated, nil}
	}
	return status
}
