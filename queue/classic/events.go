package classic

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Update tells the queue that a pod that it may hold changed. What the change means to plugins is worked out
// by upstream's PodSchedulingPropertiesChange. A pod that the queue does not know is added.
func (q *Queue) Update(oldPod, newPod *v1.Pod) error {
	if err := samePod("Update", oldPod, newPod); err != nil {
		return err
	}
	events := framework.PodSchedulingPropertiesChange(newPod, oldPod, true)
	return q.withMachine(func(now time.Time) error {
		q.machine.Update(now, oldPod, newPod, events)
		return nil
	})
}

// MoveAllToActiveOrBackoffQueue is a move request: event happened, and every unschedulable or gated pod that
// it may help moves to activeQ or, while it backs off, to backoffQ. oldObj and newObj are the object before
// and after, for the queueing hints. preCheck, unless nil, leaves pods out; it is asked while the queue is
// locked and must not call it. Pods in flight are checked against the event when their attempt fails.
func (q *Queue) MoveAllToActiveOrBackoffQueue(event fwk.ClusterEvent, oldObj, newObj any, preCheck func(*v1.Pod) bool) error {
	return q.withMachine(func(now time.Time) error {
		q.machine.MoveAllToActiveOrBackoffQueue(now, event, oldObj, newObj, preCheck)
		return nil
	})
}

// Activate moves pods to activeQ at once, whatever their backoff: upstream's plugins ask for it by a map of
// pods whose keys are "namespace/name", and in the order of the keys it is done. A pod in flight returns to
// activeQ or backoffQ if its attempt fails. Unknown pods are ignored.
func (q *Queue) Activate(pods map[string]*v1.Pod) error {
	return q.withMachine(func(now time.Time) error {
		var missing error
		for _, key := range slices.Sorted(maps.Keys(pods)) {
			if pods[key] == nil {
				missing = errors.Join(missing, fmt.Errorf("Activate: there is no pod under the key %q", key))
				continue
			}
			q.machine.Activate(now, pods[key])
		}
		return missing
	})
}

// samePod returns an error of method unless there are both pods, and they bear one name.
func samePod(method string, oldPod, newPod *v1.Pod) error {
	if oldPod == nil || newPod == nil {
		return fmt.Errorf("%s needs the pod as it was and as it is", method)
	}
	if oldPod.Name != newPod.Name || oldPod.Namespace != newPod.Namespace {
		return fmt.Errorf("%s: pod %s/%s cannot become %s/%s: an update does not change the name",
			method, oldPod.Namespace, oldPod.Name, newPod.Namespace, newPod.Name)
	}
	return nil
}
