package cycle

import (
	"context"
	"math"
	"slices"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// olderBalance computes NodeResourcesBalancedAllocation's score of a release before v1.36: how balanced the node is with
// the pod. Later releases score how much the pod improves the balance. It models balanced_allocation.go in v1.35.
type olderBalance struct {
	resources []schedulerapi.ResourceSpec
	// scoresBestEffort is true before v1.33: later releases do not score nodes for a pod without requests.
	scoresBestEffort bool
}

// newOlderBalance returns the older score for a profile, or nil if the release's is upstream's.
func newOlderBalance(profile *schedulerapi.KubeSchedulerProfile, minor int) *olderBalance {
	if minor >= 36 {
		return nil
	}
	b := &olderBalance{scoresBestEffort: minor < 33}
	for _, c := range profile.PluginConfig {
		if args, ok := c.Args.(*schedulerapi.NodeResourcesBalancedAllocationArgs); ok {
			b.resources = args.Resources
		}
	}
	return b
}

// rescore replaces upstream's raw scores of the plugin in scores, which are of nodes in the same order.
func (b *olderBalance) rescore(pod fwk.PodInfo, nodes []fwk.NodeInfo, scores []fwk.NodePluginScores) {
	request := pod.CalculateResource().Resource
	for i := range scores {
		k := slices.IndexFunc(scores[i].RawScores, func(s fwk.PluginScore) bool { return s.Name == names.NodeResourcesBalancedAllocation })
		if k >= 0 {
			scores[i].RawScores[k].Score = b.score(request, nodes[i])
		}
	}
}

func (b *olderBalance) score(request fwk.Resource, node fwk.NodeInfo) int64 {
	var fractions []float64
	total := 0.0
	for _, r := range b.resources {
		name := v1.ResourceName(r.Name)
		allocatable, asked := amountOf(node.GetAllocatable(), name), amountOf(request, name)
		if allocatable == 0 || asked == 0 && !isNative(name) {
			continue
		}
		fraction := min(1, float64(amountOf(node.GetRequested(), name)+asked)/float64(allocatable))
		fractions, total = append(fractions, fraction), total+fraction
	}
	deviation := 0.0
	switch n := float64(len(fractions)); {
	case n == 2: // as upstream, for equal rounding
		deviation = math.Abs((fractions[0] - fractions[1]) / 2)
	case n > 2:
		sum := 0.0
		for _, f := range fractions {
			sum += (f - total/n) * (f - total/n)
		}
		deviation = math.Sqrt(sum / n)
	}
	return int64((1 - deviation) * float64(fwk.MaxScore))
}

func isNative(name v1.ResourceName) bool {
	return name == v1.ResourceCPU || name == v1.ResourceMemory || name == v1.ResourceEphemeralStorage
}

// amountOf returns the amount of a resource in r, in upstream's unit.
func amountOf(r fwk.Resource, name v1.ResourceName) int64 {
	switch name {
	case v1.ResourceCPU:
		return r.GetMilliCPU()
	case v1.ResourceMemory:
		return r.GetMemory()
	case v1.ResourceEphemeralStorage:
		return r.GetEphemeralStorage()
	}
	return r.GetScalarResources()[name]
}

// RunPreScorePlugins implements framework.Framework.
func (f seeded) RunPreScorePlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	status := f.Framework.RunPreScorePlugins(ctx, state, pod, nodes)
	if b := f.olderBalance; b != nil && b.scoresBestEffort {
		state.SetSkipScorePlugins(state.GetSkipScorePlugins().Clone().Delete(names.NodeResourcesBalancedAllocation))
	}
	return status
}

// scoreNodes runs the Score plugins as the release does.
func (f seeded) scoreNodes(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodePluginScores, *fwk.Status) {
	scores, status := f.Framework.RunScorePlugins(ctx, state, pod, nodes)
	if f.olderBalance == nil || !status.IsSuccess() {
		return scores, status
	}
	info, _ := framework.NewPodInfo(pod) // an error means that it lacks an affinity term
	f.olderBalance.rescore(info, nodes, scores)
	return scores, f.NormalizeScores(ctx, state, pod, scores)
}
