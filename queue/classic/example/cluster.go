package main

import (
	"context"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/schedq/schedq/queue/classic"
)

// The plugins that reject pods here, by the names of the real ones.
const (
	nodeAffinity     = "NodeAffinity"
	nodeResourcesFit = "NodeResourcesFit"
)

// cluster is what a scheduler's cache and informers are for: the nodes, the pods on them, and word to the
// queue of what happens.
type cluster struct {
	queue   *classic.Queue
	printer *printer

	mu      sync.Mutex
	nodes   []*v1.Node
	running map[string][]*v1.Pod // by node
}

// places is how many pods a node has room for.
const places = 2

// play is what happens in the cluster, one thing every 50 ms.
func (c *cluster) play(ctx context.Context) error {
	gated := newPod("gated", 0)
	gated.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/quota"}}
	picky := newPod("picky", 10)
	picky.Spec.NodeSelector = map[string]string{"disk": "ssd"}
	web0 := newPod("web-0", 0)

	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"node-1 has 2 places", func() error { return c.addNode("node-1", nil) }},
		{"picky wants a node with an SSD", func() error { return c.queue.Add(picky) }},
		{"web-0 comes", func() error { return c.queue.Add(web0) }},
		{"web-1 comes", func() error { return c.queue.Add(newPod("web-1", 0)) }},
		{"web-2 comes", func() error { return c.queue.Add(newPod("web-2", 5)) }},
		{"a pod comes whose gate is closed", func() error { return c.queue.Add(gated) }},
		{"web-0 ends, and leaves a place", func() error { return c.remove(web0) }},
		{"the gate opens", func() error { return c.queue.Update(gated, newPod("gated", 0)) }},
		{"node-2 has an SSD and 2 places", func() error { return c.addNode("node-2", picky.Spec.NodeSelector) }},
	} {
		c.printer.print(time.Now(), step.what)
		if err := step.do(); err != nil {
			return err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (c *cluster) addNode(name string, labels map[string]string) error {
	node := &v1.Node{}
	node.Name, node.Labels = name, labels
	c.mu.Lock()
	c.nodes = append(c.nodes, node)
	c.mu.Unlock()
	return c.queue.MoveAllToActiveOrBackoffQueue(fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}, nil, node, nil)
}

// find returns a node for pod, or else the plugins that rejected it.
func (c *cluster) find(pod *v1.Pod) (node string, rejectors []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.nodes {
		switch {
		case !hasLabels(n, pod.Spec.NodeSelector):
			rejectors = append(rejectors, nodeAffinity)
		case len(c.running[n.Name]) >= places:
			rejectors = append(rejectors, nodeResourcesFit)
		default:
			return n.Name, nil
		}
	}
	return "", rejectors
}

// bind puts pod on node, ends its attempt, and tells the queue what others may make of that.
func (c *cluster) bind(pod *v1.Pod, node string) error {
	bound := pod.DeepCopy()
	bound.Spec.NodeName = node
	c.mu.Lock()
	c.running[node] = append(c.running[node], bound)
	c.mu.Unlock()
	c.queue.Bound(pod.UID)
	return c.queue.AssignedPodAdded(bound)
}

// remove ends a running pod.
func (c *cluster) remove(pod *v1.Pod) error {
	c.mu.Lock()
	var gone *v1.Pod
	for node, pods := range c.running {
		if i := slices.IndexFunc(pods, func(p *v1.Pod) bool { return p.UID == pod.UID }); i >= 0 {
			gone = pods[i]
			c.running[node] = slices.Delete(pods, i, i+1)
		}
	}
	c.mu.Unlock()
	if gone == nil {
		return nil
	}
	return c.queue.AssignedPodDeleted(gone)
}

func hasLabels(node *v1.Node, want map[string]string) bool {
	for key, value := range want {
		if node.Labels[key] != value {
			return false
		}
	}
	return true
}
