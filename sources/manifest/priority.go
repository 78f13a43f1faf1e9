package manifest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
)

// The two classes that every cluster has.
var systemClasses = map[string]int32{"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}

// ResolvePriority sets a new pod's priority and preemption policy like the API server's admission: from its class, or else
// from the default class. The functions return the classes; defaultClass returns nil if there is none. The pod must not be
// shared. An error is one sentence, and leaves the pod unchanged: the class is unknown, or the pod's priority differs from
// that of its class. A pod with a node keeps its priority, because it was admitted before.
func ResolvePriority(pod *corev1.Pod, class func(name string) (*schedulingv1.PriorityClass, bool),
	defaultClass func() *schedulingv1.PriorityClass) error {
	s := &pod.Spec
	if s.NodeName != "" && s.Priority != nil {
		return nil
	}
	name, value, policy := s.PriorityClassName, int32(0), corev1.PreemptLowerPriority
	var from *schedulingv1.PriorityClass
	if name == "" {
		if from = defaultClass(); from != nil {
			name = from.Name
		}
	} else if c, ok := class(name); ok {
		from = c
	} else if value, ok = systemClasses[name]; !ok {
		return fmt.Errorf("pod %s names the priority class %s, which does not exist", short(pod.Name), quote(name))
	}
	if from != nil {
		value = from.Value
		if from.PreemptionPolicy != nil {
			policy = *from.PreemptionPolicy
		}
	}
	if s.Priority != nil && *s.Priority != value {
		return fmt.Errorf("pod %s has the priority %d, but its priority class gives %d: leave out spec.priority and name a class in spec.priorityClassName",
			short(pod.Name), *s.Priority, value)
	}
	if s.PreemptionPolicy != nil && *s.PreemptionPolicy != policy {
		return fmt.Errorf("pod %s has the preemptionPolicy %s, but its priority class gives %s: leave out spec.preemptionPolicy",
			short(pod.Name), short(string(*s.PreemptionPolicy)), short(string(policy)))
	}
	s.PriorityClassName, s.Priority, s.PreemptionPolicy = name, &value, &policy
	return nil
}
