package explain

import (
	"cmp"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/sources"
)

// Cluster is the content of a cluster at one moment. It is never modified, and its methods may be called
// from any goroutine. Their cost grows with the cluster.
type Cluster struct {
	At time.Time
	// Unknown says why the cluster is unknown. Empty if it is known.
	Unknown string

	cfg     *schedulerconfig.Config
	objects cluster.Objects
	queue   *queue.Queue
}

// NewCluster returns the cluster at a moment. Nobody may modify objects and q any more.
func NewCluster(at time.Time, cfg *schedulerconfig.Config, objects cluster.Objects, q *queue.Queue) *Cluster {
	return &Cluster{At: at, cfg: cfg, objects: objects, queue: q}
}

// Node is a node and its usage.
type Node struct {
	Name sources.SafeText
	// Resources are cpu, memory and pods, then the node's other resources by name.
	Resources []NodeResource
	Taints    []sources.SafeText
	// Conditions are the bad ones: "not ready", "DiskPressure".
	Conditions []sources.SafeText
	// Nominated are the pods that are nominated to this node.
	Nominated []sources.SafeText

	pods []*v1.Pod
}

// NodeResource is how much of a resource the pods on a node request, and how much is allocatable.
type NodeResource struct {
	Name              sources.SafeText
	Used, Allocatable resource.Quantity
}

// Free returns the unrequested amount of the resource. It is negative if requests exceed the allocatable amount.
func (r NodeResource) Free() resource.Quantity {
	free := r.Allocatable.DeepCopy()
	free.Sub(r.Used)
	return free
}

// UsedShare returns the used share of the resource, or 1 if none is allocatable.
func (r NodeResource) UsedShare() float64 {
	if all := r.Allocatable.AsApproximateFloat64(); all > 0 {
		return r.Used.AsApproximateFloat64() / all
	}
	return 1
}

// NodePod is a pod on a node.
type NodePod struct {
	Name     sources.SafeText
	Priority int32
	// Requests are its requests, in the order of the node's resources.
	Requests []NodeResource
}

// Nodes returns the nodes of the cluster, by name.
func (c *Cluster) Nodes() []*Node {
	if c.Unknown != "" {
		return nil
	}
	var all []*Node
	byName := map[string]*Node{}
	used := map[string]v1.ResourceList{}
	c.objects.Each("Node", func(obj runtime.Object) bool {
		n := obj.(*v1.Node)
		node := &Node{Name: sources.Sanitize(n.Name), Taints: taintsOf(n), Conditions: conditionsOf(n)}
		all, byName[n.Name], used[n.Name] = append(all, node), node, v1.ResourceList{}
		return true
	})
	c.objects.Each("Pod", func(obj runtime.Object) bool {
		pod := obj.(*v1.Pod)
		if node := byName[pod.Status.NominatedNodeName]; node != nil && pod.Spec.NodeName == "" {
			node.Nominated = append(node.Nominated, sources.Sanitize(pod.Namespace+"/"+pod.Name))
		}
		node := byName[pod.Spec.NodeName]
		if node == nil || pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed {
			return true
		}
		node.pods = append(node.pods, pod)
		addUp(used[pod.Spec.NodeName], requestsOf(pod))
		return true
	})
	c.objects.Each("Node", func(obj runtime.Object) bool {
		n := obj.(*v1.Node)
		byName[n.Name].Resources = nodeResources(used[n.Name], n.Status.Allocatable)
		return true
	})
	return all
}

// requestsOf returns pod's requests on a node, including one of the node's pods.
func requestsOf(pod *v1.Pod) v1.ResourceList {
	requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	requests[v1.ResourcePods] = *resource.NewQuantity(1, resource.DecimalSI)
	return requests
}

// addUp adds requests to used.
func addUp(used, requests v1.ResourceList) {
	for name, q := range requests {
		sum := used[name]
		sum.Add(q)
		used[name] = sum
	}
}

// nodeResources returns the resources that are allocatable or used.
func nodeResources(used, allocatable v1.ResourceList) []NodeResource {
	var all []NodeResource
	add := func(name v1.ResourceName) {
		u, a := used[name], allocatable[name]
		if !u.IsZero() || !a.IsZero() {
			all = append(all, NodeResource{sources.Sanitize(string(name)), u, a})
		}
	}
	first := []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory, v1.ResourcePods}
	for _, name := range first {
		add(name)
	}
	var rest []v1.ResourceName
	for _, list := range []v1.ResourceList{allocatable, used} {
		for name := range list {
			if !slices.Contains(first, name) && !slices.Contains(rest, name) {
				rest = append(rest, name)
			}
		}
	}
	slices.Sort(rest)
	for _, name := range rest {
		add(name)
	}
	return all
}

func taintsOf(n *v1.Node) []sources.SafeText {
	var all []sources.SafeText
	for _, t := range n.Spec.Taints {
		all = append(all, sources.Sanitize(t.ToString()))
	}
	if n.Spec.Unschedulable {
		all = append(all, "cordoned")
	}
	return all
}

// conditionsOf returns the conditions of n that keep pods away: not ready, or under pressure.
func conditionsOf(n *v1.Node) []sources.SafeText {
	var all []sources.SafeText
	for _, c := range n.Status.Conditions {
		switch {
		case c.Type == v1.NodeReady && c.Status != v1.ConditionTrue:
			all = append(all, "not ready")
		case c.Type != v1.NodeReady && c.Status == v1.ConditionTrue:
			all = append(all, sources.Sanitize(string(c.Type)))
		}
	}
	return all
}

// Pods returns up to most pods on the node, highest priority first, and the number of all of them.
func (n *Node) Pods(most int) (pods []NodePod, all int) {
	sorted := slices.Clone(n.pods)
	slices.SortFunc(sorted, func(a, b *v1.Pod) int {
		return cmp.Or(cmp.Compare(priorityOf(b), priorityOf(a)), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	for _, pod := range sorted[:min(most, len(sorted))] {
		pods = append(pods, NodePod{
			Name: sources.Sanitize(pod.Namespace + "/" + pod.Name), Priority: priorityOf(pod), Requests: nodeResources(requestsOf(pod), nil),
		})
	}
	return pods, len(sorted)
}

func priorityOf(pod *v1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}

// Fit returns what the pod lacks on every node: see Needs. It is nil if the pod's object or the cluster
// is unknown.
func (c *Cluster) Fit(key types.NamespacedName) (*Needs, error) {
	if c.Unknown != "" {
		return nil, nil
	}
	pod := c.objects.Pod(key)
	if pod == nil {
		return nil, nil
	}
	sched, err := cycle.New(c.cfg, 0)
	if err != nil {
		return nil, err
	}
	defer sched.Close()
	c.objects.Each("", func(obj runtime.Object) bool {
		_ = sched.Load(obj) // fails for objects that a scheduler does not handle
		return true
	})
	return FindNeeds(sched, c.objects, c.queue, pod, c.At, c.objects.Count("Node"))
}

// Size returns the number of objects, on which the cost of Fit depends.
func (c *Cluster) Size() int {
	if c.Unknown != "" {
		return 0
	}
	return c.objects.Tree.Len()
}

// Names returns up to most names of objects of a kind, as namespace/name unless the namespace is default
// or empty.
func (c *Cluster) Names(kind string, most int) []string {
	if c.Unknown != "" {
		return nil
	}
	var names []string
	c.objects.Names(kind, func(namespace, name string) bool {
		if namespace != "" && namespace != "default" {
			name = namespace + "/" + name
		}
		names = append(names, name)
		return len(names) < most
	})
	return names
}

// NearestFirst sorts nodes by how nearly the pod fits, nodes on which it fits first, and returns what it
// lacks on each: nil where it fits. all is sorted by name.
func (n *Needs) NearestFirst(all []*Node) ([]*Node, []*NodeNeeds) {
	byName := make(map[sources.SafeText]*Node, len(all))
	for _, node := range all {
		byName[node.Name] = node
	}
	var sorted []*Node
	var lacks []*NodeNeeds
	add := func(name sources.SafeText, lack *NodeNeeds) {
		if node := byName[name]; node != nil {
			sorted, lacks = append(sorted, node), append(lacks, lack)
			delete(byName, name)
		}
	}
	for _, name := range n.Fits {
		add(name, nil)
	}
	for i := range n.Nearest {
		add(n.Nearest[i].Node, &n.Nearest[i])
	}
	for _, node := range all { // nodes that are not in n
		if byName[node.Name] != nil {
			add(node.Name, &NodeNeeds{Node: node.Name})
		}
	}
	return sorted, lacks
}
