package cycle

import (
	"errors"
	"slices"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// Errors of bindings whose devices were not ready in time, or failed. They model ErrDeviceBindingTimeout and
// ErrDeviceBindingFailed in dynamicresources.go.
var (
	ErrDeviceTimeout       = errors.New("device binding timeout: context deadline exceeded")
	ErrDeviceBindingFailed = errors.New("device binding failed")
)

// IsClaimFor reports whether claim is reserved for the pod with that UID, or the scheduler created it for the pod's
// extended resources (findExtendedResourceClaim in extendeddynamicresources.go).
func IsClaimFor(claim *resourcev1.ResourceClaim, pod types.UID) bool {
	if isReserved(claim, pod) {
		return true
	}
	owner := metav1.GetControllerOfNoCopy(claim)
	return owner != nil && owner.UID == pod && claim.Annotations[resourcev1.ExtendedResourceClaimAnnotation] == "true"
}

func isReserved(claim *resourcev1.ResourceClaim, pod types.UID) bool {
	return slices.ContainsFunc(claim.Status.ReservedFor, func(c resourcev1.ResourceClaimConsumerReference) bool { return c.UID == pod })
}

// AwaitsDevices reports whether claim contains a device for the pod with that UID whose binding conditions are not
// true yet. The scheduler waits for them before it binds the pod. It models isClaimReadyForBinding in
// dynamicresources.go.
func AwaitsDevices(claim *resourcev1.ResourceClaim, pod types.UID) bool {
	if claim.Status.Allocation == nil || !isReserved(claim, pod) {
		return false
	}
	return slices.ContainsFunc(claim.Status.Allocation.Devices.Results, func(r resourcev1.DeviceRequestAllocationResult) bool {
		i := statusOf(claim, r)
		return slices.ContainsFunc(r.BindingConditions, func(c string) bool {
			return i < 0 || !meta.IsStatusConditionTrue(claim.Status.Devices[i].Conditions, c)
		})
	})
}

// DevicesFailed reports whether a binding failure condition of a device in claim is true and all devices before it
// are ready. It models isClaimReadyForBinding in dynamicresources.go.
func DevicesFailed(claim *resourcev1.ResourceClaim) bool {
	if claim.Status.Allocation == nil {
		return false
	}
	for _, r := range claim.Status.Allocation.Devices.Results {
		if len(r.BindingConditions) == 0 {
			continue
		}
		i := statusOf(claim, r)
		if i < 0 {
			return false
		}
		met := func(c string) bool { return meta.IsStatusConditionTrue(claim.Status.Devices[i].Conditions, c) }
		if slices.ContainsFunc(r.BindingFailureConditions, met) {
			return true
		}
		if slices.ContainsFunc(r.BindingConditions, func(c string) bool { return !met(c) }) {
			return false
		}
	}
	return false
}

// statusOf returns the index of an allocated device's status in claim, or -1.
func statusOf(claim *resourcev1.ResourceClaim, r resourcev1.DeviceRequestAllocationResult) int {
	return slices.IndexFunc(claim.Status.Devices, func(d resourcev1.AllocatedDeviceStatus) bool {
		return d.Driver == r.Driver && d.Pool == r.Pool && d.Device == r.Device && ptr.Equal((*types.UID)(d.ShareID), r.ShareID)
	})
}

// makeDevicesReady sets the binding conditions of the devices allocated to a claim, as drivers do, and the allocation
// time of devices with binding conditions. Without that, upstream's plugin would wait, and use the wall clock. It
// ignores other objects.
func makeDevicesReady(obj runtime.Object, now time.Time) {
	claim, ok := obj.(*resourcev1.ResourceClaim)
	if !ok || claim.Status.Allocation == nil {
		return
	}
	for _, r := range claim.Status.Allocation.Devices.Results {
		if len(r.BindingConditions) == 0 {
			continue
		}
		claim.Status.Allocation.AllocationTimestamp = &metav1.Time{Time: now}
		i := statusOf(claim, r)
		if i < 0 {
			i = len(claim.Status.Devices)
			claim.Status.Devices = append(claim.Status.Devices, resourcev1.AllocatedDeviceStatus{Driver: r.Driver, Pool: r.Pool, Device: r.Device, ShareID: (*string)(r.ShareID)})
		}
		for _, c := range r.BindingConditions {
			meta.SetStatusCondition(&claim.Status.Devices[i].Conditions, metav1.Condition{Type: c, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(now)})
		}
	}
}

// devicePoll is the interval at which the scheduler checks devices (PreBind in dynamicresources.go).
const devicePoll = 5 * time.Second

// DeviceCheckAt returns the first time, at or after at, when a scheduler that has waited since then checks devices.
func DeviceCheckAt(since, at time.Time) time.Time {
	return since.Add((at.Sub(since) + devicePoll - 1).Truncate(devicePoll))
}

// DeviceDeadline returns when a scheduler that has waited for claim's devices since then times out: after timeout, or
// at its first check more than timeout after the allocation.
func DeviceDeadline(claim *resourcev1.ResourceClaim, since time.Time, timeout time.Duration) time.Time {
	deadline := since.Add(timeout)
	if a := claim.Status.Allocation; a != nil && a.AllocationTimestamp != nil {
		checks := time.Duration(0)
		if left := a.AllocationTimestamp.Add(timeout).Sub(since); left >= 0 {
			checks = left/devicePoll + 1
		}
		if expired := since.Add(checks * devicePoll); expired.Before(deadline) {
			return expired
		}
	}
	return deadline
}
