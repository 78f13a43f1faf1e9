package shadow

import (
	"iter"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/evidence"
)

// Queue is the read-only view of the model's queue that the oracle uses.
type Queue interface {
	// Upcoming yields the pods that the loop can take, in queue order.
	Upcoming() iter.Seq[*v1.Pod]
	Get(namespace, name string) (queue.PodInfo, bool)
}

// lineup is a queue together with the tiers from which the loop takes pods.
type lineup struct {
	Queue
	TakesFrom func(queue.Tier) bool           // whether the loop takes pods from that tier
	HasNode   func(types.NamespacedName) bool // whether a pod is already bound
}

// Takeable returns the queue's version of the observed pod, or nil if the loop can't take it.
func (l lineup) Takeable(seen *evidence.Observation) *v1.Pod {
	info, ok := l.Get(seen.Pod.Namespace, seen.Pod.Name)
	if !ok || info.Pod.UID != seen.UID || !l.TakesFrom(info.Tier) {
		return nil
	}
	return info.Pod
}

// IsAwake reports whether the named pod is in flight or in a tier from which the loop takes pods.
func (l lineup) IsAwake(pod types.NamespacedName) bool {
	info, ok := l.Get(pod.Namespace, pod.Name)
	return ok && (info.Tier == queue.InFlight || l.TakesFrom(info.Tier))
}

// Asleep reports whether the observed pod is in a tier from which the loop takes no pods: an event
// must wake it first.
func (l lineup) Asleep(seen *evidence.Observation) bool {
	info, ok := l.Get(seen.Pod.Namespace, seen.Pod.Name)
	return ok && info.Pod.UID == seen.UID && info.Tier != queue.InFlight && !l.TakesFrom(info.Tier)
}

// IsNext reports whether pod is next in the queue.
func (l lineup) IsNext(pod *v1.Pod) bool {
	for next := range l.Upcoming() {
		return next.UID == pod.UID
	}
	return false
}

// NextSeen returns the observed trace, within that duration from now, of the next attempt of a pod
// that the loop can take. It uses the first pod in queue order with such a trace. before is how
// many pods the loop takes before that one: pods whose attempts need not leave a trace. The loop
// does not take pods that must leave a trace but have none. NextSeen returns nil if there is no
// trace or if most pods precede it.
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

// PlacedBefore returns the first pod that the loop must place before an attempt whose request is
// sent at sent, after the requests made before it. It returns nil if there is no such pod, and
// false if one of these pods is not in the queue yet.
func (l lineup) PlacedBefore(f *evidence.Future, now, sent time.Time) (pod *v1.Pod, come bool) {
	for seen := range f.Bindings(now, sent.Sub(now)) {
		if pod := l.Takeable(seen); pod != nil {
			return pod, true
		}
		if l.notQueuedYet(seen) {
			return nil, false
		}
	}
	return nil, true
}

// PlacesOthers reports whether a pod is bound between now and then that is not in the queue yet or
// not awake yet. Failed bindings do not count, since their pods may have been placed long before.
func (l lineup) PlacesOthers(f *evidence.Future, now, then time.Time) bool {
	for seen := range f.Bindings(now, then.Sub(now)) {
		if seen.Kind != evidence.BindingFailed && (l.Asleep(seen) || l.notQueuedYet(seen)) {
			return true
		}
	}
	return false
}

// notQueuedYet reports whether seen binds a pod that is not in the queue yet.
func (l lineup) notQueuedYet(seen *evidence.Observation) bool {
	_, known := l.Get(seen.Pod.Namespace, seen.Pod.Name)
	return !known && seen.Kind == evidence.Bound && !l.HasNode(seen.Pod)
}

// FailedBefore reports whether the queued pod has a failed attempt.
func (l lineup) FailedBefore(pod *v1.Pod) bool {
	info, ok := l.Get(pod.Namespace, pod.Name)
	return ok && info.Attempts > 0
}
