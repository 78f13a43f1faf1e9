package classic

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
)

// AddNominatedPod nominates pod to run on node, as after a preemption; an empty node ends its nomination.
// The pod must exist and not be assigned. Add and Update nominate by the pod's status by themselves.
func (q *Queue) AddNominatedPod(pod *v1.Pod, node string) error {
	if err := present("AddNominatedPod", pod); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.machine.AddNominatedPod(pod, node)
	return nil
}

// DeleteNominatedPodIfExists ends the nomination of pod.
func (q *Queue) DeleteNominatedPodIfExists(pod *v1.Pod) error {
	if err := present("DeleteNominatedPodIfExists", pod); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.machine.DeleteNominatedPodIfExists(pod)
	return nil
}

// NominatedPodsForNode returns the pods nominated to run on node, in the order of their nomination. The slice must not be modified.
// It waits for no other method: upstream's plugins ask of every node in every attempt, several at a time.
func (q *Queue) NominatedPodsForNode(node string) []*v1.Pod {
	return q.machine.NominatedPodsForNode(node)
}

// Get returns what the queue knows of the named pod, whether it waits or is in flight. The slices in it are
// shared, and must not be modified.
func (q *Queue) Get(namespace, name string) (queue.PodInfo, bool) {
	q.mu.RLock()
	defer q.mu.RUnlock()
	return q.machine.Get(namespace, name)
}

// NominatedNode returns the node that the pod with that UID is nominated to run on, or "".
func (q *Queue) NominatedNode(uid types.UID) string {
	q.mu.RLock()
	defer q.mu.RUnlock()
	return q.machine.NominatedNode(uid)
}

// PodsIn returns the pods in a tier, in no particular order. Its cost grows with the number of all that are there.
func (q *Queue) PodsIn(tier queue.Tier) []*v1.Pod {
	q.mu.RLock()
	defer q.mu.RUnlock()
	var pods []*v1.Pod
	for info := range q.machine.Pods(func(t queue.Tier) bool { return t == tier }) {
		pods = append(pods, info.Pod)
	}
	return pods
}

// Len returns how many pods are in a tier, or in flight.
func (q *Queue) Len(tier queue.Tier) int {
	q.mu.RLock()
	defer q.mu.RUnlock()
	return q.machine.PendingPods(tier)
}

// IncomingPodsTotal returns how many pods entered each queue so far, by the event that sent them.
func (q *Queue) IncomingPodsTotal() map[queue.Incoming]int64 {
	q.mu.RLock()
	defer q.mu.RUnlock()
	return q.machine.IncomingPodsTotal()
}

// PendingPods returns the pods that wait: those of activeQ first, then those of backoffQ, then the
// unschedulable and gated ones, each in no particular order; and upstream's summary of their numbers. Its
// cost grows with their number: it is meant for debugging.
func (q *Queue) PendingPods() ([]*v1.Pod, string) {
	q.mu.RLock()
	defer q.mu.RUnlock()
	infos := slices.Collect(q.machine.Pods(queue.Tier.Queued))
	slices.SortFunc(infos, func(a, b queue.PodInfo) int { return int(a.Tier) - int(b.Tier) })
	pods := make([]*v1.Pod, len(infos))
	for i := range infos {
		pods[i] = infos[i].Pod
	}
	return pods, fmt.Sprintf("activeQ:%v; backoffQ:%v; unschedulableEntities:%v",
		q.machine.PendingPods(queue.Active), q.machine.PendingPods(queue.Backoff), q.unschedulable())
}

// InFlightPods returns the pods that were popped and whose attempts have not ended, in the order of their
// popping.
func (q *Queue) InFlightPods() []*v1.Pod {
	q.mu.RLock()
	defer q.mu.RUnlock()
	pods := make([]*v1.Pod, 0, q.machine.PendingPods(queue.InFlight))
	for info := range q.machine.InFlight() {
		pods = append(pods, info.Pod)
	}
	return pods
}

// NumUnschedulablePods returns how many pods are unschedulable, the gated ones included: upstream keeps
// them in one place.
func (q *Queue) NumUnschedulablePods() int {
	q.mu.RLock()
	defer q.mu.RUnlock()
	return q.unschedulable()
}

func (q *Queue) unschedulable() int {
	return q.machine.PendingPods(queue.Unschedulable) + q.machine.PendingPods(queue.Gated)
}
