package timeline

import (
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestProfiles: a profile's own plugins decide for its pods, and pods of schedulers without a profile are ignored, whatever
// the recording shows of them.
func TestProfiles(t *testing.T) {
	cfg, err := schedulerconfig.Default()
	if err != nil {
		t.Fatal(err)
	}
	packed := *cfg.Profiles[0].DeepCopy()
	packed.SchedulerName = "packed"
	packed.Plugins.MultiPoint.Enabled = slices.DeleteFunc(packed.Plugins.MultiPoint.Enabled, func(p schedulerapi.Plugin) bool { return p.Name == "NodeResourcesFit" })
	packed.PluginConfig = slices.DeleteFunc(packed.PluginConfig, func(c schedulerapi.PluginConfig) bool { return c.Name == "NodeResourcesFit" })
	cfg.Profiles = append(cfg.Profiles, packed)

	by := func(scheduler string) func(*v1.Pod) {
		return func(p *v1.Pod) { p.Spec.SchedulerName = scheduler }
	}
	var w world.Cluster
	world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
	world.Change(&w, 2, sources.Added, world.PendingPod("of-default", "4"), nil)
	p := world.Change(&w, 3, sources.Added, world.PendingPod("of-packed", "4"), by("packed"))
	w.Bound(3.01, p, "node-a")
	p = world.Change(&w, 4, sources.Added, world.PendingPod("of-another", "4"), by("volcano"))
	w.Recorded(4.01, p, 1)
	p = w.Patched(4.02, p, world.TooSmall, "")
	w.Failed(5, p, "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.")
	w.Bound(6, p, "node-a")

	moves := map[string][]string{}
	err = Replay(t.Context(), w.Recording(10), Options{Scheduler: cfg}, func(m *board.Transition) error {
		moves[m.Pod.Key.Name] = append(moves[m.Pod.Key.Name], m.Pod.Tier.String())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pod, want := range map[string]string{"of-default": "active inflight unschedulable", "of-packed": "active inflight scheduled", "of-another": ""} {
		if got := strings.Join(moves[pod], " "); got != want {
			t.Errorf("%s moves to %q, want %q", pod, got, want)
		}
	}
}
