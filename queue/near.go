package queue

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// near says, in a release without hints, which pods are moved by a pod that got a node or changed on it: those
// that want to be near it. It is nil if all are. (scheduling_queue.go, AssignedPodAdded, AssignedPodUpdated
// and getUnschedulablePodsWithMatchingAffinityTerm.)
func (q *Queue) near(event fwk.ClusterEvent, newObj any) func(waiting *v1.Pod) bool {
	pod, ok := newObj.(*v1.Pod)
	if !ok || q.opts.Rules.Waking == ByHints || event.Resource != fwk.AssignedPod || event.ActionType == fwk.Delete {
		return nil
	}
	return func(waiting *v1.Pod) bool { return q.wantsNear(waiting, pod) }
}

// wantsNear reports whether a required pod affinity term of waiting matches pod. The labels of namespaces are
// not known: a namespace selector matches only if it is empty.
func (q *Queue) wantsNear(waiting, pod *v1.Pod) bool {
	terms, err := fwk.GetAffinityTerms(waiting, fwk.GetPodAffinityTerms(waiting.Spec.Affinity))
	if err != nil {
		q.observer.Failed(fmt.Errorf("pod %s/%s is not moved by what happened to %s/%s, because its affinity cannot be read: %w",
			waiting.Namespace, waiting.Name, pod.Namespace, pod.Name, err))
		return false
	}
	return slices.ContainsFunc(terms, func(term fwk.AffinityTerm) bool { return term.Matches(pod, nil) })
}
