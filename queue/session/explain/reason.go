package explain

import "slices"

// Reason is a stable code for why a pod is waiting. Scripts may rely on its values.
type Reason string

// The reasons, in their order of precedence: of several that apply, a pod has the first. Reasons that time alone does
// not resolve come before those that it may.
const (
	// SchedulerSilent: no scheduler is observed to handle the pod's schedulerName.
	SchedulerSilent Reason = "SchedulerSilent"
	// NotInQueue: the scheduler has lost the pod.
	NotInQueue Reason = "NotInQueue"
	// Gated: a PreEnqueue plugin keeps the pod out of activeQ.
	Gated Reason = "Gated"
	// WaitingForPodGroup: the pod's group is missing or is being scheduled.
	WaitingForPodGroup Reason = "WaitingForPodGroup"
	// BeingScheduled: an attempt is running.
	BeingScheduled Reason = "BeingScheduled"
	// PreemptionInProgress: the pod is nominated to a node, from which other pods are being evicted.
	PreemptionInProgress Reason = "PreemptionInProgress"
	// SchedulingError: the last attempt failed with an error rather than a rejection.
	SchedulingError Reason = "SchedulingError"
	// NoNodes: the cluster has no nodes.
	NoNodes Reason = "NoNodes"
	// ClaimNotReady: a volume or device claim does not exist or is not bound.
	ClaimNotReady Reason = "ClaimNotReady"
	// ResourceNotOffered: no node offers a resource that the pod requests.
	ResourceNotOffered Reason = "ResourceNotOffered"
	// NodesTooSmall: no eligible node has enough of a resource even when empty.
	NodesTooSmall Reason = "NodesTooSmall"
	// NodeAffinity: no node matches the pod's node selector or node affinity.
	NodeAffinity Reason = "NodeAffinity"
	// VolumeConflict: no other node can use the pod's volumes.
	VolumeConflict Reason = "VolumeConflict"
	// UntoleratedTaints: the eligible nodes have taints that the pod does not tolerate.
	UntoleratedTaints Reason = "UntoleratedTaints"
	// NodesCordoned: the eligible nodes are cordoned.
	NodesCordoned Reason = "NodesCordoned"
	// NodesNotReady: the eligible nodes are not ready.
	NodesNotReady Reason = "NodesNotReady"
	// PodAffinity: the pod's affinity or an anti-affinity rules out the eligible nodes.
	PodAffinity Reason = "PodAffinity"
	// TopologySpread: the pod's topology spread constraints rule out the eligible nodes.
	TopologySpread Reason = "TopologySpread"
	// PortConflict: the pod's host ports are in use.
	PortConflict Reason = "PortConflict"
	// DevicesUnavailable: no device is free for the pod's claims.
	DevicesUnavailable Reason = "DevicesUnavailable"
	// Fragmented: the eligible nodes have enough of a resource together, but none has enough alone.
	Fragmented Reason = "Fragmented"
	// InsufficientResources: the eligible nodes have too little left of a resource.
	InsufficientResources Reason = "InsufficientResources"
	// OtherPlugin: another plugin rejects the pod.
	OtherPlugin Reason = "OtherPlugin"
	// Fits: the pod fits on a node, and waits for its next attempt.
	Fits Reason = "Fits"
	// Queued: the pod waits for its turn, and has not been rejected.
	Queued Reason = "Queued"
	// Unknown: the source does not show why the pod waits.
	Unknown Reason = "Unknown"
)

// Reasons lists all reasons, those with precedence first.
func Reasons() []Reason {
	return []Reason{
		SchedulerSilent, NotInQueue, Gated, WaitingForPodGroup, BeingScheduled, PreemptionInProgress, SchedulingError, NoNodes, ClaimNotReady,
		ResourceNotOffered, NodesTooSmall, NodeAffinity, VolumeConflict, UntoleratedTaints, NodesCordoned, NodesNotReady, PodAffinity,
		TopologySpread, PortConflict, DevicesUnavailable, Fragmented, InsufficientResources, OtherPlugin, Fits, Queued, Unknown,
	}
}

// compare orders reasons by precedence.
func (r Reason) compare(other Reason) int {
	return slices.Index(Reasons(), r) - slices.Index(Reasons(), other)
}

func (r Reason) precedes(other Reason) bool { return r.compare(other) < 0 }
