package model_test

import (
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/queue/session/world/replayed"
	"github.com/schedq/schedq/sources"
)

// TestDump: a dump of the scheduler's queue puts pods where it lists them, and gated ones are listed as unschedulable. It tells
// nothing of a pod that has another UID, and what it says of where a pod is anyhow changes nothing.
func TestDump(t *testing.T) {
	dumped := func(c *world.Cluster, pod *v1.Pod, uid types.UID, in sources.Tier) {
		c.Add(4, &sources.Dumped{Pod: world.Key(pod.Name), UID: uid, In: in})
	}
	var c world.Cluster
	world.Change(&c, 1, sources.Added, world.Node("node-a", "1"), nil)
	woken := world.Change(&c, 2, sources.Added, world.PendingPod("woken", "2"), nil)
	stays := world.Change(&c, 2.1, sources.Added, world.PendingPod("stays", "2"), nil)
	other := world.Change(&c, 2.2, sources.Added, world.PendingPod("other", "2"), nil)
	gated := world.Change(&c, 2.3, sources.Added, world.PendingPod("gated", "1"), func(p *v1.Pod) {
		p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/hold"}}
	})
	placed := world.Change(&c, 3.99, sources.Added, world.PendingPod("placed", "1"), nil)
	dumped(&c, woken, woken.UID, sources.TierBackoff)
	dumped(&c, stays, stays.UID, sources.TierUnschedulable)
	dumped(&c, other, "another", sources.TierBackoff)
	dumped(&c, gated, gated.UID, sources.TierUnschedulable)
	dumped(&c, placed, placed.UID, sources.TierUnschedulable)
	rec := c.Recording(4.05)
	failed := []string{"2 >active UnscheduledPodAdd modelled", "2 active>inflight modelled",
		"2 inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled"}
	for pod, want := range map[string][]string{
		"woken": append(slices.Clone(failed), "4 unschedulable>backoff NodeResourcesFit observed",
			"4 backoff>inflight NodeResourcesFit modelled", "4 inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled"), // a loop that has nothing else to do
		"stays":  failed,
		"other":  failed,
		"gated":  {"2 >gated UnscheduledPodAdd SchedulingGates modelled"},
		"placed": {"3 >active UnscheduledPodAdd modelled", "3 active>inflight modelled", "4 inflight>unschedulable ScheduleAttemptFailure observed"},
	} {
		t.Run(pod, func(t *testing.T) { replayed.Compare(t, replayed.Moves(t, rec, pod), want) })
	}
}

// TestDumpAlone: of a log without objects, a dump tells where the pods were.
func TestDumpAlone(t *testing.T) {
	var c world.Cluster
	for at, in := range []sources.Tier{sources.TierBackoff, sources.TierBackoff, sources.TierActive} {
		c.Add(float64(1+at), &sources.Dumped{Pod: world.Key("a"), UID: "a", In: in})
	}
	replayed.Compare(t, replayed.Moves(t, c.Recording(4), "a"), []string{"1 >backoff observed", "3 backoff>active observed"})
}
