package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// Placement compares on which nodes two runs bind pods.
type Placement struct {
	// BoundInBoth counts the pods that both runs bind. Moved are those of them on different nodes, by name.
	BoundInBoth int        `json:"boundInBoth"`
	Moved       []MovedPod `json:"moved"`
	// Zones and Nodes count the bindings to each, the largest difference first. Zones are empty if no node has one.
	Zones []BoundCount `json:"zones,omitempty"`
	Nodes []BoundCount `json:"nodes"`
	// Fullest is how full the nodes were when the pods on them requested most CPU, in both runs together. Nil
	// if no pod was on a known node.
	Fullest *Fullest `json:"fullest,omitempty"`
}

// MovedPod is a pod that the two runs bind to different nodes.
type MovedPod struct {
	Pod  sources.SafeText `json:"pod"`
	From sources.SafeText `json:"from"`
	To   sources.SafeText `json:"to"`
}

// BoundCount is how many bindings each run makes to a node or in a zone.
type BoundCount struct {
	Name sources.SafeText `json:"name"`
	From int              `json:"from"`
	To   int              `json:"to"`
}

// Fullest compares the nodes of two runs at one moment. Pods of DaemonSets and static pods, which are on every
// node, do not count as workload.
type Fullest struct {
	Time time.Time `json:"time"`
	// MedianPod is the median request for each resource of the workload pods on nodes in the first run that
	// request it.
	MedianPod []Request `json:"medianPod"`
	From      NodeUse   `json:"from"`
	To        NodeUse   `json:"to"`
}

// Request is how much of a resource is requested.
type Request struct {
	Resource sources.SafeText  `json:"resource"`
	Amount   resource.Quantity `json:"amount"`
}

// NodeUse is how full the nodes are at a moment.
type NodeUse struct {
	// Nodes counts the nodes, Empty those without workload pods.
	Nodes int `json:"nodes"`
	Empty int `json:"empty"`
	// Resources are those that a pod on a node requests: cpu, memory, then the others by name.
	Resources []ResourceUse `json:"resources"`
}

// ResourceUse is how full the nodes that have a resource are.
type ResourceUse struct {
	Resource    sources.SafeText  `json:"resource"`
	Requested   resource.Quantity `json:"requested"`
	Allocatable resource.Quantity `json:"allocatable"`
	// Low and High are the requested shares of an almost empty and an almost full node: at least 80 % of the nodes
	// are between them, and up to 10 nodes all are.
	Low  float64 `json:"lowShare"`
	High float64 `json:"highShare"`
	// Free is the unrequested part of the resource, and Fragmented the part of it on nodes where the median pod
	// does not fit. Taints, cordons and conditions of nodes are ignored.
	Free       resource.Quantity `json:"free"`
	Fragmented resource.Quantity `json:"fragmented"`
}

// Share returns the requested share of the resource.
func (u ResourceUse) Share() float64 { return shareOf(u.Requested, u.Allocatable) }

// shareOf returns used/all. all is above 0.
func shareOf(used, all resource.Quantity) float64 {
	return used.AsApproximateFloat64() / all.AsApproximateFloat64()
}

// placing collects the placement of two runs. The runs are played side by side, but each up to its next
// move, so changes of their objects wait until both runs have reached them.
type placing struct {
	objects [2]cluster.Objects
	pending [2][]sources.Event
	load    load // on the nodes of both
	bound   [2]map[string]int
	nodes   numbers[string]
	zones   map[string]string // by node, also of nodes that were deleted
	// fullest are the objects when load was largest.
	fullest struct {
		at      time.Time
		load    load
		objects [2]cluster.Objects
	}
}

// load is what pods on nodes request.
type load struct {
	cpu  int64 // in thousandths
	pods int
}

func (l load) exceeds(other load) bool {
	return cmp.Or(cmp.Compare(l.cpu, other.cpu), cmp.Compare(l.pods, other.pods)) > 0
}

func newPlacing() *placing {
	p := &placing{zones: map[string]string{}}
	p.nodes.number("", strings.Clone) // so that it is 0
	for by := range p.objects {
		p.objects[by], p.bound[by] = cluster.NewObjects(), map[string]int{}
	}
	return p
}

// change takes a change of a run's objects.
func (p *placing) change(by side, ev sources.Event) {
	switch obj := ev.Fact.(*sources.ObjectChange).Object.(type) {
	case *v1.Pod:
		p.pending[by] = append(p.pending[by], ev)
	case *v1.Node:
		p.pending[by] = append(p.pending[by], ev)
		p.zones[obj.Name] = cmp.Or(obj.Labels[v1.LabelTopologyZone], obj.Labels[v1.LabelFailureDomainBetaZone])
	}
}

// add counts a move of a run and notes the pod's node in o. Neither run has been played further.
func (p *placing) add(by side, t *board.Transition, o *outcome) {
	p.pass(t.Time)
	if t.To == queue.Scheduled && t.From != t.To && t.Pod.Node != "" {
		o.node = p.nodes.number(t.Pod.Node, strings.Clone)
		p.bound[by][p.nodes.values[o.node]]++
	}
}

// pass applies the pending changes up to now, in the order of their times.
func (p *placing) pass(now time.Time) {
	due := func(by side) bool { return len(p.pending[by]) > 0 && !p.pending[by][0].Time.After(now) }
	for due(want) || due(got) {
		by := got
		if !due(got) || due(want) && p.pending[want][0].Time.Before(p.pending[got][0].Time) {
			by = want
		}
		ev := p.pending[by][0]
		p.pending[by] = p.pending[by][1:]
		p.apply(by, ev)
	}
}

func (p *placing) apply(by side, ev sources.Event) {
	change := ev.Fact.(*sources.ObjectChange)
	before := p.objects[by].Get(change.Object)
	p.objects[by].Apply(change)
	if _, is := change.Object.(*v1.Pod); !is {
		return
	}
	was, is := loadOf(before), loadOf(p.objects[by].Get(change.Object))
	p.load.cpu += is.cpu - was.cpu
	p.load.pods += is.pods - was.pods
	if p.load.exceeds(p.fullest.load) {
		p.fullest.at, p.fullest.load = ev.Time, p.load
		for by := range p.objects {
			p.fullest.objects[by] = p.objects[by].Copy()
		}
	}
}

// loadOf returns what obj requests of its node. It is zero unless obj is a pod on a node.
func loadOf(obj runtime.Object) load {
	pod, is := obj.(*v1.Pod)
	if !is || !onNode(pod) {
		return load{}
	}
	requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	return load{cpu: requests.Cpu().MilliValue(), pods: 1}
}

// onNode reports whether pod takes resources of a node.
func onNode(pod *v1.Pod) bool {
	return pod.Spec.NodeName != "" && pod.Status.Phase != v1.PodSucceeded && pod.Status.Phase != v1.PodFailed
}

// isWorkload reports whether pod is neither a DaemonSet's nor static.
func isWorkload(pod *v1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	return owner == nil || owner.Kind != "DaemonSet" && owner.Kind != "Node"
}

// finish returns the result, or nil if neither run binds a pod to a node.
func (p *placing) finish(pods []*comparedPod) *Placement {
	p.pass(time.Unix(1<<40, 0))
	if len(p.bound[want]) == 0 && len(p.bound[got]) == 0 {
		return nil
	}
	made := &Placement{Moved: []MovedPod{}, Fullest: p.atFullest()}
	for _, pod := range pods {
		one, other := pod.outcomes[want].node, pod.outcomes[got].node
		if one == 0 || other == 0 {
			continue
		}
		made.BoundInBoth++
		if one != other {
			made.Moved = append(made.Moved, MovedPod{
				sources.Sanitize(pod.name.String()), sources.Sanitize(p.nodes.values[one]), sources.Sanitize(p.nodes.values[other]),
			})
		}
	}
	slices.SortFunc(made.Moved, func(a, b MovedPod) int { return cmp.Compare(a.Pod, b.Pod) })
	made.Nodes = boundCounts(p.bound)
	var zones [2]map[string]int
	for by, nodes := range p.bound {
		zones[by] = map[string]int{}
		for node, n := range nodes {
			if zone := p.zones[node]; zone != "" {
				zones[by][zone] += n
			}
		}
	}
	made.Zones = boundCounts(zones)
	return made
}

// boundCounts pairs the counts of two runs by name, the largest difference first.
func boundCounts(runs [2]map[string]int) []BoundCount {
	names := maps.Clone(runs[want])
	maps.Copy(names, runs[got])
	all := make([]BoundCount, 0, len(names))
	for name := range names {
		all = append(all, BoundCount{sources.Sanitize(name), runs[want][name], runs[got][name]})
	}
	slices.SortFunc(all, func(a, b BoundCount) int {
		return cmp.Or(-cmp.Compare(max(a.From-a.To, a.To-a.From), max(b.From-b.To, b.To-b.From)), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// atFullest compares the nodes when they were fullest.
func (p *placing) atFullest() *Fullest {
	if p.fullest.at.IsZero() {
		return nil
	}
	f := &Fullest{Time: p.fullest.at.UTC()}
	one, other := usedNodes(p.fullest.objects[want]), usedNodes(p.fullest.objects[got])
	requested := map[v1.ResourceName]bool{}
	samples := map[v1.ResourceName][]resource.Quantity{}
	for _, nodes := range [][]*usedNode{one, other} {
		for _, n := range nodes {
			for name, q := range n.used {
				if !q.IsZero() && name != v1.ResourcePods {
					requested[name] = true
				}
			}
		}
	}
	for _, n := range one {
		for _, pod := range n.workload {
			for name, q := range pod {
				if !q.IsZero() {
					samples[name] = append(samples[name], q)
				}
			}
		}
	}
	if len(one) == 0 && len(other) == 0 {
		return nil // the pods are on unknown nodes
	}
	names := resourceOrder(maps.Keys(requested))
	median := v1.ResourceList{v1.ResourcePods: *resource.NewQuantity(1, resource.DecimalSI)}
	for _, name := range names {
		if all := samples[name]; len(all) > 0 {
			slices.SortFunc(all, func(a, b resource.Quantity) int { return a.Cmp(b) })
			median[name] = all[len(all)/2]
			f.MedianPod = append(f.MedianPod, Request{sources.Sanitize(string(name)), median[name]})
		}
	}
	f.From, f.To = useOf(one, names, median), useOf(other, names, median)
	return f
}

// resourceOrder sorts resources: cpu, memory, then the others by name.
func resourceOrder(names func(yield func(v1.ResourceName) bool)) []v1.ResourceName {
	rank := func(name v1.ResourceName) int {
		return slices.Index([]v1.ResourceName{v1.ResourceMemory, v1.ResourceCPU}, name)
	}
	return slices.SortedFunc(names, func(a, b v1.ResourceName) int {
		return cmp.Or(-cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
}

// usedNode is a node with what its pods request.
type usedNode struct {
	allocatable, used v1.ResourceList
	workload          []v1.ResourceList // the requests of each workload pod
}

// usedNodes returns the nodes among objects.
func usedNodes(objects cluster.Objects) []*usedNode {
	var all []*usedNode
	byName := map[string]*usedNode{}
	objects.Each("Node", func(obj runtime.Object) bool {
		n := obj.(*v1.Node)
		node := &usedNode{allocatable: n.Status.Allocatable, used: v1.ResourceList{}}
		all, byName[n.Name] = append(all, node), node
		return true
	})
	objects.Each("Pod", func(obj runtime.Object) bool {
		pod := obj.(*v1.Pod)
		node := byName[pod.Spec.NodeName]
		if node == nil || !onNode(pod) {
			return true
		}
		requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
		if isWorkload(pod) {
			node.workload = append(node.workload, maps.Clone(requests))
		}
		requests[v1.ResourcePods] = *resource.NewQuantity(1, resource.DecimalSI)
		for name, q := range requests {
			sum := node.used[name]
			sum.Add(q)
			node.used[name] = sum
		}
		return true
	})
	return all
}

// free returns how much of a resource is left, at least 0.
func (n *usedNode) free(name v1.ResourceName) resource.Quantity {
	all := n.allocatable[name]
	free := all.DeepCopy()
	if free.Sub(n.used[name]); free.Sign() < 0 {
		return resource.Quantity{Format: free.Format}
	}
	return free
}

// fits reports whether what is free of the resource suffices for the median pod.
func (n *usedNode) fits(name v1.ResourceName, median v1.ResourceList) bool {
	free := n.free(name)
	return free.Cmp(median[name]) >= 0
}

// useOf sums up nodes.
func useOf(nodes []*usedNode, names []v1.ResourceName, median v1.ResourceList) NodeUse {
	use := NodeUse{Nodes: len(nodes), Resources: []ResourceUse{}}
	for _, n := range nodes {
		if len(n.workload) == 0 {
			use.Empty++
		}
	}
	for _, name := range names {
		r := ResourceUse{Resource: sources.Sanitize(string(name))}
		var shares []float64
		for _, n := range nodes {
			all := n.allocatable[name]
			if all.Sign() <= 0 {
				continue
			}
			free := n.free(name)
			r.Allocatable.Add(all)
			r.Requested.Add(n.used[name])
			r.Free.Add(free)
			if !n.fits(name, median) || !n.fits(v1.ResourceCPU, median) || !n.fits(v1.ResourceMemory, median) || !n.fits(v1.ResourcePods, median) {
				r.Fragmented.Add(free)
			}
			shares = append(shares, shareOf(n.used[name], all))
		}
		if len(shares) == 0 {
			continue // requested only on nodes that do not have it
		}
		slices.Sort(shares)
		last := float64(len(shares) - 1)
		r.Low, r.High = shares[int(math.Floor(last/10))], shares[int(math.Ceil(last*9/10))]
		use.Resources = append(use.Resources, r)
	}
	return use
}

// Row is a line of a comparison in words, with the value in each run.
type Row struct{ Text, From, To string }

// Rows describes the two runs at that moment.
func (f *Fullest) Rows() []Row {
	percent := func(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }
	value := func(u *ResourceUse, text func(*ResourceUse) string) string {
		if u == nil {
			return "–"
		}
		return text(u)
	}
	var rows []Row
	for _, name := range f.names() {
		one, other := f.From.of(name), f.To.of(name)
		add := func(text string, of func(*ResourceUse) string) {
			rows = append(rows, Row{text, value(one, of), value(other, of)})
		}
		add(string(name)+" requested", func(u *ResourceUse) string { return percent(u.Share()) })
		nodes := "  emptiest to fullest node"
		if max(f.From.Nodes, f.To.Nodes) > 10 {
			nodes = "  middle 80 % of the nodes"
		}
		add(nodes, func(u *ResourceUse) string { return fmt.Sprintf("%.0f–%s", 100*u.Low, percent(u.High)) })
		add("  free where the median pod does not fit", func(u *ResourceUse) string {
			return words.Quantity(u.Fragmented) + " of " + words.Quantity(u.Free)
		})
	}
	return append(rows, Row{"nodes without workload pods", strconv.Itoa(f.From.Empty), strconv.Itoa(f.To.Empty)})
}

// names returns the resources of either run, in the order of NodeUse.
func (f *Fullest) names() (names []sources.SafeText) {
	longer, other := f.From.Resources, f.To.Resources
	if len(longer) < len(other) {
		longer, other = other, longer
	}
	for _, u := range append(slices.Clip(longer), other...) {
		if !slices.Contains(names, u.Resource) {
			names = append(names, u.Resource)
		}
	}
	return names
}

// of returns how full the nodes are of a resource, or nil if none has it.
func (n *NodeUse) of(name sources.SafeText) *ResourceUse {
	for i := range n.Resources {
		if n.Resources[i].Resource == name {
			return &n.Resources[i]
		}
	}
	return nil
}

// Median describes the median pod: "500m cpu, 1Gi memory". It is empty if no pod requests anything.
func (f *Fullest) Median() string {
	var parts []string
	for _, r := range f.MedianPod {
		parts = append(parts, words.Quantity(r.Amount)+" "+string(r.Resource))
	}
	return strings.Join(parts, ", ")
}
