//go:build !watchonly

package framework

import "k8s.io/kube-scheduler/framework"

// Upstream's types.
type (
	ActionType           = framework.ActionType
	EventResource        = framework.EventResource
	ClusterEvent         = framework.ClusterEvent
	ClusterEventWithHint = framework.ClusterEventWithHint
	QueueingHint         = framework.QueueingHint
	QueueingHintFn       = framework.QueueingHintFn
	PreEnqueuePlugin     = framework.PreEnqueuePlugin
	Status               = framework.Status
)

// Upstream's values of them.
const (
	Add                                = framework.Add
	Delete                             = framework.Delete
	UpdateNodeAllocatable              = framework.UpdateNodeAllocatable
	UpdateNodeLabel                    = framework.UpdateNodeLabel
	UpdateNodeTaint                    = framework.UpdateNodeTaint
	UpdateNodeCondition                = framework.UpdateNodeCondition
	UpdateNodeAnnotation               = framework.UpdateNodeAnnotation
	UpdateNodeDeclaredFeature          = framework.UpdateNodeDeclaredFeature
	UpdateNodePreemptionPolicy         = framework.UpdateNodePreemptionPolicy
	UpdatePodLabel                     = framework.UpdatePodLabel
	UpdatePodScaleDown                 = framework.UpdatePodScaleDown
	UpdatePodScaleUp                   = framework.UpdatePodScaleUp
	UpdatePodToleration                = framework.UpdatePodToleration
	UpdatePodSchedulingGatesEliminated = framework.UpdatePodSchedulingGatesEliminated
	UpdatePodGeneratedResourceClaim    = framework.UpdatePodGeneratedResourceClaim
	All                                = framework.All
	Update                             = framework.Update

	Pod                   = framework.Pod
	AssignedPod           = framework.AssignedPod
	UnscheduledPod        = framework.UnscheduledPod
	TargetPod             = framework.TargetPod
	Node                  = framework.Node
	PersistentVolume      = framework.PersistentVolume
	PersistentVolumeClaim = framework.PersistentVolumeClaim
	CSINode               = framework.CSINode
	CSIDriver             = framework.CSIDriver
	VolumeAttachment      = framework.VolumeAttachment
	CSIStorageCapacity    = framework.CSIStorageCapacity
	StorageClass          = framework.StorageClass
	ResourceClaim         = framework.ResourceClaim
	ResourceSlice         = framework.ResourceSlice
	DeviceClass           = framework.DeviceClass
	PodGroup              = framework.PodGroup
	WildCard              = framework.WildCard

	QueueSkip = framework.QueueSkip
	Queue     = framework.Queue

	UnschedulableAndUnresolvable = framework.UnschedulableAndUnresolvable
)

// NewStatus returns a status of that code.
func NewStatus(code framework.Code, reasons ...string) *Status {
	return framework.NewStatus(code, reasons...)
}
