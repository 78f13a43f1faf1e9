package cycle

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	fwk "k8s.io/kube-scheduler/framework"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
)

// tieScale multiplies every node's score, to which seeded then adds the node's rank in an order that depends on the seed
// and the pod. Upstream breaks ties at random. It is larger than the number of nodes in a cluster.
const tieScale = 1 << 20

// seeded is a profile's framework that breaks ties with a seed.
type seeded struct {
	framework.Framework
	scheduler *Scheduler
	seed      uint64
	feasible  *search
	memory    *memory
	// olderBalance is nil unless the release's score differs from upstream's.
	olderBalance *olderBalance
}

// Parallelizer implements fwk.Handle for upstream's search for feasible nodes.
func (f seeded) Parallelizer() fwk.Parallelizer { return f }

// Until implements fwk.Parallelizer.
func (f seeded) Until(ctx context.Context, nodes int, examine workqueue.DoWorkPieceFunc, operation string) {
	f.searchNodes(ctx, f, nodes, examine, operation)
}

// searchNodes runs upstream's search for feasible nodes with the plugins of profile, which is f or a wrapper of it.
func (f seeded) searchNodes(ctx context.Context, profile framework.Framework, nodes int, examine workqueue.DoWorkPieceFunc, operation string) {
	f.feasible.need = f.scheduler.nodesToFind(profile, nodes)
	f.feasible.Until(ctx, nodes, examine, operation)
}

// nodesToFind returns how many feasible nodes of that many a search may examine in parallel.
func (s *Scheduler) nodesToFind(f framework.Framework, nodes int) int {
	if len(s.upstream.Extenders) > 0 {
		return 1 // keep the order, which matters to extenders
	}
	return s.numFeasibleNodesToFind(f, nodes)
}

// numFeasibleNodesToFind models numFeasibleNodesToFind and its caller findNodesThatPassFilters in schedule_one.go.
func (s *Scheduler) numFeasibleNodesToFind(f framework.Framework, nodes int) int {
	const least, leastPercentage = 100, 5
	matters := func(e fwk.Extender) bool { return e.IsFilter() || e.IsPrioritizer() }
	percentage := s.percentage
	if p := f.PercentageOfNodesToScore(); p != nil {
		percentage = *p
	}
	switch {
	case !f.HasScorePlugins() && !slices.ContainsFunc(s.upstream.Extenders, matters):
		return 1
	case nodes < least:
		return nodes
	case percentage == 0:
		percentage = max(leastPercentage, 50-int32(nodes)/125)
	}
	return max(least, nodes*int(percentage)/100)
}

// RunScorePlugins implements framework.Framework.
func (f seeded) RunScorePlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodePluginScores, *fwk.Status) {
	scores, status := f.scoreNodes(ctx, state, pod, nodes)
	f.breakTies(pod, scores)
	return scores, status
}

// breakTies makes the total scores of pod's nodes different.
func (f seeded) breakTies(pod *v1.Pod, scores []fwk.NodePluginScores) {
	type ranked struct {
		hash uint64
		i    int
	}
	order := make([]ranked, len(scores))
	for i := range scores {
		order[i] = ranked{hash(f.seed, string(pod.UID), scores[i].Name), i}
	}
	slices.SortStableFunc(order, func(a, b ranked) int { return cmp.Compare(a.hash, b.hash) })
	for rank, o := range order {
		s := &scores[o.i]
		s.TotalScore = s.TotalScore*tieScale + int64(rank)
	}
}

// scaledExtenders multiplies the extenders' weights by tieScale, as seeded does with the plugins' scores.
func scaledExtenders(extenders []schedulerapi.Extender) []schedulerapi.Extender {
	scaled := slices.Clone(extenders)
	for i := range scaled {
		scaled[i].Weight *= tieScale
		// An extender would bind in its own cluster.
		scaled[i].BindVerb = ""
	}
	return scaled
}

// modelledProfiles returns cfg's profiles without VolumeBinding's PreBind, which would wait for a volume controller, and
// without the plugins that the release does not have.
func modelledProfiles(cfg *schedulerconfig.Config) []schedulerapi.KubeSchedulerProfile {
	modelled := slices.Clone(cfg.Profiles)
	for i := range modelled {
		modelled[i] = *modelled[i].DeepCopy()
		plugins := modelled[i].Plugins
		if plugins == nil {
			continue
		}
		plugins.PreBind.Disabled = append(plugins.PreBind.Disabled, schedulerapi.Plugin{Name: names.VolumeBinding})
		if !cfg.DeallocatesClaims() {
			plugins.PostFilter.Disabled = append(plugins.PostFilter.Disabled, schedulerapi.Plugin{Name: names.DynamicResources})
		}
	}
	return modelled
}

func hash(seed uint64, texts ...string) uint64 {
	h := fnv.New64a()
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	h.Write(b[:])
	for _, t := range texts {
		h.Write([]byte(t))
		h.Write([]byte{0})
	}
	return h.Sum64()
}

// uid returns a UID for an object that the model creates.
func uid(parts ...string) types.UID {
	return types.UID(fmt.Sprintf("model-%016x", hash(0, parts...)))
}
