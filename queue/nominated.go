package queue

import (
	"maps"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// nominatedPods records the node that each nominated pod is nominated to run on. It models
// nominator.go, except that upstream asks the pod lister whether a pod still exists and is unassigned;
// here the caller does.
//
// One goroutine at a time may use it. OnNode may also be called concurrently: upstream's plugins call it
// for every node in every attempt.
type nominatedPods struct {
	mu    sync.RWMutex // held by the owner to write, and by OnNode to read
	nodes map[types.UID]string
	pods  map[string][]*v1.Pod
}

func newNominatedPods() *nominatedPods {
	return &nominatedPods{nodes: map[types.UID]string{}, pods: map[string][]*v1.Pod{}}
}

// Add nominates pod to run on node. An empty node ends its nomination.
func (n *nominatedPods) Add(pod *v1.Pod, node string) { n.replace(pod.UID, pod, node) }

// Update models UpdateNominatedPod: it keeps a nomination that is in the scheduler's memory only and in
// neither object.
func (n *nominatedPods) Update(oldPod, newPod *v1.Pod) {
	node := newPod.Status.NominatedNodeName
	if node == "" && oldPod.Status.NominatedNodeName == "" {
		node = n.nodes[oldPod.UID]
	}
	n.replace(oldPod.UID, newPod, node)
}

// Delete ends the nomination of the pod with that UID.
func (n *nominatedPods) Delete(uid types.UID) { n.replace(uid, nil, "") }

// replace ends the nomination of the pod with the UID old and nominates pod to run on node, unless node
// is empty. To OnNode, both happen at once.
func (n *nominatedPods) replace(old types.UID, pod *v1.Pod, node string) {
	if node == "" && n.nodes[old] == "" && (pod == nil || n.nodes[pod.UID] == "") {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.end(old)
	if pod != nil {
		n.end(pod.UID)
	}
	if node != "" {
		n.nodes[pod.UID] = node
		n.pods[node] = append(slices.Clip(n.pods[node]), pod)
	}
}

func (n *nominatedPods) end(uid types.UID) {
	node, ok := n.nodes[uid]
	if !ok {
		return
	}
	delete(n.nodes, uid)
	// Forks share the slice, so it must not be modified in place.
	left := slices.DeleteFunc(slices.Clone(n.pods[node]), func(p *v1.Pod) bool { return p.UID == uid })
	if len(left) == 0 {
		delete(n.pods, node)
		return
	}
	n.pods[node] = left
}

// OnNode returns the pods nominated to run on node, in the order of their nomination. The slice is
// immutable.
func (n *nominatedPods) OnNode(node string) []*v1.Pod {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return slices.Clip(n.pods[node])
}

// Clone returns an independent copy.
func (n *nominatedPods) Clone() *nominatedPods {
	return &nominatedPods{nodes: maps.Clone(n.nodes), pods: maps.Clone(n.pods)}
}
