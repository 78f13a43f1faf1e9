package apijson

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Meta decodes an object's metadata into m, which must be empty. managed is a part of raw that was gone over before: the value of
// managedFields, half of the object, or nil.
func (d *Decoder) Meta(raw, managed []byte, m *metav1.ObjectMeta) bool {
	return d.run(raw, func() {
		d.members(func(name []byte) {
			switch string(name) {
			case "name":
				m.Name = d.text()
			case "namespace":
				m.Namespace = word[string](d)
			case "uid":
				m.UID = types.UID(d.text())
			case "resourceVersion":
				m.ResourceVersion = d.text()
			case "generation":
				m.Generation = d.number()
			case "creationTimestamp":
				m.CreationTimestamp = d.time()
			case "deletionTimestamp":
				m.DeletionTimestamp = pointer(d, d.time)
			case "labels":
				m.Labels = d.texts()
			case "ownerReferences":
				d.elements(func() { m.OwnerReferences = append(m.OwnerReferences, d.owner()) })
			case "managedFields":
				d.stepOver(managed)
			default:
				d.value()
			}
		})
	})
}

func (d *Decoder) owner() (o metav1.OwnerReference) {
	d.members(func(name []byte) {
		switch string(name) {
		case "apiVersion":
			o.APIVersion = word[string](d)
		case "kind":
			o.Kind = word[string](d)
		case "name":
			o.Name = word[string](d)
		case "uid":
			o.UID = word[types.UID](d)
		case "controller":
			o.Controller = pointer(d, d.yes)
		default:
			d.value()
		}
	})
	return o
}

// Status decodes a pod's status into s, which must be empty.
func (d *Decoder) Status(raw []byte, s *corev1.PodStatus) bool {
	return d.run(raw, func() {
		d.members(func(name []byte) {
			switch string(name) {
			case "phase":
				s.Phase = word[corev1.PodPhase](d)
			case "conditions":
				s.Conditions = list(d, d.condition)
			case "nominatedNodeName":
				s.NominatedNodeName = word[string](d)
			case "startTime":
				s.StartTime = pointer(d, d.time)
			case "containerStatuses":
				s.ContainerStatuses = d.statuses()
			case "initContainerStatuses":
				s.InitContainerStatuses = d.statuses()
			case "resize":
				d.rare(&s.Resize)
			case "resourceClaimStatuses":
				d.rare(&s.ResourceClaimStatuses)
			case "extendedResourceClaimStatus":
				d.rare(&s.ExtendedResourceClaimStatus)
			case "allocatedResources":
				s.AllocatedResources = d.resourceList()
			case "resources":
				d.rare(&s.Resources)
			case "nodeAllocatableResourceClaimStatuses":
				d.rare(&s.NodeAllocatableResourceClaimStatuses)
			default:
				d.value()
			}
		})
	})
}

// condition reads a condition. It keeps only the scheduler's message.
func (d *Decoder) condition() (c corev1.PodCondition) {
	d.members(func(name []byte) {
		switch string(name) {
		case "type":
			c.Type = word[corev1.PodConditionType](d)
		case "observedGeneration":
			c.ObservedGeneration = d.number()
		case "status":
			c.Status = word[corev1.ConditionStatus](d)
		case "lastProbeTime":
			c.LastProbeTime = d.time()
		case "lastTransitionTime":
			c.LastTransitionTime = d.time()
		case "reason":
			c.Reason = word[string](d)
		case "message":
			c.Message = d.text()
		default:
			d.value()
		}
	})
	if c.Type != corev1.PodScheduled {
		c.Message = ""
	}
	return c
}

// statuses reads the resources of containers as the kubelet allocated them, and leaves out those without any.
func (d *Decoder) statuses() (all []corev1.ContainerStatus) {
	d.elements(func() {
		var c corev1.ContainerStatus
		d.members(func(name []byte) {
			switch string(name) {
			case "name":
				c.Name = word[string](d)
			case "allocatedResources":
				c.AllocatedResources = d.resourceList()
			case "resources":
				c.Resources = pointer(d, d.requirements)
			default:
				d.value()
			}
		})
		if len(c.AllocatedResources) > 0 || c.Resources != nil {
			all = append(all, c)
		}
	})
	return all
}

func (d *Decoder) requirements() (r corev1.ResourceRequirements) {
	d.members(func(name []byte) {
		switch string(name) {
		case "limits":
			r.Limits = d.resourceList()
		case "requests":
			r.Requests = d.resourceList()
		case "claims":
			d.rare(&r.Claims)
		default:
			d.value()
		}
	})
	return r
}

func (d *Decoder) resourceList() corev1.ResourceList {
	return dictionary[corev1.ResourceName](d, d.quantity)
}

func (d *Decoder) texts() map[string]string {
	return dictionary[string](d, func() string { return word[string](d) })
}

// dictionary reads a map; null is nil.
func dictionary[K ~string, V resource.Quantity | string](d *Decoder, read func() V) map[K]V {
	var all map[K]V
	is := d.members(func(name []byte) {
		if all == nil {
			all = map[K]V{}
		}
		all[K(string(name))] = read()
		if len(all) > maxList {
			d.stop()
		}
	})
	if is && all == nil {
		all = map[K]V{}
	}
	return all
}

// list reads a list; null is nil.
func list[T any](d *Decoder, read func() T) []T {
	var all []T
	is := d.elements(func() { all = append(all, read()) })
	if is && all == nil {
		all = []T{}
	}
	return all
}
