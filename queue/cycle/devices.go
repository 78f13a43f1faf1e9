package cycle

// Package devices knows when the devices of a claim are ready, as kube-scheduler's plugin DynamicResources wants it before it lets
// a pod be bound that it has placed.

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

// Why the binding of a pod fails whose devices are not ready in time, or never will be (dynamicresources.go, ErrDeviceBindingTimeout
// and ErrDeviceBindingFailed).
var (
	ErrDeviceTimeout       = errors.New("device binding timeout: context deadline exceeded")
	ErrDeviceBindingFailed = errors.New("device binding failed")
)

// IsFor reports whether a scheduler that has placed the pod with that UID has written claim: it is reserved for the pod, or the
// scheduler made it, for what the pod requests of extended resources (extendeddynamicresources.go, findExtendedResourceClaim).
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

// Awaited reports whether claim has a device for the pod with that UID which is not ready: then a scheduler that has placed
// the pod waits until the driver says that the device's binding conditions are met (dynamicresources.go,
// isClaimReadyForBinding).
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

// Failed reports whether a scheduler that waits for the devices of claim finds that one can't be had: a binding failure condition of
// it is true, and all before it are ready (dynamicresources.go, isClaimReadyForBinding).
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

// statusOf returns the index of what a driver says in claim of a device that was allocated, or -1 if it says nothing.
func statusOf(claim *resourcev1.ResourceClaim, r resourcev1.DeviceRequestAllocationResult) int {
	return slices.IndexFunc(claim.Status.Devices, func(d resourcev1.AllocatedDeviceStatus) bool {
		return d.Driver == r.Driver && d.Pool == r.Pool && d.Device == r.Device && ptr.Equal((*types.UID)(d.ShareID), r.ShareID)
	})
}

// MakeReady does what drivers do when devices were allocated to a claim, if obj is one: it says that they are ready. Where one has binding
// conditions, the allocation becomes one of now, too. Otherwise upstream's plugin would wait by the wall clock, and takes the
// allocation's time from it.
func MakeDevicesReady(obj runtime.Object, now time.Time) {
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

// poll is how often a scheduler looks whether a device is ready (dynamicresources.go, PreBind).
const devicePoll = 5 * time.Second

// Looks returns when a scheduler that has waited since then looks first, from at on, whether a device is ready.
func DeviceCheckAt(since, at time.Time) time.Time {
	return since.Add((at.Sub(since) + devicePoll - 1).Truncate(devicePoll))
}

// Deadline returns when a scheduler gives up that has waited since then for the devices of claim: after timeout, or when it
// looks first after as long since they were allocated.
func DeviceDeadline(claim *resourcev1.ResourceClaim, since time.Time, timeout time.Duration) time.Time {
	deadline := since.Add(timeout)
	if a := claim.Status.Allocation; a != nil && a.AllocationTimestamp != nil {
		looks := time.Duration(0)
		if over := a.AllocationTimestamp.Add(timeout).Sub(since); over >= 0 {
			looks = over/devicePoll + 1
		}
		if found := since.Add(looks * devicePoll); found.Before(deadline) {
			return found
		}
	}
	return deadline
}
