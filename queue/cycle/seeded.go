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

// Upstream breaks ties between nodes of the same score by chance. Here a seed does, so that a run can be
// repeated: every score is multiplied by tieScale, and each node gets its rank in an order that the seed
// and the pod give.
const tieScale = 1 << 20 // more than a cluster has nodes

// seeded is a profile's framework that breaks ties by a seed.
type seeded struct {
	framework.Framework
	scheduler *Scheduler
	seed      uint64
	feasible  *search
	memory    *memory
}

// Parallelizer implements fwk.Handle: upstream's search for feasible nodes asks for it.
func (f seeded) Parallelizer() fwk.Parallelizer { return f }

// Until implements fwk.Parallelizer.
func (f seeded) Until(ctx context.Context, nodes int, look workqueue.DoWorkPieceFunc, operation string) {
	f.feasible.need = f.scheduler.nodesToFind(f, nodes)
	f.feasible.Until(ctx, nodes, look, operation)
}

// nodesToFind models numFeasibleNodesToFind and its caller, findNodesThatPassFilters, of schedule_one.go.
func (s *Scheduler) nodesToFind(f framework.Framework, nodes int) int {
	const least, leastPercentage = 100, 5
	percentage := s.percentage
	if p := f.PercentageOfNodesToScore(); p != nil {
		percentage = *p
	}
	switch {
	case len(s.upstream.Extenders) > 0:
		return 1 // it would matter to them who comes first
	case !f.HasScorePlugins():
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
	scores, status := f.Framework.RunScorePlugins(ctx, state, pod, nodes)
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
	return scores, status
}

// scaledExtenders gives the extenders' scores the scale of the plugins'.
func scaledExtenders(extenders []schedulerapi.Extender) []schedulerapi.Extender {
	scaled := slices.Clone(extenders)
	for i := range scaled {
		scaled[i].Weight *= tieScale
		// A binder would bind in its own cluster; here the model binds.
		scaled[i].BindVerb = ""
	}
	return scaled
}

// modelledProfiles are cfg's profiles without what would wait for a cluster, as VolumeBinding's PreBind polls until a volume controller
// has done its part, and without what its release does not do.
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

// uid returns a UID for an object that the model makes.
func uid(parts ...string) types.UID {
	return types.UID(fmt.Sprintf("model-%016x", hash(0, parts...)))
}
