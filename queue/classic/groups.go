package classic

import (
	"errors"
	"time"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
)

// Pod groups, which are queued as one with Options.GenericWorkload.

// AddAttemptedPodGroupIfNeeded ends the attempt of the pod group that was popped last. It fails if the group is queued already, or
// was not popped.
func (q *Queue) AddAttemptedPodGroupIfNeeded(name types.NamespacedName, outcome queue.GroupOutcome) error {
	return q.withMachine(func(now time.Time) error {
		return q.machine.AddAttemptedPodGroupIfNeeded(now, name, outcome)
	})
}

// AddPodGroup tells the queue that a PodGroup was observed: the pods that waited for it are queued.
func (q *Queue) AddPodGroup(object *schedulingv1beta1.PodGroup) error {
	return q.withPodGroup(object, func(now time.Time) { q.machine.AddPodGroup(now, object) })
}

// UpdatePodGroup tells the queue that a PodGroup changed.
func (q *Queue) UpdatePodGroup(object *schedulingv1beta1.PodGroup) error {
	return q.withPodGroup(object, func(time.Time) { q.machine.UpdatePodGroup(object) })
}

// DeletePodGroup tells the queue that a PodGroup is gone: its pods, but those in flight, wait for another of that name.
func (q *Queue) DeletePodGroup(object *schedulingv1beta1.PodGroup) error {
	return q.withPodGroup(object, func(now time.Time) { q.machine.DeletePodGroup(now, object) })
}

func (q *Queue) withPodGroup(object *schedulingv1beta1.PodGroup, act func(now time.Time)) error {
	if object == nil {
		return errors.New("there is no PodGroup")
	}
	return q.withMachine(func(now time.Time) error {
		act(now)
		return nil
	})
}

// Group returns what the queue knows of the named pod group.
func (q *Queue) Group(name types.NamespacedName) (queue.GroupInfo, bool) {
	q.mu.RLock()
	defer q.mu.RUnlock()
	return q.machine.Group(name)
}
