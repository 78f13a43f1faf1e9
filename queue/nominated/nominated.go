// Package nominated remembers which pods were nominated to run on which node. (nominator.go.) Upstream asks the
// pod lister whether a pod still exists and is unassigned; here the caller does.
package nominated

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/ebb"
)

// Pods are the nominated pods.
type Pods struct {
	nodes ebb.Map[types.UID, string]
	pods  ebb.Map[string, []*v1.Pod]
}

// New returns no nominated pods.
func New() Pods { return Pods{} }

// Add nominates pod to run on node; an empty node ends its nomination.
func (n *Pods) Add(pod *v1.Pod, node string) {
	n.Delete(pod.UID)
	if node == "" {
		return
	}
	n.nodes.Set(pod.UID, node)
	n.pods.Set(node, append(n.On(node), pod))
}

// Update models UpdateNominatedPod: a nomination that only the scheduler knows of survives an update
// that does not speak of it.
func (n *Pods) Update(oldPod, newPod *v1.Pod) {
	node := newPod.Status.NominatedNodeName
	if node == "" && oldPod.Status.NominatedNodeName == "" {
		node = n.Node(oldPod.UID)
	}
	n.Delete(oldPod.UID)
	n.Add(newPod, node)
}

// Delete ends the nomination of the pod with that UID.
func (n *Pods) Delete(uid types.UID) {
	node, ok := n.nodes.Get(uid)
	if !ok {
		return
	}
	n.nodes.Delete(uid)
	// Not in place: forks share the slice.
	left := slices.DeleteFunc(slices.Clone(n.On(node)), func(p *v1.Pod) bool { return p.UID == uid })
	if len(left) == 0 {
		n.pods.Delete(node)
		return
	}
	n.pods.Set(node, left)
}

// Clone returns a copy that shares nothing which changes.
func (n *Pods) Clone() Pods {
	return Pods{nodes: n.nodes.Clone(), pods: n.pods.Clone()}
}

// Node returns the node that the pod with that UID is nominated to run on, or "".
func (n *Pods) Node(uid types.UID) string {
	node, _ := n.nodes.Get(uid)
	return node
}

// On returns the pods that are nominated to run on node, in the order of their nomination. The slice stays as it is, and must.
func (n *Pods) On(node string) []*v1.Pod {
	pods, _ := n.pods.Get(node)
	return slices.Clip(pods)
}
