//go:build !watchonly

package model_test

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// waitsBriefly has VolumeBinding wait for five seconds.
func waitsBriefly(cfg *schedulerconfig.Config) {
	for _, p := range cfg.Profiles[0].PluginConfig {
		if args, ok := p.Args.(*schedulerapi.VolumeBindingArgs); ok {
			args.BindTimeoutSeconds = 5
		}
	}
}

// TestSeenToWaitForVolumes: a pod is in flight while it waits for its volume, for as long as the scheduler's configuration says. Whether it is
// bound does not show while pods are not heard; that it can't be does.
func TestSeenToWaitForVolumes(t *testing.T) {
	playWith(t, waitsBriefly, []scene{
		{"which never comes: it backs off, and its room wakes others", 2, 11, func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			wantsVolume(w)
			comes(w, 7, "db", "4", nil)
			w.Add(8.01, &sources.Mark{})
			w.Patched(8.2, world.Wants("db", "4"), noRoom, "")
			w.Patched(9.5, world.Wants("store", "100m"), noRoom, "")
		}, `
			3.001 store active UnscheduledPodAdd
			3.001 store inflight (turn)
			7.001 db active UnscheduledPodAdd
			8.002 other active AssignedPodDelete
			8.002 store backoff ScheduleAttemptFailure
			8.002 other unschedulable (not tried)
			8.196 db inflight (failure)
			8.196 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			9.500 store inflight (behind)
			9.500 store unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
		`},
		{"which does not come while pods are not heard", 2, 11, func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			wantsVolume(w)
			unheard(w, sources.PodsWatch, 6, 10)
			w.Add(8.01, &sources.Mark{})
		}, `
			3.001 store active UnscheduledPodAdd
			3.001 store inflight (turn)
			8.002 other active AssignedPodDelete
			8.002 store backoff ScheduleAttemptFailure
			8.002 other inflight (turn)
			8.002 other unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			10.000 store active BackoffComplete
			10.000 store inflight (turn)
		`},
		{"which comes while pods are not heard, and it is bound", 2, 11, func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			pod := wantsVolume(w)
			unheard(w, sources.PodsWatch, 6, 9)
			world.Happens(w, 7, sources.Updated, world.PendingClaim("data", "disk"), func(c *v1.PersistentVolumeClaim) {
				c.Spec.VolumeName, c.Status.Phase = "volume", v1.ClaimBound
			})
			w.Bound(9, pod, "node-a")
		}, `
			3.001 store active UnscheduledPodAdd
			3.001 store inflight (turn)
			9.000 store scheduled node-a (outcome)
			9.001 store deleted
		`},
	})
}
