// Package objects models what API requests do to objects: which kinds kube-scheduler watches, what a patch changes, and how a
// binding changes a pod.
package objects

// Kind is a kind that kube-scheduler watches, with the resource that serves it. Its name is empty if there is none.
type Kind struct{ Group, Resource, Name string }

// IsPod reports whether it is a pod's.
func (k Kind) IsPod() bool { return k.Name == "Pod" }

// Of returns the kind that a resource serves. Its name is empty if the scheduler does not watch it.
func KindOf(group, resource string) Kind {
	name := ""
	switch group {
	case "":
		switch resource {
		case "pods":
			name = "Pod"
		case "bindings":
			resource, name = "pods", "Pod"
		case "nodes":
			name = "Node"
		case "persistentvolumes":
			name = "PersistentVolume"
		case "persistentvolumeclaims":
			name = "PersistentVolumeClaim"
		case "namespaces":
			name = "Namespace"
		case "services":
			name = "Service"
		case "replicationcontrollers":
			name = "ReplicationController"
		}
	case "apps":
		switch resource {
		case "replicasets":
			name = "ReplicaSet"
		case "statefulsets":
			name = "StatefulSet"
		}
	case "storage.k8s.io":
		switch resource {
		case "storageclasses":
			name = "StorageClass"
		case "csinodes":
			name = "CSINode"
		case "csidrivers":
			name = "CSIDriver"
		case "csistoragecapacities":
			name = "CSIStorageCapacity"
		case "volumeattachments":
			name = "VolumeAttachment"
		}
	case "resource.k8s.io":
		switch resource {
		case "resourceclaims":
			name = "ResourceClaim"
		case "resourceslices":
			name = "ResourceSlice"
		case "deviceclasses":
			name = "DeviceClass"
		case "devicetaintrules":
			name = "DeviceTaintRule"
		}
	case "scheduling.k8s.io":
		switch resource {
		case "priorityclasses":
			name = "PriorityClass"
		case "podgroups":
			name = "PodGroup"
		}
	case "policy":
		if resource == "poddisruptionbudgets" {
			name = "PodDisruptionBudget"
		}
	}
	return Kind{group, resource, name}
}
