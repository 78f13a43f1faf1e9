package cluster

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/dynamic-resource-allocation/resourceclaim"

	"github.com/schedq/schedq/queue/cycle"
)

// MayHaveDevices reports whether pod may have device claims: its own, or one that a scheduler creates for
// an extended resource of a DeviceClass.
func MayHaveDevices(pod *v1.Pod) bool {
	return len(pod.Spec.ResourceClaims) > 0 || requestsExtended(pod)
}

// requestsExtended reports whether pod requests a resource that may be extended: one with a domain in its
// name.
func requestsExtended(pod *v1.Pod) bool {
	of := func(c v1.Container) bool {
		for name := range c.Resources.Requests {
			if strings.Contains(string(name), "/") {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(pod.Spec.Containers, of) || slices.ContainsFunc(pod.Spec.InitContainers, of)
}

// UnreadyClaim returns the claim of pod whose allocated devices are not ready, or nil.
func (o Objects) UnreadyClaim(pod *v1.Pod) *resourcev1.ResourceClaim {
	return o.claimOf(pod, func(claim *resourcev1.ResourceClaim) bool { return cycle.AwaitsDevices(claim, pod.UID) })
}

// Claimed reports whether a scheduler that chose a node for pod has written a claim of it: see
// cycle.IsClaimFor.
func (o Objects) Claimed(pod *v1.Pod) bool {
	return o.claimOf(pod, func(claim *resourcev1.ResourceClaim) bool { return cycle.IsClaimFor(claim, pod.UID) }) != nil
}

// claimOf returns the first claim of pod that satisfies is, or nil.
func (o Objects) claimOf(pod *v1.Pod, is func(*resourcev1.ResourceClaim) bool) (found *resourcev1.ResourceClaim) {
	for i := range pod.Spec.ResourceClaims {
		name, _, err := resourceclaim.Name(pod, &pod.Spec.ResourceClaims[i])
		if err != nil || name == nil {
			continue
		}
		claim := &resourcev1.ResourceClaim{}
		claim.Namespace, claim.Name = pod.Namespace, *name
		if known, ok := o.Get(claim).(*resourcev1.ResourceClaim); ok && is(known) {
			return known
		}
	}
	if requestsExtended(pod) { // a claim made by the scheduler, whose name the pod does not contain at first
		o.Each("ResourceClaim", func(obj runtime.Object) bool {
			if claim := obj.(*resourcev1.ResourceClaim); cycle.IsClaimFor(claim, pod.UID) && is(claim) {
				found = claim
			}
			return found == nil
		})
	}
	return found
}
