package cycle

import (
	"context"
	"math"
	"slices"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// Upstream dry-runs preemption on every candidate node. For each, it copies the node and the cycle's state and makes a
// victim of each pod, even if no pod has a lower priority than the preemptor. In a full cluster, that is most of an
// attempt's time. The types below speed it up without changing the result: they hide the pods of nodes without
// possible victims, copy only when necessary, and cache the victims by node as memory.go caches the filters' verdicts.

// dryRun provides the candidate nodes of a preemption.
type dryRun struct {
	fwk.NodeToStatusReader
	nodes []fwk.NodeInfo // where preemption might help, in the cluster's order; upstream's order is a map's
	empty int            // number of nodes without possible victims
}

// NodesForStatusCode implements fwk.NodeToStatusReader. Upstream passes only the code Unschedulable.
func (d dryRun) NodesForStatusCode(fwk.NodeInfoLister, fwk.Code) ([]fwk.NodeInfo, error) {
	return d.nodes, nil
}

// dryRun returns the candidate nodes for preemptor.
func (s *Scheduler) dryRun(preemptor *v1.Pod, statuses fwk.NodeToStatusReader, r *cacheAccess) (dryRun, error) {
	d := dryRun{NodeToStatusReader: statuses}
	all, err := s.snapshot.NodeInfos().List()
	if err != nil {
		return d, err
	}
	priority := corev1helpers.PodPriority(preemptor)
	// A victim group spans nodes and has the priority of the group, not of its pods.
	groups := utilfeature.DefaultFeatureGate.Enabled(features.GenericWorkload)
	d.nodes = make([]fwk.NodeInfo, 0, len(all))
	for _, node := range all {
		if statuses.Get(node.Node().Name).Code() != fwk.Unschedulable {
			continue
		}
		switch {
		case groups:
		case s.lowestPriority(node) >= priority:
			node = emptyNode{node}
			d.empty++
		case r != nil && r.complete:
			node = &cachedNode{NodeInfo: node, scheduler: s, cache: r}
		}
		d.nodes = append(d.nodes, node)
	}
	return d, nil
}

// emptyNodes identifies a PostFilter result without possible victims: the numbers of all nodes and of candidates.
type emptyNodes struct{ nodes, candidates int }

// postFilterResult is a cached result of PostFilter.
type postFilterResult struct {
	result *fwk.PostFilterResult
	status *fwk.Status
}

// maxPostFilterResults limits the cached results of PostFilter.
const maxPostFilterResults = 1000

// futile reports whether PostFilter would only count candidate nodes, because there are no possible victims.
func (f seeded) futile(state fwk.CycleState, pod *v1.Pod, d dryRun) bool {
	if len(d.nodes) != d.empty || pod.Status.NominatedNodeName != "" || pod.Spec.PreemptionPolicy != nil && *pod.Spec.PreemptionPolicy != v1.PreemptLowerPriority {
		return false
	}
	for _, p := range f.memory.postFilters {
		withoutClaims := p == names.DynamicResources && state.GetSkipFilterPlugins().Has(p)
		if p != names.DefaultPreemption && !withoutClaims {
			return false
		}
	}
	return true
}

// RunPostFilterPlugins implements framework.Framework.
func (f seeded) RunPostFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	f.scheduler.cancelEvictions(pod.UID) // a retry starts a new preemption
	return f.runPostFilter(ctx, state, pod, nodes)
}

// runPostFilter runs the PostFilter plugins, with cached results where possible.
func (f seeded) runPostFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	f.scheduler.preemptor = pod.UID
	r := cacheOf(state)
	if r != nil && r.complete && r.selections == nil {
		r.selections = make([]*selection, len(r.verdicts))
	}
	d, err := f.scheduler.dryRun(pod, nodes, r)
	if err != nil {
		return nil, fwk.AsStatus(err)
	}
	key, futile := emptyNodes{f.scheduler.snapshot.NumNodesInPlacement(), d.empty}, f.futile(state, pod, d)
	if known, ok := f.memory.futile[key]; ok && futile {
		return known.result, known.status
	}
	result, status := f.Framework.RunPostFilterPlugins(ctx, &lazyState{state}, pod, d)
	if futile && status.IsRejected() {
		if len(f.memory.futile) >= maxPostFilterResults {
			clear(f.memory.futile)
		}
		f.memory.futile[key] = postFilterResult{result, status}
	}
	return result, status
}

// emptyNode is a node without possible victims.
type emptyNode struct{ fwk.NodeInfo }

// GetPods implements fwk.NodeInfo.
func (emptyNode) GetPods() []fwk.PodInfo { return nil }

// Snapshot implements fwk.NodeInfo. It need not copy the node, because upstream removes no pods from it.
func (d emptyNode) Snapshot() fwk.NodeInfo { return d }

// cachedNode is a node whose victims may be cached. Upstream first calls GetPods, and only for some nodes.
type cachedNode struct {
	fwk.NodeInfo
	scheduler *Scheduler
	cache     *cacheAccess
	known     *selection // set by GetPods
}

// GetPods implements fwk.NodeInfo.
func (n *cachedNode) GetPods() []fwk.PodInfo {
	if n.known = n.scheduler.selection(n.cache, n.NodeInfo); n.known != nil {
		return nil // the victims are known
	}
	return n.NodeInfo.GetPods()
}

// Snapshot implements fwk.NodeInfo.
func (n *cachedNode) Snapshot() fwk.NodeInfo {
	if n.known != nil {
		return n
	}
	return n.NodeInfo.Snapshot()
}

// lowestPriority is the lowest priority of a node's pods in one of its generations.
type lowestPriority struct {
	generation int64
	priority   int32
}

// lowestPriority returns the lowest priority of the pods on node.
func (s *Scheduler) lowestPriority(node fwk.NodeInfo) int32 {
	name, generation := node.Node().Name, node.GetGeneration()
	if known, ok := s.lowest[name]; ok && known.generation == generation {
		return known.priority
	}
	l := lowestPriority{generation, math.MaxInt32}
	for _, pod := range node.GetPods() {
		l.priority = min(l.priority, corev1helpers.PodPriority(pod.GetPod()))
	}
	s.lowest[name] = l
	return l.priority
}

// lazyState is a cycle's state whose Clone does not copy. selectVictims copies it when necessary.
type lazyState struct{ fwk.CycleState }

// Clone implements fwk.CycleState.
func (s *lazyState) Clone() fwk.CycleState { return s }

// SelectVictimsOnNode implements preemption.Interface.
func (p seededPreemption) SelectVictimsOnNode(ctx context.Context, state fwk.CycleState, preemptor *v1.Pod, node fwk.NodeInfo, victims []*preemption.DomainVictim, budgets []*policyv1.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	var known *selection
	if n, ok := node.(*cachedNode); ok {
		known = n.known
	} else {
		known = p.scheduler.selectVictims(ctx, p.Interface, state, preemptor, node, victims, budgets)
	}
	if known.status.IsSuccess() && len(known.victims) > 0 {
		p.candidates.found.Add(1)
	}
	return slices.Clone(known.victims), known.violations, known.status
}

// selectVictims calls upstream and caches the result if possible.
func (s *Scheduler) selectVictims(ctx context.Context, upstream preemption.Interface, state fwk.CycleState, preemptor *v1.Pod, node fwk.NodeInfo, victims []*preemption.DomainVictim, budgets []*policyv1.PodDisruptionBudget) *selection {
	_, empty := node.(emptyNode)
	if empty {
		if known := s.noVictims.Load(); known != nil {
			return known
		}
	}
	name, generation := node.Node().Name, node.GetGeneration()
	// The order of pods that start in the future changes with time.
	cacheable := !slices.ContainsFunc(node.GetPods(), func(p fwk.PodInfo) bool { return s.started(p.GetPod()).After(s.now) })
	if lazy, ok := state.(*lazyState); ok && len(victims) > 0 {
		state = lazy.CycleState.Clone()
	}
	found := &selection{budgets: s.budgets}
	found.victims, found.violations, found.status = upstream.SelectVictimsOnNode(ctx, state, preemptor, node, victims, budgets)
	switch {
	case empty:
		s.noVictims.Store(found) // the result for every empty node
	case cacheable && (found.status.IsSuccess() || found.status.IsRejected()):
		found.generation, found.nominated = generation, s.queue.NominatedPodsForNode(name)
		cacheOf(state).store(name, found)
	}
	return found
}

// selection returns the cached victims on node, or nil.
func (s *Scheduler) selection(r *cacheAccess, node fwk.NodeInfo) *selection {
	name := node.Node().Name
	i, ok := r.numbers[name]
	if !ok || r.selections[i] == nil {
		return nil
	}
	known, nominated := r.selections[i], s.queue.NominatedPodsForNode(name)
	if r.isAmong(nominated) || known.budgets != s.budgets || !known.validFor(node.GetGeneration(), nominated) {
		return nil
	}
	return known
}

// store caches the victims on a node.
func (r *cacheAccess) store(node string, found *selection) {
	if r == nil || !r.complete || r.isAmong(found.nominated) {
		return
	}
	if i, ok := r.numbers[node]; ok {
		r.selections[i] = found
	}
}
