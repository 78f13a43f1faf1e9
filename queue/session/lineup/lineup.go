// Package lineup says of the model's queue what its scheduling loop can take, and in which turn.
package lineup

import (
	"iter"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/evidence"
)

// Queue is the part of the model's queue that is asked.
type Queue interface {
	// Upcoming yields the pods that the loop can take, in their turn.
	Upcoming() iter.Seq[*v1.Pod]
	Get(namespace, name string) (queue.PodInfo, bool)
}

// Lineup is a queue from some of whose tiers the loop takes pods.
type Lineup struct {
	Queue
	TakesFrom func(queue.Tier) bool // whether the loop takes pods from that tier
}

// Takeable returns the pod that was seen, as the queue has it, or nil if the loop can't take it.
func (l Lineup) Takeable(seen *evidence.Sighting) *v1.Pod {
	info, ok := l.Get(seen.Pod.Namespace, seen.Pod.Name)
	if !ok || info.Pod.UID != seen.UID || !l.TakesFrom(info.Tier) {
		return nil
	}
	return info.Pod
}

// IsAwake reports whether the named pod is in flight, or where the loop takes it from.
func (l Lineup) IsAwake(pod types.NamespacedName) bool {
	info, ok := l.Get(pod.Namespace, pod.Name)
	return ok && (info.Tier == queue.InFlight || l.TakesFrom(info.Tier))
}

// Asleep reports whether the pod that was seen is where the loop takes none from: it has yet to be woken.
func (l Lineup) Asleep(seen *evidence.Sighting) bool {
	info, ok := l.Get(seen.Pod.Namespace, seen.Pod.Name)
	return ok && info.Pod.UID == seen.UID && info.Tier != queue.InFlight && !l.TakesFrom(info.Tier)
}

// IsNext reports whether it is pod's turn.
func (l Lineup) IsNext(pod *v1.Pod) bool {
	for next := range l.Upcoming() {
		return next.UID == pod.UID
	}
	return false
}

// FailedBefore reports whether an attempt of a pod in the queue has failed.
func (l Lineup) FailedBefore(pod *v1.Pod) bool {
	info, ok := l.Get(pod.Namespace, pod.Name)
	return ok && info.Attempts > 0
}
