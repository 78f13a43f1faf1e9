package timeline

import (
	"fmt"
	"strings"
	"testing"

	storagev1 "k8s.io/api/storage/v1"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestBindTimeout: a pod whose volume nobody provides is in flight for as long as the configuration of its profile lets
// VolumeBinding wait, and backs off then as after an error.
func TestBindTimeout(t *testing.T) {
	for seconds, want := range map[int64]string{5: "active 3.0, inflight 3.0, backoff 8.0", 600: "active 3.0, inflight 3.0"} {
		cfg, err := schedulerconfig.Default()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range cfg.Profiles[0].PluginConfig {
			if args, ok := p.Args.(*schedulerapi.VolumeBindingArgs); ok {
				args.BindTimeoutSeconds = seconds
			}
		}
		var w world.Cluster
		w.Small()
		w.AddStuck(1.5, "other")
		mode, class := storagev1.VolumeBindingWaitForFirstConsumer, "disk"
		storage := &storagev1.StorageClass{Provisioner: "disk.example.com", VolumeBindingMode: &mode}
		storage.Name = class
		world.Change(&w, 2, sources.Added, storage, nil)
		world.Change(&w, 2, sources.Added, world.PendingClaim("data", class), nil)
		store := world.PendingPod("store", "100m")
		world.Mount(store, "data")
		world.Change(&w, 3, sources.Added, store, nil)
		var moves []string
		err = Replay(t.Context(), w.Recording(8.5), Options{Scheduler: cfg}, func(m *board.Transition) error {
			if m.Pod.Key.Name == "store" {
				moves = append(moves, fmt.Sprintf("%s %.1f", m.Pod.Tier, m.Time.Sub(world.Noon).Seconds()))
			}
			return nil
		})
		if got := strings.Join(moves, ", "); err != nil || got != want {
			t.Errorf("%d s: %v, %s, want %s", seconds, err, got, want)
		}
	}
}
