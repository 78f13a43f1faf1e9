package queue

// Package injectable names what a person can have the scheduling queue do without a change of the cluster: cluster events,
// move requests and flushes. What-ifs inject them, and scenarios write them. It imports nothing of the project but framework.

import (
	"slices"

	fwk "k8s.io/kube-scheduler/framework"
)

// What the queue does of itself, beside the cluster events.
const (
	MoveRequest   = "move request for all"
	BackoffFlush  = "flush of backoffQ"
	LeftoverFlush = "leftover flush"
)

// MoveAll is the wildcard event, that of a MoveRequest: it moves pods whatever rejected them.
var MoveAll = fwk.ClusterEvent{Resource: fwk.WildCard, ActionType: fwk.All}

// Events returns the events that kube-scheduler v1.37 makes out of changed objects (eventhandlers.go,
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

// EventLabels returns the labels of Events, in their order and upstream's spelling: "NodeAdd" and so on.
func InjectableLabels() []string {
	var labels []string
	for _, e := range InjectableEvents() {
		labels = append(labels, e.Label())
	}
	return labels
}

// Names returns all that can be injected: what the queue does of itself, and then the cluster events.
func InjectableNames() []string {
	return append([]string{MoveRequest, BackoffFlush, LeftoverFlush}, InjectableLabels()...)
}

// Event returns the cluster event that has that label, or the one of a MoveRequest, and false if there is none.
func InjectableEvent(name string) (fwk.ClusterEvent, bool) {
	if name == MoveRequest {
		return MoveAll, true
	}
	all := InjectableEvents()
	i := slices.IndexFunc(all, func(e fwk.ClusterEvent) bool { return e.Label() == name })
	if i < 0 {
		return fwk.ClusterEvent{}, false
	}
	return all[i], true
}
