package explain

import "k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

// Meaning says what a Score plugin of upstream prefers, as a predicate. It is empty for other plugins.
func (c *Cycle) Meaning(plugin string) string {
	switch plugin {
	case names.NodeResourcesFit:
		switch c.Strategy {
		case "LeastAllocated":
			return "prefers nodes with more free CPU and memory"
		case "MostAllocated":
			return "prefers nodes with less free CPU and memory"
		}
		return "prefers nodes by the shape of its strategy, " + c.Strategy
	case names.NodeResourcesBalancedAllocation:
		return "prefers nodes whose CPU and memory would be used equally"
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
