package queue

// Package nominated remembers which pods were nominated to run on which node. (nominator.go.) Upstream asks the
// pod lister whether a pod still exists and is unassigned; here the caller does.

import (
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Pods are the nominated pods; the zero Pods are none. They belong to one goroutine at a time, but for On, which others may call
// beside it: upstream's plugins ask it of every node in every attempt.
type nominatedPods struct {
	mu    sync.RWMutex // to change what follows, and to read it as another than the owner
	nodes shrinkingMap[types.UID, string]
	pods  shrinkingMap[string, []*v1.Pod]
}

// Add nominates pod to run on node; an empty node ends its nomination.
func (n *nominatedPods) Add(pod *v1.Pod, node string) { n.replace(pod.UID, pod, node) }

// Update models UpdateNominatedPod: a nomination that only the scheduler knows of survives an update
// that does not speak of it.
func (n *nominatedPods) Update(oldPod, newPod *v1.Pod) {
	node := newPod.Status.NominatedNodeName
	if node == "" && oldPod.Status.NominatedNodeName == "" {
		node = n.Node(oldPod.UID)
	}
	n.replace(oldPod.UID, newPod, node)
}

// Delete ends the nomination of the pod with that UID.
func (n *nominatedPods) Delete(uid types.UID) { n.replace(uid, nil, "") }

// replace ends the nomination of the pod with that UID and nominates pod to run on node, unless that is empty. Nobody sees a moment
// between the two.
func (n *nominatedPods) replace(old types.UID, pod *v1.Pod, node string) {
	if node == "" && n.Node(old) == "" && (pod == nil || n.Node(pod.UID) == "") {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.end(old)
	if pod != nil {
		n.end(pod.UID)
	}
	if node != "" {
		n.nodes.Set(pod.UID, node)
		n.pods.Set(node, append(n.on(node), pod))
	}
}

func (n *nominatedPods) end(uid types.UID) {
	node, ok := n.nodes.Get(uid)
	if !ok {
		return
	}
	n.nodes.Delete(uid)
	// Not in place: forks share the slice.
	left := slices.DeleteFunc(slices.Clone(n.on(node)), func(p *v1.Pod) bool { return p.UID == uid })
	if len(left) == 0 {
		n.pods.Delete(node)
		return
	}
	n.pods.Set(node, left)
}

// Clone returns a copy that shares nothing which changes.
func (n *nominatedPods) Clone() *nominatedPods {
	return &nominatedPods{nodes: n.nodes.Clone(), pods: n.pods.Clone()}
}

// Node returns the node that the pod with that UID is nominated to run on, or "".
func (n *nominatedPods) Node(uid types.UID) string {
	node, _ := n.nodes.Get(uid)
	return node
}

// On returns the pods that are nominated to run on node, in the order of their nomination. The slice stays as it is, and must. It
// may be called beside all other methods.
func (n *nominatedPods) On(node string) []*v1.Pod {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.on(node)
}

func (n *nominatedPods) on(node string) []*v1.Pod {
	pods, _ := n.pods.Get(node)
	return slices.Clip(pods)
}
