package cycle

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// Upstream breaks ties between nodes of the same score by chance. Here a seed does, so that a run can be
// repeated: every score is multiplied by tieScale, and each node gets its rank in an order that the seed
// and the pod give.
const tieScale = 1 << 20 // more than a cluster has nodes

// seeded is a profile's framework that breaks ties by a seed.
type seeded struct {
	framework.Framework
	seed uint64
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
	slices.SortFunc(order, func(a, b ranked) int {
		switch {
		case a.hash < b.hash:
			return -1
		case a.hash > b.hash:
			return 1
		}
		return a.i - b.i
	})
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

// modelledProfiles are the profiles without what would wait for a cluster: VolumeBinding's PreBind polls
// until a volume controller has done its part.
func modelledProfiles(profiles []schedulerapi.KubeSchedulerProfile) []schedulerapi.KubeSchedulerProfile {
	modelled := make([]schedulerapi.KubeSchedulerProfile, len(profiles))
	for i := range profiles {
		p := profiles[i].DeepCopy()
		if p.Plugins != nil {
			p.Plugins.PreBind.Disabled = append(p.Plugins.PreBind.Disabled, schedulerapi.Plugin{Name: names.VolumeBinding})
		}
		modelled[i] = *p
	}
	return modelled
}

// seededPreemption begins the search for victims at a node that the seed gives, not chance.
type seededPreemption struct {
	preemption.Interface
	seed uint64
}

// GetOffsetAndNumCandidates implements preemption.Interface.
func (p seededPreemption) GetOffsetAndNumCandidates(nodes int32) (offset, candidates int32) {
	_, candidates = p.Interface.GetOffsetAndNumCandidates(nodes)
	return int32(p.seed % uint64(max(1, nodes))), candidates
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
