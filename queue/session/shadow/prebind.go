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

// ErrBindTimeout fails the binding of a pod whose volumes were not provided in time
// (volumebinding/binder.go, BindPodVolumes).
var ErrBindTimeout = errors.New("binding volumes: context deadline exceeded")

// preBindWaits answers what placed pods wait for before they are bound.
type preBindWaits struct {
	Future *evidence.Future
	// Patience limits the time until the scheduler's writes are observed.
	Patience time.Duration
	// AwaitsVolume reports whether a volume of a pod still has to be provided.
	AwaitsVolume func(*v1.Pod) bool
	// UnreadyClaim returns a claim of a pod with a device that is not ready, or nil.
	UnreadyClaim func(*v1.Pod) *resourcev1.ResourceClaim
	// Claimed reports whether the scheduler has written a claim of the pod.
	Claimed func(*v1.Pod) bool
}

// selectedNode returns the node that the scheduler chose for the pod of claim, if the change from
// old shows the choice (volumebinding/binder.go, bindAPIUpdate). Otherwise it returns "".
func selectedNode(old runtime.Object, claim *v1.PersistentVolumeClaim) string {
	before, _ := old.(*v1.PersistentVolumeClaim)
	if node := claim.Annotations[sources.AnnSelectedNode]; before != nil && before.Annotations[sources.AnnSelectedNode] != node {
		return node
	}
	return ""
}

// Device returns the claim of pod with an allocated device that is not ready, if the scheduler has
// written the allocation by now or is observed to do so within Patience. Otherwise it returns nil.
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

// ClaimedAt returns when the scheduler, which has placed pod, is observed within Patience to write
// the first of its claims. It returns false if there is no such write or it has already happened.
func (w *preBindWaits) ClaimedAt(now time.Time, pod *v1.Pod) (time.Time, bool) {
	if !cluster.MayHaveDevices(pod) || w.Claimed(pod) {
		return now, false
	}
	at, claim := w.Future.Claim(now, w.Patience, func(c *resourcev1.ResourceClaim) bool { return cycle.IsClaimFor(c, pod.UID) })
	return at, claim != nil
}

// Deadline returns when a scheduler with that configuration, which placed pod by now, stops waiting
// for the pod's prerequisites, and the error with which the binding then fails. The error is nil if
// the scheduler waits for nothing.
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
