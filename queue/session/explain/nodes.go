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
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/sources"
)

// Cluster is what a cluster holds at one moment. It is never modified. What its methods work out takes longer the more
// there is, and may be worked out by any goroutine.
type Cluster struct {
	At time.Time
	// Unknown says why nothing else is known. Empty if it is.
	Unknown string

	cfg     *schedulerconfig.Config
	objects cluster.Objects
	queue   *queue.Queue
}

// NewCluster returns what objects and q, which nobody may change any more, hold at a moment.
func NewCluster(at time.Time, cfg *schedulerconfig.Config, objects cluster.Objects, q *queue.Queue) *Cluster {
	return &Cluster{At: at, cfg: cfg, objects: objects, queue: q}
}

// Node is a node, and what of it is taken.
type Node struct {
	Name sources.SafeText
	// Resources are cpu, memory and pods, and then what else the node has or its pods ask for, by name.
	Resources []NodeResource
	Taints    []sources.SafeText
	// Conditions are those that are not as they should be: "not ready", "DiskPressure".
	Conditions []sources.SafeText
	// Nominated are the pods that wait for room here.
	Nominated []sources.SafeText

	pods []*v1.Pod
}

// NodeResource is how much of a resource the pods on a node ask for, and how much there is for pods.
type NodeResource struct {
	Name              sources.SafeText
	Used, Allocatable resource.Quantity
}

// Free is what is left of the resource: less than nothing if more is asked for than there is.
func (r NodeResource) Free() resource.Quantity {
	free := r.Allocatable.DeepCopy()
	free.Sub(r.Used)
	return free
}

// UsedShare is which part of it is taken, 1 if there is none.
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
	// Asks is what it asks for, in the order of the node's resources.
	Asks []NodeResource
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

// requestsOf is what pod asks a node for, the place of a pod included.
func requestsOf(pod *v1.Pod) v1.ResourceList {
	asks := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	asks[v1.ResourcePods] = *resource.NewQuantity(1, resource.DecimalSI)
	return asks
}

// addUp adds asks to used.
func addUp(used, asks v1.ResourceList) {
	for name, q := range asks {
		sum := used[name]
		sum.Add(q)
		used[name] = sum
	}
}

// nodeResources are the resources of which a node has some, or of which some is used.
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

// conditionsOf are the conditions of n that keep pods away: it is not ready, or under pressure.
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

// Pods are the pods on the node, the highest priority first, at most most of them, and how many there are.
func (n *Node) Pods(most int) (pods []NodePod, all int) {
	sorted := slices.Clone(n.pods)
	slices.SortFunc(sorted, func(a, b *v1.Pod) int {
		return cmp.Or(cmp.Compare(priorityOf(b), priorityOf(a)), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	for _, pod := range sorted[:min(most, len(sorted))] {
		pods = append(pods, NodePod{
			Name: sources.Sanitize(pod.Namespace + "/" + pod.Name), Priority: priorityOf(pod), Asks: nodeResources(requestsOf(pod), nil),
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

// Fit is what the pod of that name lacks on every node: see Needs. It is nil if the pod's object is not known, as in a
// cluster that is Unknown.
func (c *Cluster) Fit(key types.NamespacedName) (*Needs, error) {
	if c.Unknown != "" {
		return nil, nil
	}
	pod := c.objects.Pod(key)
	if pod == nil {
		return nil, nil
	}
	return FindNeeds(c.cfg, c.objects, c.queue, pod, c.At, c.objects.Count("Node"))
}

// Size is how many objects there are: of many, Fit takes long. Of a cluster that is Unknown there are none.
func (c *Cluster) Size() int {
	if c.Unknown != "" {
		return 0
	}
	return c.objects.Tree.Len()
}

// Names returns the names of all objects of a kind, as namespace/name if they have a namespace other than default. Of a
// cluster that is Unknown there are none.
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

// NearestFirst returns nodes by how nearly a pod fits, those first on which it does, with what it lacks on each: nil where
// it fits. all are by name.
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
	for _, node := range all { // of which nothing is known
		if byName[node.Name] != nil {
			add(node.Name, &NodeNeeds{Node: node.Name})
		}
	}
	return sorted, lacks
}
