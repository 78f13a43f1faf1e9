package queue

import (
	"slices"

	fwk "k8s.io/kube-scheduler/framework"
)

// Names of injectable operations that are not cluster events. A what-if or a scenario can inject these and the
// cluster events without a change in the cluster.
const (
	MoveRequest   = "move request for all"
	BackoffFlush  = "flush of backoffQ"
	LeftoverFlush = "leftover flush"
)

// MoveAll is the wildcard event of a MoveRequest. It moves pods regardless of the plugins that rejected them.
var MoveAll = fwk.ClusterEvent{Resource: fwk.WildCard, ActionType: fwk.All}

// InjectableEvents returns the events that kube-scheduler v1.37 derives from changed objects (eventhandlers.go
// and framework/events.go), the most useful ones first.
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

// InjectableLabels returns the labels of InjectableEvents, such as "NodeAdd".
func InjectableLabels() []string {
	var labels []string
	for _, e := range InjectableEvents() {
		labels = append(labels, e.Label())
	}
	return labels
}

// InjectableNames returns everything that can be injected: MoveRequest, BackoffFlush, LeftoverFlush and the
// labels of the cluster events.
func InjectableNames() []string {
	return append([]string{MoveRequest, BackoffFlush, LeftoverFlush}, InjectableLabels()...)
}

// InjectableEvent returns the cluster event with that label or, for MoveRequest, MoveAll.
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
