package apijson

import (
	corev1 "k8s.io/api/core/v1"
)

// NodeSpec decodes a node's specification into s, which must be empty.
func (d *Decoder) NodeSpec(raw []byte, s *corev1.NodeSpec) bool {
	return d.run(raw, func() {
		d.members(func(name []byte) {
			switch string(name) {
			case "unschedulable":
				s.Unschedulable = d.yes()
			case "taints":
				s.Taints = list(d, d.taint)
			case "podPreemptionPolicy":
				d.rare(&s.PodPreemptionPolicy)
			default:
				d.value()
			}
		})
	})
}

func (d *Decoder) taint() (t corev1.Taint) {
	d.members(func(name []byte) {
		switch string(name) {
		case "key":
			t.Key = word[string](d)
		case "value":
			t.Value = word[string](d)
		case "effect":
			t.Effect = word[corev1.TaintEffect](d)
		case "timeAdded":
			t.TimeAdded = pointer(d, d.time)
		default:
			d.value()
		}
	})
	return t
}

// NodeStatus decodes a node's status into s, which must be empty. It keeps its conditions without times and reasons.
func (d *Decoder) NodeStatus(raw []byte, s *corev1.NodeStatus) bool {
	return d.run(raw, func() {
		d.members(func(name []byte) {
			switch string(name) {
			case "capacity":
				s.Capacity = d.resourceList()
			case "allocatable":
				s.Allocatable = d.resourceList()
			case "conditions":
				s.Conditions = nil
				d.elements(func() { s.Conditions = append(s.Conditions, d.nodeCondition()) })
			case "images":
				s.Images = list(d, d.image)
			case "declaredFeatures":
				s.DeclaredFeatures = list(d, func() string { return word[string](d) })
			case "features":
				d.rare(&s.Features)
			default:
				d.value()
			}
		})
	})
}

func (d *Decoder) nodeCondition() (c corev1.NodeCondition) {
	d.members(func(name []byte) {
		switch string(name) {
		case "type":
			c.Type = word[corev1.NodeConditionType](d)
		case "status":
			c.Status = word[corev1.ConditionStatus](d)
		default:
			d.value()
		}
	})
	return c
}

func (d *Decoder) image() (i corev1.ContainerImage) {
	d.members(func(name []byte) {
		switch string(name) {
		case "names":
			i.Names = list(d, d.text)
		case "sizeBytes":
			i.SizeBytes = d.number()
		default:
			d.value()
		}
	})
	return i
}
