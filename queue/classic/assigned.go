package classic

import (
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/schedq/schedq/queue"
)

// The methods in this file make move requests for assigned pods, as addAssignedPodToCache,
// updateAssignedPodInCache and deleteAssignedPodFromCache in eventhandlers.go do. In releases before
// queueing hints, an added or updated pod moves only the pods with an affinity to it.

// AssignedPodAdded makes a move request for a pod that was bound, or is new and has a node.
func (q *Queue) AssignedPodAdded(pod *v1.Pod) error {
	if err := present("AssignedPodAdded", pod); err != nil {
		return err
	}
	return q.assigned(nil, pod, []fwk.ClusterEvent{framework.EventAssignedPodAdd})
}

// AssignedPodUpdated makes a move request for each event that upstream's PodSchedulingPropertiesChange
// returns for an updated pod with a node.
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

// AssignedPodDeleted makes a move request for a deleted pod that had a node. In v1.19 this method did not
// exist: the event handler made the request.
func (q *Queue) AssignedPodDeleted(pod *v1.Pod) error {
	if err := present("AssignedPodDeleted", pod); err != nil {
		return err
	}
	return q.MoveAllToActiveOrBackoffQueue(framework.EventAssignedPodDelete, pod, nil, nil)
}

// assigned makes move requests for a pod with a node. oldPod may be nil.
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
