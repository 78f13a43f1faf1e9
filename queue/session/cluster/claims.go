package cluster

import (
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/resourceclaim"

	"github.com/schedq/schedq/queue/cycle/devices"
)

// UnreadyClaim returns the claim of pod that has devices for it which are not ready, or nil.
func (o Objects) UnreadyClaim(pod *v1.Pod) *resourcev1.ResourceClaim {
	for i := range pod.Spec.ResourceClaims {
		name, _, err := resourceclaim.Name(pod, &pod.Spec.ResourceClaims[i])
		if err != nil || name == nil {
			continue
		}
		claim := &resourcev1.ResourceClaim{}
		claim.Namespace, claim.Name = pod.Namespace, *name
		if known, ok := o.Get(claim).(*resourcev1.ResourceClaim); ok && devices.Awaited(known, pod.UID) {
			return known
		}
	}
	return nil
}
