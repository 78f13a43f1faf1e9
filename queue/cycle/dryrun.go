package cycle

import (
	"context"
	"math"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// Upstream dry-runs a preemption on every node that might do. For each it copies the node and the cycle's
// state and makes a victim of each pod, also where it then finds nobody that is less important than the
// preemptor. In a full cluster that is most of an attempt's time, so such nodes are handed out without their
// pods, and copies made only where they are needed. What upstream decides and says stays the same.

// dryRun hands out the nodes of an attempt for its preemption.
type dryRun struct {
	fwk.NodeToStatusReader
	scheduler *Scheduler
	priority  int32 // the preemptor's
}

// NodesForStatusCode implements fwk.NodeToStatusReader. The nodes are in the cluster's order; upstream's own
// order is that of a map.
func (d dryRun) NodesForStatusCode(cluster fwk.NodeInfoLister, code fwk.Code) ([]fwk.NodeInfo, error) {
	all, err := cluster.List()
	if err != nil {
		return nil, err
	}
	var nodes []fwk.NodeInfo
	for _, node := range all {
		if d.Get(node.Node().Name).Code() != code {
			continue
		}
		if d.scheduler.leastPriority(node) >= d.priority {
			node = &deserted{node}
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

// deserted is a node on which there is nobody to preempt.
type deserted struct{ fwk.NodeInfo }

// GetPods implements fwk.NodeInfo.
func (*deserted) GetPods() []fwk.PodInfo { return nil }

// Snapshot implements fwk.NodeInfo: nothing is taken from the node, so no copy is needed.
func (d *deserted) Snapshot() fwk.NodeInfo { return d }

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
	if s, ok := state.(*sparing); ok && len(victims) > 0 {
		state = s.CycleState.Clone()
	}
	pods, violations, status := p.Interface.SelectVictimsOnNode(ctx, state, preemptor, node, victims, budgets)
	if status.IsSuccess() && len(pods) > 0 {
		p.candidates.found.Add(1)
	}
	return pods, violations, status
}
