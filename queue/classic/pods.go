package classic

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
)

// AddNominatedPod nominates pod, which must exist and be unassigned, to run on node. An empty node ends its
// nomination. Add and Update apply the nomination in the pod's status.
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

// NominatedPodsForNode returns the pods nominated to run on node, in the order of their nomination. The caller
// must not modify the slice. It does not wait for other methods, because upstream's plugins call it for
// every node in every attempt, in parallel.
func (q *Queue) NominatedPodsForNode(node string) []*v1.Pod {
	return q.machine.NominatedPodsForNode(node)
}

// Get returns the state of the named pod, waiting or in flight, and false if the queue does not know it. The
// caller must not modify its slices.
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

// PodsIn returns the pods in a tier, in no particular order. It iterates over all pods of the queue.
func (q *Queue) PodsIn(tier queue.Tier) []*v1.Pod {
	q.mu.RLock()
	defer q.mu.RUnlock()
	var pods []*v1.Pod
	for info := range q.machine.Pods(func(t queue.Tier) bool { return t == tier }) {
		pods = append(pods, info.Pod)
	}
	return pods
}

// Len returns the number of pods in a tier.
func (q *Queue) Len(tier queue.Tier) int {
	q.mu.RLock()
	defer q.mu.RUnlock()
	return q.machine.PendingPods(tier)
}

// IncomingPodsTotal returns the number of pods that entered each queue, by event.
func (q *Queue) IncomingPodsTotal() map[queue.Incoming]int64 {
	q.mu.RLock()
	defer q.mu.RUnlock()
	return q.machine.IncomingPodsTotal()
}

// PendingPods returns the waiting pods, first those in activeQ, then those in backoffQ, then the unschedulable
// and gated ones, and upstream's summary of their numbers. It is meant for debugging: it copies all pods.
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

// InFlightPods returns the pods in flight in pop order.
func (q *Queue) InFlightPods() []*v1.Pod {
	q.mu.RLock()
	defer q.mu.RUnlock()
	pods := make([]*v1.Pod, 0, q.machine.PendingPods(queue.InFlight))
	for info := range q.machine.InFlight() {
		pods = append(pods, info.Pod)
	}
	return pods
}

// NumUnschedulablePods returns the number of unschedulable and gated pods, which upstream stores together.
func (q *Queue) NumUnschedulablePods() int {
	q.mu.RLock()
	defer q.mu.RUnlock()
	return q.unschedulable()
}

func (q *Queue) unschedulable() int {
	return q.machine.PendingPods(queue.Unschedulable) + q.machine.PendingPods(queue.Gated)
}
