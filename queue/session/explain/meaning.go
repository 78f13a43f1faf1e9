package explain

import "k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

// Meaning says what a Score plugin of upstream prefers, as a predicate. It is empty for other plugins.
func (c *Cycle) Meaning(plugin string) string {
	switch plugin {
	case names.NodeResourcesFit:
		switch c.Strategy {
		case "LeastAllocated":
			return "prefers nodes where pods request a smaller share of CPU and memory"
		case "MostAllocated":
			return "prefers nodes where pods request a larger share of CPU and memory"
		}
		return "prefers nodes by the shape of its strategy, " + c.Strategy
	case names.NodeResourcesBalancedAllocation:
		return "prefers nodes where, with the pod, similar shares of CPU and memory are requested"
	case names.ImageLocality:
		return "prefers nodes that have the pod's images"
	case names.TaintToleration:
		return "prefers nodes with fewer untolerated PreferNoSchedule taints"
	case names.NodeAffinity:
		return "prefers nodes that match the pod's preferred node affinity"
	case names.InterPodAffinity:
		return "prefers nodes by the pod affinity of this and of running pods"
	case names.PodTopologySpread:
		return "prefers zones and nodes with fewer matching pods"
	case names.VolumeBinding:
		return "prefers nodes whose free volumes fit the claims closely"
	case names.DynamicResources:
		return "prefers nodes by the devices that they would allocate"
	}
	return ""
}

// Advantage says what a node has for which a Score plugin of upstream gives it more points than another, or fewer if more is false:
// "less of its CPU and memory requested". It is empty for other plugins.
func (c *Cycle) Advantage(plugin string, more bool) string {
	either := func(ifMore, ifFewer string) string {
		if more {
			return ifMore
		}
		return ifFewer
	}
	switch plugin {
	case names.NodeResourcesFit:
		switch c.Strategy {
		case "LeastAllocated":
			return either("less", "more") + " of its CPU and memory requested"
		case "MostAllocated":
			return either("more", "less") + " of its CPU and memory requested"
		}
	case names.NodeResourcesBalancedAllocation:
		return "its requests " + either("better", "less") + " balanced"
	case names.ImageLocality:
		return either("more", "fewer") + " of the pod's images"
	case names.TaintToleration:
		return either("fewer", "more") + " PreferNoSchedule taints"
	case names.NodeAffinity:
		return either("more", "fewer") + " of the preferred labels"
	case names.InterPodAffinity:
		return "preferred " + either("more", "less") + " by pod affinity"
	case names.PodTopologySpread:
		return "spreads the pods " + either("more", "less") + " evenly"
	}
	return ""
}
