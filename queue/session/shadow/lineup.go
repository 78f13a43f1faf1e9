package shadow

import (
	"iter"
	"time"

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

// lineup is a queue from some of whose tiers the loop takes pods.
type lineup struct {
	Queue
	TakesFrom func(queue.Tier) bool           // whether the loop takes pods from that tier
	HasNode   func(types.NamespacedName) bool // whether a pod was bound before
}

// Takeable returns the pod that was seen, as the queue has it, or nil if the loop can't take it.
func (l lineup) Takeable(seen *evidence.Observation) *v1.Pod {
	info, ok := l.Get(seen.Pod.Namespace, seen.Pod.Name)
	if !ok || info.Pod.UID != seen.UID || !l.TakesFrom(info.Tier) {
		return nil
	}
	return info.Pod
}

// IsAwake reports whether the named pod is in flight, or where the loop takes it from.
func (l lineup) IsAwake(pod types.NamespacedName) bool {
	info, ok := l.Get(pod.Namespace, pod.Name)
	return ok && (info.Tier == queue.InFlight || l.TakesFrom(info.Tier))
}

// Asleep reports whether the pod that was seen is where the loop takes none from: it has yet to be woken.
func (l lineup) Asleep(seen *evidence.Observation) bool {
	info, ok := l.Get(seen.Pod.Namespace, seen.Pod.Name)
	return ok && info.Pod.UID == seen.UID && info.Tier != queue.InFlight && !l.TakesFrom(info.Tier)
}

// IsNext reports whether it is pod's turn.
func (l lineup) IsNext(pod *v1.Pod) bool {
	for next := range l.Upcoming() {
		return next.UID == pod.UID
	}
	return false
}

// NextSeen returns what is seen within that long from now of the next attempt of the first pod of those that the loop can take, in their turn,
// of which any is seen, and how many it takes before: pods whose attempts need not show. Those that must show, and do not, are not taken. Nil
// if none is seen, or that many are before it.
func (l lineup) NextSeen(f *evidence.Future, now time.Time, within time.Duration, most int, mustShow func(*v1.Pod) bool) (seen *evidence.Observation, before int) {
	for pod := range l.Upcoming() {
		if seen = f.Attempt(pod.UID, now, within); seen != nil {
			return seen, before
		}
		if mustShow(pod) {
			continue
		}
		if before++; before == most {
			break
		}
	}
	return nil, 0
}

// PlacedBefore returns the first pod that the loop has yet to place before an attempt whose request is sent at that moment, behind those made
// before it, or nil if there is none. It returns false if one of them has yet to come.
func (l lineup) PlacedBefore(f *evidence.Future, now, sent time.Time) (pod *v1.Pod, come bool) {
	for seen := range f.Bindings(now, sent.Sub(now)) {
		if pod := l.Takeable(seen); pod != nil {
			return pod, true
		}
		if l.hasYetToCome(seen) {
			return nil, false
		}
	}
	return nil, true
}

// PlacesOthers reports whether a pod is bound between now and then that has yet to come or to be woken. One whose binding fails may
// have been placed long before.
func (l lineup) PlacesOthers(f *evidence.Future, now, then time.Time) bool {
	for seen := range f.Bindings(now, then.Sub(now)) {
		if seen.Kind != evidence.BindingFailed && (l.Asleep(seen) || l.hasYetToCome(seen)) {
			return true
		}
	}
	return false
}

// hasYetToCome reports whether seen binds a pod of which the queue has yet to hear.
func (l lineup) hasYetToCome(seen *evidence.Observation) bool {
	_, known := l.Get(seen.Pod.Namespace, seen.Pod.Name)
	return !known && seen.Kind == evidence.Bound && !l.HasNode(seen.Pod)
}

// FailedBefore reports whether an attempt of a pod in the queue has failed.
func (l lineup) FailedBefore(pod *v1.Pod) bool {
	info, ok := l.Get(pod.Namespace, pod.Name)
	return ok && info.Attempts > 0
}
