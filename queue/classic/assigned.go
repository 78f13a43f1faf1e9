package classic

import (
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/schedq/schedq/queue"
)

// Pods that have a node are not in the queue, but what happens to them may help those that are. Today all of
// it is a move request, and the queueing hints say whom it helps (eventhandlers.go, addAssignedPodToCache,
// updateAssignedPodInCache, deleteAssignedPodFromCache). Before there were hints, a pod that got a node or
// changed moved only the pods that want to be near it: that is so with the options of these releases.

// AssignedPodAdded tells the queue that a pod was bound to its node, or that one with a node appeared.
func (q *Queue) AssignedPodAdded(pod *v1.Pod) error {
	if err := present("AssignedPodAdded", pod); err != nil {
		return err
	}
	return q.assigned(nil, pod, []fwk.ClusterEvent{framework.EventAssignedPodAdd})
}

// AssignedPodUpdated tells the queue that a pod with a node changed: that is one move request for each of
// the things that changed, as upstream's PodSchedulingPropertiesChange tells them.
func (q *Queue) AssignedPodUpdated(oldPod, newPod *v1.Pod) error {
	if err := samePod("AssignedPodUpdated", oldPod, newPod); err != nil {
		return err
	}
	events := []fwk.ClusterEvent{framework.EventAssignedPodUpdate}
	if q.asksHints() {
		events = framework.PodSchedulingPropertiesChange(newPod, oldPod, false)
	}
	return q.assigned(oldPod, newPod, events)
}

// AssignedPodDeleted tells the queue that a pod with a node is gone. (In v1.19 the event handler made this
// move request, in every release for all pods.)
func (q *Queue) AssignedPodDeleted(pod *v1.Pod) error {
	if err := present("AssignedPodDeleted", pod); err != nil {
		return err
	}
	return q.MoveAllToActiveOrBackoffQueue(framework.EventAssignedPodDelete, pod, nil, nil)
}

// assigned makes the move requests for a pod with a node. A nil oldPod is no object before.
func (q *Queue) assigned(oldPod, newPod *v1.Pod, events []fwk.ClusterEvent) error {
	var oldObj any
	if oldPod != nil {
		oldObj = oldPod
	}
	return q.withMachine(func(now time.Time) error {
		for _, event := range events {
			q.machine.MoveAllToActiveOrBackoffQueue(now, event, oldObj, newPod, nil)
		}
		return nil
	})
}

func (q *Queue) asksHints() bool { return q.machine.Options().Rules.Waking == queue.ByHints }
