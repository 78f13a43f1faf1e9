package apijson

import (
	corev1 "k8s.io/api/core/v1"
)

// Spec decodes a pod's specification into s, which must be empty.
func (d *Decoder) Spec(raw []byte, s *corev1.PodSpec) bool {
	return d.run(raw, func() {
		d.members(func(name []byte) {
			if !d.usualMember(name, s) && !d.rareMember(name, s) {
				d.value()
			}
		})
	})
}

// usualMember reads the named member if most pods have it, and reports whether it is one of those.
func (d *Decoder) usualMember(name []byte, s *corev1.PodSpec) bool {
	switch string(name) {
	case "initContainers":
		s.InitContainers = list(d, d.container)
	case "containers":
		s.Containers = list(d, d.container)
	case "restartPolicy":
		s.RestartPolicy = word[corev1.RestartPolicy](d)
	case "nodeSelector":
		s.NodeSelector = d.texts()
	case "nodeName":
		s.NodeName = word[string](d)
	case "hostNetwork":
		s.HostNetwork = d.yes()
	case "hostUsers":
		s.HostUsers = pointer(d, d.yes)
	case "schedulerName":
		s.SchedulerName = word[string](d)
	case "tolerations":
		s.Tolerations = list(d, d.toleration)
	case "priorityClassName":
		s.PriorityClassName = word[string](d)
	case "priority":
		s.Priority = pointer(d, d.number32)
	case "preemptionPolicy":
		s.PreemptionPolicy = wordPointer[corev1.PreemptionPolicy](d)
	case "terminationGracePeriodSeconds":
		s.TerminationGracePeriodSeconds = pointer(d, d.number)
	default:
		return false
	}
	return true
}

// rareMember is usualMember for rare members.
func (d *Decoder) rareMember(name []byte, s *corev1.PodSpec) bool {
	switch string(name) {
	case "volumes":
		s.Volumes = d.volumes()
	case "affinity":
		d.rare(&s.Affinity)
	case "overhead":
		s.Overhead = d.resourceList()
	case "topologySpreadConstraints":
		d.rare(&s.TopologySpreadConstraints)
	case "schedulingGates":
		d.rare(&s.SchedulingGates)
	case "resourceClaims":
		d.rare(&s.ResourceClaims)
	case "resources":
		s.Resources = pointer(d, d.requirements)
	case "schedulingGroup":
		d.rare(&s.SchedulingGroup)
	default:
		return false
	}
	return true
}

func (d *Decoder) container() (c corev1.Container) {
	d.members(func(name []byte) {
		switch string(name) {
		case "name":
			c.Name = word[string](d)
		case "image":
			c.Image = d.text()
		case "ports":
			c.Ports = list(d, d.port)
		case "resources":
			c.Resources = d.requirements()
		case "restartPolicy":
			c.RestartPolicy = wordPointer[corev1.ContainerRestartPolicy](d)
		default:
			d.value()
		}
	})
	return c
}

func (d *Decoder) port() (p corev1.ContainerPort) {
	d.members(func(name []byte) {
		switch string(name) {
		case "name":
			p.Name = word[string](d)
		case "hostPort":
			p.HostPort = d.number32()
		case "containerPort":
			p.ContainerPort = d.number32()
		case "protocol":
			p.Protocol = word[corev1.Protocol](d)
		case "hostIP":
			p.HostIP = word[string](d)
		default:
			d.value()
		}
	})
	return p
}

func (d *Decoder) toleration() (t corev1.Toleration) {
	d.members(func(name []byte) {
		switch string(name) {
		case "key":
			t.Key = word[string](d)
		case "operator":
			t.Operator = word[corev1.TolerationOperator](d)
		case "value":
			t.Value = word[string](d)
		case "effect":
			t.Effect = word[corev1.TaintEffect](d)
		case "tolerationSeconds":
			t.TolerationSeconds = pointer(d, d.number)
		default:
			d.value()
		}
	})
	return t
}

// volumes reads the volumes that a plugin looks at: all but those that are made of what each node has or can fetch.
func (d *Decoder) volumes() (all []corev1.Volume) {
	d.elements(func() {
		from, source := d.at, 0
		d.members(func(name []byte) {
			switch string(name) {
			case "name":
			case "projected", "configMap", "secret", "emptyDir", "downwardAPI", "hostPath", "nfs":
				source = max(source, 1)
			default:
				source = 2
			}
			d.value()
		})
		if source == 2 && !d.unusual {
			var v corev1.Volume
			d.at = from
			d.rare(&v)
			all = append(all, v)
		}
	})
	return all
}
