package shadow_test

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
			w.Patched(8.2, world.PendingPod("db", "4"), noRoom, "")
			w.Patched(9.5, world.PendingPod("store", "100m"), noRoom, "")
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
			world.Change(w, 7, sources.Updated, world.PendingClaim("data", "disk"), func(c *v1.PersistentVolumeClaim) {
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

// TestSeenToFailToBind: an Event may say that a binding cycle failed. The loop had placed the pod before, whose place is free then, which
// wakes others; what is written into its status is written beside the loop.
func TestSeenToFailToBind(t *testing.T) {
	failed := `running PreBind plugin "VolumeBinding": binding volumes: failed to get node "node-a": node "node-a" not found`
	play(t, []scene{
		{"another waits for the room, and the loop goes on meanwhile", 2, 3.5, func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			web := comes(w, 2, "web", "1", nil)
			db := comes(w, 2.01, "db", "1", free)
			w.Failed(2.05, web, failed)
			comes(w, 2.06, "api", "1", free)
			web = world.Change(w, 2.3, sources.Updated, web, func(p *v1.Pod) { world.Reject(p, failed, "") })
			w.Add(2.3, &sources.StatusPatched{Pod: world.Key("web"), UID: web.UID, Sent: world.At(2.051)})
			w.Bound(2.31, db, "node-a")
		}, `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (turn)
			2.011 db active UnscheduledPodAdd
			2.011 db inflight (turn)
			2.012 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.050 other backoff AssignedPodDelete
			2.050 db backoff AssignedPodDelete
			2.050 web backoff ScheduleAttemptFailure
			2.050 other unschedulable (not tried)
			2.050 db inflight (turn)
			2.061 api active UnscheduledPodAdd
			2.061 api inflight (turn)
			2.062 api unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.310 db scheduled node-a (outcome)
			2.311 db deleted
		`},
	})
}

// TestSelectedNode: that the scheduler asks for a volume that can be reached from a node says that it has placed the claim's pod there, and waits, though
// the model finds no room. It does so until the pod is bound, or has gone and a patch of its status, which is written once the binding
// cycle has failed, is refused.
func TestSelectedNode(t *testing.T) {
	asks := func(w *world.Cluster) *v1.Pod {
		nodes(w, "1", "node-a")
		world.Change(w, 1.6, sources.Added, world.PendingPod("big", "1"), func(p *v1.Pod) { p.Spec.NodeName = "node-a" })
		store := wantsVolume(w)
		world.Change(w, 3.05, sources.Updated, world.PendingClaim("data", "disk"), func(c *v1.PersistentVolumeClaim) {
			c.Annotations = map[string]string{"volume.kubernetes.io/selected-node": "node-a"}
		})
		return store
	}
	play(t, []scene{
		{"it is bound", 2, 8, func(w *world.Cluster) { w.Bound(7, asks(w), "node-a") }, `
			3.001 store active UnscheduledPodAdd
			3.001 store inflight (turn)
			3.002 store unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			3.050 store inflight (behind)
			7.000 store scheduled node-a (outcome)
			7.001 store deleted
		`},
		{"it goes", 2, 8, func(w *world.Cluster) {
			store := asks(w)
			world.Change(w, 5, sources.Deleted, store, nil)
			w.Add(5.2, &sources.Refused{Pod: world.Key("store"), UID: store.UID, Sent: world.At(5.2)})
		}, `
			3.001 store active UnscheduledPodAdd
			3.001 store inflight (turn)
			3.002 store unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			3.050 store inflight (behind)
			5.001 other active AssignedPodDelete
			5.001 other unschedulable (not tried)
			5.200 other active AssignedPodDelete
			5.200 store deleted
			5.200 other unschedulable (not tried)
		`},
	})
}
