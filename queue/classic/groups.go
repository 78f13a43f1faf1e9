package classic

import (
	"errors"
	"time"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
)

// AddAttemptedPodGroupIfNeeded ends the attempt of the pod group that was popped last. It fails if the group is
// queued already or was not popped.
func (q *Queue) AddAttemptedPodGroupIfNeeded(name types.NamespacedName, outcome queue.GroupOutcome) error {
	return q.withMachine(func(now time.Time) error {
		return q.machine.AddAttemptedPodGroupIfNeeded(now, name, outcome)
	})
}

// AddPodGroup adds a PodGroup and queues the pods that waited for it.
func (q *Queue) AddPodGroup(object *schedulingv1beta1.PodGroup) error {
	return q.withPodGroup(object, func(now time.Time) { q.machine.AddPodGroup(now, object) })
}

// UpdatePodGroup replaces a PodGroup.
func (q *Queue) UpdatePodGroup(object *schedulingv1beta1.PodGroup) error {
	return q.withPodGroup(object, func(time.Time) { q.machine.UpdatePodGroup(object) })
}

// DeletePodGroup deletes a PodGroup. Its pods that are not in flight wait for another one of that name.
func (q *Queue) DeletePodGroup(object *schedulingv1beta1.PodGroup) error {
	return q.withPodGroup(object, func(now time.Time) { q.machine.DeletePodGroup(now, object) })
}

func (q *Queue) withPodGroup(object *schedulingv1beta1.PodGroup, act func(now time.Time)) error {
	if object == nil {
		return errors.New("the PodGroup is nil")
	}
	return q.withMachine(func(now time.Time) error {
		act(now)
		return nil
	})
}

// Group returns the state of the named pod group, and false if the queue does not know it.
func (q *Queue) Group(name types.NamespacedName) (queue.GroupInfo, bool) {
	q.mu.RLock()
	defer q.mu.RUnlock()
	return q.machine.Group(name)
}
