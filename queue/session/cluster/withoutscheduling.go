package cluster

import (
	"slices"

	v1 "k8s.io/api/core/v1"
)

// WithoutScheduling returns pod without the recorded scheduler's changes, such as its node and its
// condition: those are copied from have, the same pod where another scheduler runs. victim is true if the
// recorded scheduler preempted the pod; that deletion is undone too.
func WithoutScheduling(pod, have *v1.Pod, victim bool) *v1.Pod {
	pod = pod.DeepCopy()
	pod.Spec.NodeName, pod.Status.NominatedNodeName = have.Spec.NodeName, have.Status.NominatedNodeName
	pod.Status.Conditions = slices.DeleteFunc(pod.Status.Conditions, isScheduling)
	for _, cond := range have.Status.Conditions {
		if isScheduling(cond) {
			pod.Status.Conditions = append(pod.Status.Conditions, cond)
		}
	}
	if pod.Spec.NodeName == "" {
		pod.Status.Phase = v1.PodPending
		for _, label := range []string{v1.LabelTopologyZone, v1.LabelTopologyRegion} {
			if _, own := have.Labels[label]; !own {
				delete(pod.Labels, label) // the API server copied it from the node on binding
			}
		}
	}
	if victim {
		pod.DeletionTimestamp = have.DeletionTimestamp
	}
	return pod
}

// isScheduling reports whether a scheduler writes c.
func isScheduling(c v1.PodCondition) bool {
	return c.Type == v1.PodScheduled || c.Type == v1.DisruptionTarget
}

// Preempted reports whether a scheduler has chosen pod as a victim.
func Preempted(pod *v1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c v1.PodCondition) bool {
		return c.Type == v1.DisruptionTarget && c.Status == v1.ConditionTrue && c.Reason == v1.PodReasonPreemptionByScheduler
	})
}
