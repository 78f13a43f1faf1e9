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

// Upstream dry-runs a preemption on every node that might do. For each it copies the node and the cycle's
// state and makes a victim of each pod, also where it then finds nobody that is less important than the
// preemptor. In a full cluster that is most of an attempt's time, so such nodes are handed out without their
// pods, and copies made only where they are needed; and whom it would evict from a node is remembered as the
// filters' verdicts are. What upstream decides and says stays the same.

// dryRun hands out the nodes of an attempt for its preemption.
type dryRun struct {
	fwk.NodeToStatusReader
	nodes    []fwk.NodeInfo // where preemption might help, in the cluster's order; upstream's own is that of a map
	deserted int            // how many of them have nobody to preempt
}

// NodesForStatusCode implements fwk.NodeToStatusReader. Upstream asks for one code only, Unschedulable.
func (d dryRun) NodesForStatusCode(fwk.NodeInfoLister, fwk.Code) ([]fwk.NodeInfo, error) {
	return d.nodes, nil
}

// dryRun prepares the dry runs of preemptor.
func (s *Scheduler) dryRun(preemptor *v1.Pod, statuses fwk.NodeToStatusReader, r *recall) (dryRun, error) {
	d := dryRun{NodeToStatusReader: statuses}
	all, err := s.snapshot.NodeInfos().List()
	if err != nil {
		return d, err
	}
	priority := corev1helpers.PodPriority(preemptor)
	// The victims of a group are on many nodes, and as important as the group.
	groups := utilfeature.DefaultFeatureGate.Enabled(features.GenericWorkload)
	d.nodes = make([]fwk.NodeInfo, 0, len(all))
	for _, node := range all {
		if statuses.Get(node.Node().Name).Code() != fwk.Unschedulable {
			continue
		}
		switch {
		case groups:
		case s.leastPriority(node) >= priority:
			node = deserted{node}
			d.deserted++
		case r != nil && r.complete:
			node = &recalling{NodeInfo: node, scheduler: s, recall: r}
		}
		d.nodes = append(d.nodes, node)
	}
	return d, nil
}

// desert is a cluster of so many nodes in which there is nobody to preempt where that might help.
type desert struct{ nodes, deserted int }

// postFiltered is what PostFilter says of a pod that needs nothing but room.
type postFiltered struct {
	result *fwk.PostFilterResult
	status *fwk.Status
}

// maxDeserts is how many such answers are remembered at the most.
const maxDeserts = 1000

// futile reports whether PostFilter would only count the nodes where there is nobody to preempt for pod.
func (f seeded) futile(state fwk.CycleState, pod *v1.Pod, d dryRun) bool {
	if len(d.nodes) != d.deserted || pod.Status.NominatedNodeName != "" || pod.Spec.PreemptionPolicy != nil && *pod.Spec.PreemptionPolicy != v1.PreemptLowerPriority {
		return false
	}
	for _, p := range f.memory.postFilters {
		claimless := p == names.DynamicResources && state.GetSkipFilterPlugins().Has(p)
		if p != names.DefaultPreemption && !claimless {
			return false
		}
	}
	return true
}

// RunPostFilterPlugins implements framework.Framework.
func (f seeded) RunPostFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	f.scheduler.giveUpEvictions(pod.UID) // one that is tried although its victims live asks anew
	f.scheduler.preemptor = pod.UID
	r := recalled(state)
	if r != nil && r.complete && r.selections == nil {
		r.selections = make([]*selection, len(r.verdicts))
	}
	d, err := f.scheduler.dryRun(pod, nodes, r)
	if err != nil {
		return nil, fwk.AsStatus(err)
	}
	cluster, futile := desert{f.scheduler.snapshot.NumNodesInPlacement(), d.deserted}, f.futile(state, pod, d)
	if known, ok := f.memory.deserts[cluster]; ok && futile {
		return known.result, known.status
	}
	result, status := f.Framework.RunPostFilterPlugins(ctx, &sparing{state}, pod, d)
	if futile && status.IsRejected() {
		if len(f.memory.deserts) >= maxDeserts {
			clear(f.memory.deserts)
		}
		f.memory.deserts[cluster] = postFiltered{result, status}
	}
	return result, status
}

// deserted is a node on which there is nobody to preempt.
type deserted struct{ fwk.NodeInfo }

// GetPods implements fwk.NodeInfo.
func (deserted) GetPods() []fwk.PodInfo { return nil }

// Snapshot implements fwk.NodeInfo: nothing is taken from the node, so no copy is needed.
func (d deserted) Snapshot() fwk.NodeInfo { return d }

// recalling is a node of which may be remembered whom to preempt there. Upstream looks only at some nodes, at
// their pods first.
type recalling struct {
	fwk.NodeInfo
	scheduler *Scheduler
	recall    *recall
	known     *selection // once its pods were asked for
}

// GetPods implements fwk.NodeInfo.
func (n *recalling) GetPods() []fwk.PodInfo {
	if n.known = n.scheduler.selection(n.recall, n.NodeInfo); n.known != nil {
		return nil // it need not be worked out who they are
	}
	return n.NodeInfo.GetPods()
}

// Snapshot implements fwk.NodeInfo.
func (n *recalling) Snapshot() fwk.NodeInfo {
	if n.known != nil {
		return n
	}
	return n.NodeInfo.Snapshot()
}

// least is the least priority on a node, as of one of its generations.
type least struct {
	generation int64
	priority   int32
}

// leastPriority returns the least priority of the pods on node.
func (s *Scheduler) leastPriority(node fwk.NodeInfo) int32 {
	name, generation := node.Node().Name, node.GetGeneration()
	if known, ok := s.least[name]; ok && known.generation == generation {
		return known.priority
	}
	l := least{generation, math.MaxInt32}
	for _, pod := range node.GetPods() {
		l.priority = min(l.priority, corev1helpers.PodPriority(pod.GetPod()))
	}
	s.least[name] = l
	return l.priority
}

// sparing is a cycle's state that is not copied when upstream asks for a copy, but when that is used.
type sparing struct{ fwk.CycleState }

// Clone implements fwk.CycleState.
func (s *sparing) Clone() fwk.CycleState { return s }

// SelectVictimsOnNode implements preemption.Interface.
func (p seededPreemption) SelectVictimsOnNode(ctx context.Context, state fwk.CycleState, preemptor *v1.Pod, node fwk.NodeInfo, victims []*preemption.DomainVictim, budgets []*policyv1.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	var known *selection
	if n, ok := node.(*recalling); ok {
		known = n.known
	} else {
		known = p.scheduler.selectVictims(ctx, p.Interface, state, preemptor, node, victims, budgets)
	}
	if known.status.IsSuccess() && len(known.victims) > 0 {
		p.candidates.found.Add(1)
	}
	return slices.Clone(known.victims), known.violations, known.status
}

// selectVictims asks upstream whom to preempt on node, and remembers the answer if that may be.
func (s *Scheduler) selectVictims(ctx context.Context, upstream preemption.Interface, state fwk.CycleState, preemptor *v1.Pod, node fwk.NodeInfo, victims []*preemption.DomainVictim, budgets []*policyv1.PodDisruptionBudget) *selection {
	_, nobody := node.(deserted)
	if nobody {
		if known := s.nobody.Load(); known != nil {
			return known
		}
	}
	name, generation := node.Node().Name, node.GetGeneration()
	// Of pods that start in the future, the order changes with time.
	lasting := !slices.ContainsFunc(node.GetPods(), func(p fwk.PodInfo) bool { return s.started(p.GetPod()).After(s.now) })
	if spared, ok := state.(*sparing); ok && len(victims) > 0 {
		state = spared.CycleState.Clone()
	}
	found := &selection{budgets: s.budgets}
	found.victims, found.violations, found.status = upstream.SelectVictimsOnNode(ctx, state, preemptor, node, victims, budgets)
	switch {
	case nobody:
		s.nobody.Store(found) // which every such node is told
	case lasting && (found.status.IsSuccess() || found.status.IsRejected()):
		found.generation, found.nominated = generation, s.queue.NominatedPodsForNode(name)
		recalled(state).remember(name, found)
	}
	return found
}

// selection returns whom a preemption would evict from node, if that is remembered, or nil.
func (s *Scheduler) selection(r *recall, node fwk.NodeInfo) *selection {
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

// remember keeps whom a preemption would evict from a node.
func (r *recall) remember(node string, found *selection) {
	if r == nil || !r.complete || r.isAmong(found.nominated) {
		return
	}
	if i, ok := r.numbers[node]; ok {
		r.selections[i] = found
	}
}
