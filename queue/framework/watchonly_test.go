//go:build watchonly

package framework

import (
	"testing"

	"k8s.io/kube-scheduler/framework"
)

// TestWatchOnlyUpstream: each value is upstream's, and so is its name.
func TestWatchOnlyUpstream(t *testing.T) {
	for ours, upstream := range map[ActionType]framework.ActionType{
		Add:                                framework.Add,
		Delete:                             framework.Delete,
		UpdateNodeAllocatable:              framework.UpdateNodeAllocatable,
		UpdateNodeLabel:                    framework.UpdateNodeLabel,
		UpdateNodeTaint:                    framework.UpdateNodeTaint,
		UpdateNodeCondition:                framework.UpdateNodeCondition,
		UpdateNodeAnnotation:               framework.UpdateNodeAnnotation,
		UpdateNodeDeclaredFeature:          framework.UpdateNodeDeclaredFeature,
		UpdateNodePreemptionPolicy:         framework.UpdateNodePreemptionPolicy,
		UpdatePodLabel:                     framework.UpdatePodLabel,
		UpdatePodScaleDown:                 framework.UpdatePodScaleDown,
		UpdatePodScaleUp:                   framework.UpdatePodScaleUp,
		UpdatePodToleration:                framework.UpdatePodToleration,
		UpdatePodSchedulingGatesEliminated: framework.UpdatePodSchedulingGatesEliminated,
		UpdatePodGeneratedResourceClaim:    framework.UpdatePodGeneratedResourceClaim,
		All:                                framework.All,
		Update:                             framework.Update,
	} {
		if int64(ours) != int64(upstream) || ours.String() != upstream.String() {
			t.Errorf("%s is %d, want upstream's %s, %d", ours, ours, upstream, upstream)
		}
	}
	for ours, upstream := range map[EventResource]framework.EventResource{
		Pod:                   framework.Pod,
		AssignedPod:           framework.AssignedPod,
		UnscheduledPod:        framework.UnscheduledPod,
		TargetPod:             framework.TargetPod,
		Node:                  framework.Node,
		PersistentVolume:      framework.PersistentVolume,
		PersistentVolumeClaim: framework.PersistentVolumeClaim,
		CSINode:               framework.CSINode,
		CSIDriver:             framework.CSIDriver,
		VolumeAttachment:      framework.VolumeAttachment,
		CSIStorageCapacity:    framework.CSIStorageCapacity,
		StorageClass:          framework.StorageClass,
		ResourceClaim:         framework.ResourceClaim,
		ResourceSlice:         framework.ResourceSlice,
		DeviceClass:           framework.DeviceClass,
		PodGroup:              framework.PodGroup,
		WildCard:              framework.WildCard,
	} {
		if string(ours) != string(upstream) {
			t.Errorf("%s is upstream's %s", ours, upstream)
		}
	}
	for _, custom := range []string{"", "UnschedulableTimeout"} {
		ours, upstream := ClusterEvent{Node, UpdateNodeTaint, custom}, framework.ClusterEvent{Resource: framework.Node, ActionType: framework.UpdateNodeTaint, CustomLabel: custom}
		if ours.Label() != upstream.Label() || int(Queue) != int(framework.Queue) {
			t.Errorf("the label is %s, want upstream's %s", ours.Label(), upstream.Label())
		}
	}
}
