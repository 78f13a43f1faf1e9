package shadow

import (
	"errors"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/sources"
)

// ErrBindTimeout is why the binding of a pod fails whose volumes nobody has provided in time (volumebinding/binder.go, BindPodVolumes).
var ErrBindTimeout = errors.New("binding volumes: context deadline exceeded")

// preBindWaits is what is known of that.
type preBindWaits struct {
	Future *evidence.Future
	// Patience is how long it takes at the most until what the scheduler writes is seen.
	Patience time.Duration
	// AwaitsVolume reports whether others have yet to provide a volume for a pod.
	AwaitsVolume func(*v1.Pod) bool
	// UnreadyClaim returns a claim of a pod's that has a device which is not ready, or nil.
	UnreadyClaim func(*v1.Pod) *resourcev1.ResourceClaim
	// Claimed reports whether the scheduler has written a claim of a pod's.
	Claimed func(*v1.Pod) bool
}

// selectedNode returns the node that the scheduler has chosen for the pod of claim, as the change from old shows (volumebinding/binder.go,
// bindAPIUpdate). Empty if it shows none.
func selectedNode(old runtime.Object, claim *v1.PersistentVolumeClaim) string {
	before, _ := old.(*v1.PersistentVolumeClaim)
	if node := claim.Annotations[sources.AnnSelectedNode]; before != nil && before.Annotations[sources.AnnSelectedNode] != node {
		return node
	}
	return ""
}

// Device returns the claim of pod that has a device for it which is not ready, if the scheduler has written that by now or is
// seen to within Patience. Nil if it does not.
func (w *preBindWaits) Device(now time.Time, pod *v1.Pod) *resourcev1.ResourceClaim {
	if !cluster.MayHaveDevices(pod) {
		return nil
	}
	if claim := w.UnreadyClaim(pod); claim != nil {
		return claim
	}
	_, claim := w.Future.Claim(now, w.Patience, func(c *resourcev1.ResourceClaim) bool { return cycle.AwaitsDevices(c, pod.UID) })
	return claim
}

// ClaimedAt returns when the scheduler, which has placed pod, is seen within Patience to write the first of its claims. False if
// it is not, or had by now.
func (w *preBindWaits) ClaimedAt(now time.Time, pod *v1.Pod) (time.Time, bool) {
	if !cluster.MayHaveDevices(pod) || w.Claimed(pod) {
		return now, false
	}
	at, claim := w.Future.Claim(now, w.Patience, func(c *resourcev1.ResourceClaim) bool { return cycle.IsClaimFor(c, pod.UID) })
	return at, claim != nil
}

// Deadline returns when the scheduler of that configuration, which has placed pod by now, gives up waiting for others to provide what the
// pod needs, and the error of its binding then. That is nil if it waits for nothing.
func (w *preBindWaits) Deadline(now time.Time, cfg *schedulerconfig.Config, pod *v1.Pod) (time.Time, error) {
	profile := pod.Spec.SchedulerName
	if w.AwaitsVolume(pod) {
		return now.Add(cfg.BindTimeout(profile)), ErrBindTimeout
	}
	if claim := w.Device(now, pod); claim != nil {
		return cycle.DeviceDeadline(claim, now, cfg.DeviceBindTimeout(profile)), cycle.ErrDeviceTimeout
	}
	return now, nil
}
