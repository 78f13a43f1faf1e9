// Package nominated remembers which pods were nominated to run on which node. (nominator.go.) Upstream asks the
// pod lister whether a pod still exists and is unassigned; here the caller does.
package nominated

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Pods are the nominated pods.
type Pods struct {
	nodes map[types.UID]string
	pods  map[string][]*v1.Pod
}

// New returns no nominated pods.
func New() Pods {
	return Pods{nodes: map[types.UID]string{}, pods: map[string][]*v1.Pod{}}
}

// Add nominates pod to run on node; an empty node ends its nomination.
func (n *Pods) Add(pod *v1.Pod, node string) {
	n.Delete(pod.UID)
	if node == "" {
		return
	}
	n.nodes[pod.UID] = node
	n.pods[node] = append(n.pods[node], pod)
}

// Update models UpdateNominatedPod: a nomination that only the scheduler knows of survives an update
// that does not speak of it.
func (n *Pods) Update(oldPod, newPod *v1.Pod) {
	node := newPod.Status.NominatedNodeName
	if node == "" && oldPod.Status.NominatedNodeName == "" {
		node = n.nodes[oldPod.UID]
	}
	n.Delete(oldPod.UID)
	n.Add(newPod, node)
}

// Delete ends the nomination of the pod with that UID.
func (n *Pods) Delete(uid types.UID) {
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

// Clone returns a copy that shares nothing which changes.
func (n *Pods) Clone() Pods {
	c := Pods{nodes: maps.Clone(n.nodes), pods: maps.Clone(n.pods)}
	for node, pods := range c.pods {
		c.pods[node] = slices.Clip(pods)
	}
	return c
}

// Node returns the node that the pod with that UID is nominated to run on, or "".
func (n *Pods) Node(uid types.UID) string { return n.nodes[uid] }

// On returns the pods that are nominated to run on node, in the order of their nomination. The slice stays as it is, and must.
func (n *Pods) On(node string) []*v1.Pod { return slices.Clip(n.pods[node]) }
