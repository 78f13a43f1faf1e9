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

// Update replaces the object of a pod, and derives the events of the change with upstream's
// PodSchedulingPropertiesChange. It adds an unknown pod.
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

// MoveAllToActiveOrBackoffQueue is a move request: it moves every unschedulable or gated pod that event may
// make schedulable to activeQ or, during its backoff, to backoffQ. The hints receive oldObj and newObj, the
// object before and after the event. If preCheck is not nil, only pods for which it returns true can move;
// it runs under the queue's lock and must not call the queue. For pods in flight, the event counts when
// their attempt fails.
func (q *Queue) MoveAllToActiveOrBackoffQueue(event fwk.ClusterEvent, oldObj, newObj any, preCheck func(*v1.Pod) bool) error {
	return q.withMachine(func(now time.Time) error {
		q.machine.MoveAllToActiveOrBackoffQueue(now, event, oldObj, newObj, preCheck)
		return nil
	})
}

// Activate moves pods to activeQ, regardless of their backoff, in the order of the map's keys, which upstream's
// plugins set to "namespace/name". A pod in flight returns to activeQ or backoffQ if its attempt fails.
// Activate ignores unknown pods.
func (q *Queue) Activate(pods map[string]*v1.Pod) error {
	return q.withMachine(func(now time.Time) error {
		var missing error
		for _, key := range slices.Sorted(maps.Keys(pods)) {
			if pods[key] == nil {
				missing = errors.Join(missing, fmt.Errorf("Activate: pod %q is nil", key))
				continue
			}
			q.machine.Activate(now, pods[key])
		}
		return missing
	})
}

// samePod returns an error unless both pods exist and have the same name.
func samePod(method string, oldPod, newPod *v1.Pod) error {
	if oldPod == nil || newPod == nil {
		return fmt.Errorf("%s: the old or new pod is nil", method)
	}
	if oldPod.Name != newPod.Name || oldPod.Namespace != newPod.Namespace {
		return fmt.Errorf("%s: cannot update pod %s/%s to %s/%s: the names differ",
			method, oldPod.Namespace, oldPod.Name, newPod.Namespace, newPod.Name)
	}
	return nil
}
