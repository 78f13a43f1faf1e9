//go:build watchonly

package framework

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
)

// ActionType is how an object changed.
type ActionType int64

// Upstream's bits of an ActionType.
const (
	Add ActionType = 1 << iota
	Delete
	UpdateNodeAllocatable
	UpdateNodeLabel
	UpdateNodeTaint
	UpdateNodeCondition
	UpdateNodeAnnotation
	UpdateNodeDeclaredFeature
	UpdateNodePreemptionPolicy
	UpdatePodLabel
	UpdatePodScaleDown
	UpdatePodScaleUp
	UpdatePodToleration
	UpdatePodSchedulingGatesEliminated
	UpdatePodGeneratedResourceClaim

	All ActionType = 1<<iota - 1

	Update = All &^ (Add | Delete)
)

var actionNames = map[ActionType]string{
	Add:                                "Add",
	Delete:                             "Delete",
	UpdateNodeAllocatable:              "UpdateNodeAllocatable",
	UpdateNodeLabel:                    "UpdateNodeLabel",
	UpdateNodeTaint:                    "UpdateNodeTaint",
	UpdateNodeCondition:                "UpdateNodeCondition",
	UpdateNodeAnnotation:               "UpdateNodeAnnotation",
	UpdateNodeDeclaredFeature:          "UpdateNodeDeclaredFeature",
	UpdateNodePreemptionPolicy:         "UpdateNodePreemptionPolicy",
	UpdatePodLabel:                     "UpdatePodLabel",
	UpdatePodScaleDown:                 "UpdatePodScaleDown",
	UpdatePodScaleUp:                   "UpdatePodScaleUp",
	UpdatePodToleration:                "UpdatePodToleration",
	UpdatePodSchedulingGatesEliminated: "UpdatePodSchedulingGatesEliminated",
	UpdatePodGeneratedResourceClaim:    "UpdatePodGeneratedResourceClaim",
	All:                                "All",
	Update:                             "Update",
}

// String returns the name of a single bit, of All and of Update.
func (a ActionType) String() string { return actionNames[a] }

// EventResource is the kind of the object that changed.
type EventResource string

// Upstream's kinds.
const (
	Pod                   EventResource = "Pod"
	AssignedPod           EventResource = "AssignedPod"
	UnscheduledPod        EventResource = "UnscheduledPod"
	TargetPod             EventResource = "TargetPod"
	Node                  EventResource = "Node"
	PersistentVolume      EventResource = "PersistentVolume"
	PersistentVolumeClaim EventResource = "PersistentVolumeClaim"
	CSINode               EventResource = "storage.k8s.io/CSINode"
	CSIDriver             EventResource = "storage.k8s.io/CSIDriver"
	VolumeAttachment      EventResource = "storage.k8s.io/VolumeAttachment"
	CSIStorageCapacity    EventResource = "storage.k8s.io/CSIStorageCapacity"
	StorageClass          EventResource = "storage.k8s.io/StorageClass"
	ResourceClaim         EventResource = "resource.k8s.io/ResourceClaim"
	ResourceSlice         EventResource = "resource.k8s.io/ResourceSlice"
	DeviceClass           EventResource = "resource.k8s.io/DeviceClass"
	PodGroup              EventResource = "scheduling.k8s.io/PodGroup"
	WildCard              EventResource = "*"
)

// ClusterEvent is a change of an object. CustomLabel is its label, if it has one.
type ClusterEvent struct {
	Resource    EventResource
	ActionType  ActionType
	CustomLabel string
}

// Label is what upstream's log and metrics call the event.
func (e ClusterEvent) Label() string {
	if e.CustomLabel != "" {
		return e.CustomLabel
	}
	return fmt.Sprintf("%v%v", e.Resource, e.ActionType)
}

// QueueingHint is whether an event may make a pod schedulable.
type QueueingHint int

// What a hint function answers.
const (
	QueueSkip QueueingHint = iota
	Queue
)

// QueueingHintFn answers that about a pod that its plugin rejected.
type QueueingHintFn func(logger klog.Logger, pod *v1.Pod, oldObj, newObj any) (QueueingHint, error)

// ClusterEventWithHint is an event that a plugin registered for, and the hint function to ask, if it has one.
type ClusterEventWithHint struct {
	Event          ClusterEvent
	QueueingHintFn QueueingHintFn
}

// PreEnqueuePlugin is asked before a pod is queued.
type PreEnqueuePlugin interface {
	Name() string
	PreEnqueue(ctx context.Context, pod *v1.Pod) *Status
}

// Status is a plugin's answer. Nil is success.
type Status struct{}

// Code is what kind of a status it is.
type Code int

// UnschedulableAndUnresolvable is the only Code.
const UnschedulableAndUnresolvable Code = 1

// NewStatus returns a status that is no success.
func NewStatus(Code, ...string) *Status { return &Status{} }

// IsSuccess reports whether nothing is in the way.
func (s *Status) IsSuccess() bool { return s == nil }
