package queue

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// nominator remembers which pods were nominated to run on which node. (nominator.go.) Upstream asks the
// pod lister whether a pod still exists and is unassigned; here the caller does.
type nominator struct {
	nodes map[types.UID]string
	pods  map[string][]*v1.Pod
}

func newNominator() nominator {
	return nominator{nodes: map[types.UID]string{}, pods: map[string][]*v1.Pod{}}
}

// add nominates pod to run on node; an empty node ends its nomination.
func (n *nominator) add(pod *v1.Pod, node string) {
	n.delete(pod.UID)
	if node == "" {
		return
	}
	n.nodes[pod.UID] = node
	n.pods[node] = append(n.pods[node], pod)
}

// update models UpdateNominatedPod: a nomination that only the scheduler knows of survives an update
// that does not speak of it.
func (n *nominator) update(oldPod, newPod *v1.Pod) {
	node := newPod.Status.NominatedNodeName
	if node == "" && oldPod.Status.NominatedNodeName == "" {
		node = n.nodes[oldPod.UID]
	}
	n.delete(oldPod.UID)
	n.add(newPod, node)
}

func (n *nominator) delete(uid types.UID) {
	node, ok := n.nodes[uid]
	if !ok {
		return
	}
	delete(n.nodes, uid)
	// Not in place: forks share the slice.
	n.pods[node] = slices.DeleteFunc(slices.Clone(n.pods[node]), func(p *v1.Pod) bool { return p.UID == uid })
	if len(n.pods[node]) == 0 {
		delete(n.pods, node)
	}
}

func (n *nominator) clone() nominator {
	c := nominator{nodes: maps.Clone(n.nodes), pods: maps.Clone(n.pods)}
	for node, pods := range c.pods {
		c.pods[node] = slices.Clip(pods)
	}
	return c
}

// AddNominatedPod nominates pod to run on node, as after a preemption; an empty node ends its
// nomination. The pod must exist and not be assigned.
func (q *Queue) AddNominatedPod(pod *v1.Pod, node string) { q.nominated.add(pod, node) }

// DeleteNominatedPodIfExists ends the nomination of pod.
func (q *Queue) DeleteNominatedPodIfExists(pod *v1.Pod) { q.nominated.delete(pod.UID) }

// NominatedPodsForNode returns the pods nominated to run on node, in the order of their nomination. The slice
// stays as it is, and must.
func (q *Queue) NominatedPodsForNode(node string) []*v1.Pod {
	return slices.Clip(q.nominated.pods[node])
}

// NominatedNode returns the node that the pod with that UID is nominated to run on, or "".
func (q *Queue) NominatedNode(uid types.UID) string { return q.nominated.nodes[uid] }
