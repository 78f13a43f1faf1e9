package earlier

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// before returns obj as it was at the beginning, as far as that can be known: without fields that were set later.
func before(obj runtime.Object, at time.Time, p *past) runtime.Object {
	switch o := obj.(type) {
	case *corev1.Pod:
		return podBefore(o, at, p)
	case *corev1.Node:
		return nodeBefore(o, at, p)
	}
	if m := obj.(metav1.Object); m.GetDeletionTimestamp() != nil && m.GetDeletionTimestamp().After(at) {
		out := obj.DeepCopyObject()
		out.(metav1.Object).SetDeletionTimestamp(nil)
		out.(metav1.Object).SetResourceVersion("")
		return out
	}
	return obj
}

// unrecordedGate stands for the scheduling gates of a pod whose first state in the logs is the one after their removal: the
// scheduler's next attempt replaces the condition that it wrote about the gates.
const unrecordedGate = "(not recorded)"

func podBefore(pod *corev1.Pod, at time.Time, p *past) *corev1.Pod {
	out := *pod
	if t := pod.DeletionTimestamp; t != nil {
		grace := int64(corev1.DefaultTerminationGracePeriodSeconds)
		if s := pod.Spec.TerminationGracePeriodSeconds; s != nil {
			grace = max(0, min(*s, 1<<31))
		}
		if t.Add(-time.Duration(grace) * time.Second).After(at) {
			out.DeletionTimestamp, out.ResourceVersion = nil, ""
		}
	}
	i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled })
	since := at
	if i >= 0 {
		since = pod.Status.Conditions[i].LastTransitionTime.Time
	}
	if pod.Spec.NodeName != "" && (p.bound || since.After(at)) {
		out.Spec.NodeName = ""
		out.Status = corev1.PodStatus{Phase: corev1.PodPending}
		return &out
	}
	if i >= 0 && pod.Status.Conditions[i].Reason == corev1.PodReasonSchedulingGated && len(pod.Spec.SchedulingGates) == 0 && !p.when.IsZero() {
		out.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: unrecordedGate}}
		return &out
	}
	if pod.Spec.NodeName == "" && since.After(at) {
		out.Status.Conditions = slices.Delete(slices.Clone(pod.Status.Conditions), i, i+1)
		out.Status.NominatedNodeName = ""
	}
	if hasEnded := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed; hasEnded && pod.Spec.NodeName != "" &&
		slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.LastTransitionTime.After(at) }) {
		out.Status.Phase, out.ResourceVersion = corev1.PodRunning, ""
	}
	return &out
}

// nodeBefore removes taints that were added later. From a state in the logs, which may be the first of several changes, it
// also removes a cordon whose taint has not followed yet. A seed's state is complete: a cordon without a taint is one that no
// node lifecycle controller will taint, as on kwok's nodes.
func nodeBefore(node *corev1.Node, at time.Time, p *past) *corev1.Node {
	isCordon := func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnschedulable }
	isLate := func(t corev1.Taint) bool { return t.TimeAdded != nil && t.TimeAdded.After(at) }
	cordoned, seeded := slices.ContainsFunc(node.Spec.Taints, isCordon), p.when.IsZero()
	if (seeded || cordoned == node.Spec.Unschedulable) && !slices.ContainsFunc(node.Spec.Taints, isLate) {
		return node
	}
	out := *node
	out.ResourceVersion = ""
	out.Spec.Taints = slices.DeleteFunc(slices.Clone(node.Spec.Taints), isLate)
	if cordoned || !seeded {
		out.Spec.Unschedulable = slices.ContainsFunc(out.Spec.Taints, isCordon)
	}
	return &out
}
