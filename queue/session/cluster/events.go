package cluster

import (
	fwk "k8s.io/kube-scheduler/framework"
)

// GatesEliminated is what an update of a pod means that removes its last scheduling gate.
var GatesEliminated = fwk.ClusterEvent{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodSchedulingGatesEliminated}

// UnscheduledPodAdd is the label of a new pod.
var UnscheduledPodAdd = fwk.ClusterEvent{Resource: fwk.UnscheduledPod, ActionType: fwk.Add}.Label()

// MoveAllEvent is the wildcard event: it moves pods whatever rejected them.
var MoveAllEvent = fwk.ClusterEvent{Resource: fwk.WildCard, ActionType: fwk.All}

// InjectableEvents returns the events that kube-scheduler v1.37 makes out of changed objects (eventhandlers.go,
// framework/events.go), those first that a person injects most. With them a person can wake pods in a what-if.
func InjectableEvents() []fwk.ClusterEvent {
	var all []fwk.ClusterEvent
	add := func(r fwk.EventResource, actions ...fwk.ActionType) {
		for _, a := range actions {
			all = append(all, fwk.ClusterEvent{Resource: r, ActionType: a})
		}
	}
	add(fwk.Node, fwk.Add, fwk.Delete, fwk.UpdateNodeAllocatable, fwk.UpdateNodeLabel, fwk.UpdateNodeTaint,
		fwk.UpdateNodeCondition, fwk.UpdateNodeAnnotation, fwk.UpdateNodeDeclaredFeature, fwk.UpdateNodePreemptionPolicy)
	add(fwk.AssignedPod, fwk.Add, fwk.Delete, fwk.Update, fwk.UpdatePodLabel, fwk.UpdatePodScaleDown, fwk.UpdatePodScaleUp,
		fwk.UpdatePodToleration, fwk.UpdatePodGeneratedResourceClaim)
	add(fwk.PersistentVolumeClaim, fwk.Add, fwk.Update)
	add(fwk.PersistentVolume, fwk.Add, fwk.Update)
	add(fwk.StorageClass, fwk.Add, fwk.Update)
	add(fwk.CSINode, fwk.Add, fwk.Update)
	add(fwk.CSIDriver, fwk.Update)
	add(fwk.CSIStorageCapacity, fwk.Add, fwk.Update)
	add(fwk.VolumeAttachment, fwk.Delete)
	add(fwk.ResourceClaim, fwk.Add, fwk.Update, fwk.Delete)
	add(fwk.ResourceSlice, fwk.Add, fwk.Update)
	add(fwk.DeviceClass, fwk.Add, fwk.Update)
	return all
}

// EventLabels returns the labels of InjectableEvents, in their order and upstream's spelling: "NodeAdd" and so on.
func EventLabels() []string {
	var labels []string
	for _, e := range InjectableEvents() {
		labels = append(labels, e.Label())
	}
	return labels
}

// RejectorPlugins returns the names of the in-tree plugins of v1.37 that can reject a pod, by how often
// one meets them.
func RejectorPlugins() []string {
	return []string{
		"NodeResourcesFit", "TaintToleration", "NodeAffinity", "NodeUnschedulable", "InterPodAffinity",
		"PodTopologySpread", "VolumeBinding", "VolumeRestrictions", "VolumeZone", "NodeVolumeLimits",
		"NodePorts", "NodeName", "DynamicResources", "NodeDeclaredFeatures",
	}
}
