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

// Plugins that reject pods, named after the real ones.
const (
	nodeAffinity     = "NodeAffinity"
	nodeResourcesFit = "NodeResourcesFit"
)

// cluster replaces a scheduler's cache and informers: it holds the nodes and their pods, and informs the queue of
// changes.
type cluster struct {
	queue   *classic.Queue
	printer *printer

	mu      sync.Mutex
	nodes   []*v1.Node
	running map[string][]*v1.Pod // by node
}

// slots is the number of pods that fit on a node.
const slots = 2

// play changes the cluster every 50 ms.
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
		{"add node-1 with 2 slots", func() error { return c.addNode("node-1", nil) }},
		{"create picky, which needs an SSD", func() error { return c.queue.Add(picky) }},
		{"create web-0", func() error { return c.queue.Add(web0) }},
		{"create web-1", func() error { return c.queue.Add(newPod("web-1", 0)) }},
		{"create web-2", func() error { return c.queue.Add(newPod("web-2", 5)) }},
		{"create gated, with a scheduling gate", func() error { return c.queue.Add(gated) }},
		{"delete web-0", func() error { return c.remove(web0) }},
		{"remove the gate", func() error { return c.queue.Update(gated, newPod("gated", 0)) }},
		{"add node-2 with an SSD and 2 slots", func() error { return c.addNode("node-2", picky.Spec.NodeSelector) }},
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

// find returns a node for pod, or the plugins that rejected it.
func (c *cluster) find(pod *v1.Pod) (node string, rejectors []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.nodes {
		switch {
		case !hasLabels(n, pod.Spec.NodeSelector):
			rejectors = append(rejectors, nodeAffinity)
		case len(c.running[n.Name]) >= slots:
			rejectors = append(rejectors, nodeResourcesFit)
		default:
			return n.Name, nil
		}
	}
	return "", rejectors
}

// bind assigns pod to node, ends its attempt, and makes the move request for an assigned pod.
func (c *cluster) bind(pod *v1.Pod, node string) error {
	bound := pod.DeepCopy()
	bound.Spec.NodeName = node
	c.mu.Lock()
	c.running[node] = append(c.running[node], bound)
	c.mu.Unlock()
	c.queue.Bound(pod.UID)
	return c.queue.AssignedPodAdded(bound)
}

// remove deletes a running pod.
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
