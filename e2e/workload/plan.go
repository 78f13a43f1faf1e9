// Package workload makes up random doings in a cluster, the same for the same seed, and does them: pods
// that fit and pods that don't, gates, taints, priorities, claims, nodes that come, change and go.
package workload

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Options are what a workload is made of.
type Options struct {
	Seed uint64
	// Nodes are there before the first step.
	Nodes int
	// Steps are done in Duration, at random moments.
	Steps    int
	Duration time.Duration
	// Stuck is how many pods are created before the first step that fit nowhere, whatever the steps do.
	Stuck int
	// Field adds what production has: Jobs whose pods end, volumes that take seconds, crowds of pods that
	// wait for one event, and pods of a second scheduler. What others than the API server's own
	// controllers do to them, PlayOthers does.
	Field bool
	// Devices has some of the field's Jobs want devices. kube-scheduler hands them out from v1.34 on.
	Devices bool
}

// Step is something done to the cluster.
type Step struct {
	At time.Duration // since the first step
	Do Doing
}

// Plan returns the nodes to begin with, and the steps in their order.
func Plan(o Options) ([]*corev1.Node, []Step) {
	p := &planner{random: rand.New(rand.NewPCG(o.Seed, 0))}
	var nodes []*corev1.Node
	for range o.Nodes {
		nodes = append(nodes, p.node())
	}
	var steps []Step
	for i := range o.Stuck {
		steps = append(steps, Step{Do: createPod{p.pod(stuckShapes[i%len(stuckShapes)])}})
	}
	p.pods, p.gated = nil, nil // nothing is to become of these
	var at time.Duration
	for range o.Steps {
		// The time between two events that do not know of each other.
		at += time.Duration(p.random.ExpFloat64() * float64(o.Duration) / float64(o.Steps))
		steps = append(steps, Step{At: min(at, o.Duration), Do: p.step()})
	}
	if o.Field {
		steps = append(steps, planField(o)...)
		inOrder(steps)
	}
	return nodes, steps
}

// planner remembers what it made, to say what becomes of it. Whether that is still there when its turn
// comes, only the cluster knows: what is gone is passed over then.
type planner struct {
	random             *rand.Rand
	pods, gated, nodes []string
	allPods, allNodes  int
	claims             int // c-0 to c-(claims-1) are there
	allVolumes         int
}

// choice is one of several, the more likely the higher its weight.
type choice[T any] struct {
	weight int
	value  T
}

func choose[T any](r *rand.Rand, of []choice[T]) T {
	total := 0
	for _, c := range of {
		total += c.weight
	}
	n := r.IntN(total)
	for _, c := range of {
		if n -= c.weight; n < 0 {
			return c.value
		}
	}
	panic("no weight is above 0")
}

// step returns the next thing to do.
func (p *planner) step() Doing {
	kind := choose(p.random, []choice[string]{
		{48, "create"}, {22, "delete"}, {6, "open gate"}, {3, "label pod"},
		{4, "add node"}, {2, "delete node"}, {4, "cordon"}, {4, "taint"}, {3, "label node"},
		{3, "claim"}, {2, "volume"},
	})
	switch kind {
	case "delete":
		if len(p.pods) > 10 {
			return deletePod{take(p, &p.pods)}
		}
	case "open gate":
		if len(p.gated) > 0 {
			return openGate{take(p, &p.gated)}
		}
	case "label pod":
		if len(p.pods) > 0 {
			return labelPod{p.pods[p.random.IntN(len(p.pods))], fmt.Sprintf("v%d", p.random.IntN(4))}
		}
	case "add node":
		return addNode{p.node()}
	case "delete node":
		if len(p.nodes) > 4 {
			return deleteNode{take(p, &p.nodes)}
		}
	case "cordon":
		return cordon{p.anyNode(), p.random.IntN(3) == 0}
	case "taint":
		return taint{p.anyNode(), p.random.IntN(2) == 0}
	case "label node":
		return labelNode{p.anyNode(), choose(p.random, []choice[string]{{2, "ssd"}, {1, "hdd"}})}
	case "claim":
		p.claims++
		return createClaim{claimName(p.claims - 1), StorageClass}
	case "volume":
		p.allVolumes++
		return createVolume{fmt.Sprintf("v-%d", p.allVolumes-1)}
	}
	return createPod{p.pod(choose(p.random, podShapes))}
}

// take removes one of names and returns it.
func take(p *planner, names *[]string) string {
	i := p.random.IntN(len(*names))
	name := (*names)[i]
	*names = append((*names)[:i], (*names)[i+1:]...)
	return name
}

func (p *planner) anyNode() string { return p.nodes[p.random.IntN(len(p.nodes))] }
