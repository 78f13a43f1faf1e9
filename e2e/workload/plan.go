// Package workload generates and runs random changes of a cluster, reproducible by seed: pods that fit and
// pods that don't, gates, taints, priorities, claims, and nodes that are added, changed and deleted.
package workload

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Options configure a workload.
type Options struct {
	Seed uint64
	// Nodes is the number of nodes before the first step.
	Nodes int
	// Steps is the number of steps, at random times within Duration.
	Steps    int
	Duration time.Duration
	// Stuck is the number of permanently unschedulable pods, created before the first step.
	Stuck int
	// Field adds what production clusters have: Jobs that finish, slow volumes, crowds of pods that wait
	// for one event, and pods of a second scheduler. PlayOthers runs the components that they need.
	Field bool
	// Devices adds devices to some of the Jobs. kube-scheduler allocates them from v1.34 on.
	Devices bool
}

// Step is an action at a time.
type Step struct {
	At time.Duration // since the first step
	Do Action
}

// Plan returns the initial nodes, and the steps in order.
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
	p.pods, p.gated = nil, nil // later steps leave these alone
	var at time.Duration
	for range o.Steps {
		// The interval of independent events.
		at += time.Duration(p.random.ExpFloat64() * float64(o.Duration) / float64(o.Steps))
		steps = append(steps, Step{At: min(at, o.Duration), Do: p.step()})
	}
	if o.Field {
		steps = append(steps, planField(o)...)
		inOrder(steps)
	}
	return nodes, steps
}

// planner remembers the objects of earlier steps for later ones. The runner skips steps whose object no
// longer exists.
type planner struct {
	random             *rand.Rand
	pods, gated, nodes []string
	allPods, allNodes  int
	claims             int // c-0 to c-(claims-1) exist
	allVolumes         int
}

// choice is a weighted alternative.
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

// step returns the next action.
func (p *planner) step() Action {
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
