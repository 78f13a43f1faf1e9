// Package pluginname has the names of kube-scheduler's in-tree plugins, as k8s.io/kubernetes/pkg/scheduler/framework/plugins/names
// has them. They are here so that who only needs a name does not link the plugins.
package pluginname

// The in-tree plugins of v1.37 that can reject a pod or hold it, and those that are spoken of.
const (
	DefaultPreemption    = "DefaultPreemption"
	DynamicResources     = "DynamicResources"
	GangScheduling       = "GangScheduling"
	InterPodAffinity     = "InterPodAffinity"
	NodeAffinity         = "NodeAffinity"
	NodeDeclaredFeatures = "NodeDeclaredFeatures"
	NodeName             = "NodeName"
	NodePorts            = "NodePorts"
	NodeResourcesFit     = "NodeResourcesFit"
	NodeUnschedulable    = "NodeUnschedulable"
	NodeVolumeLimits     = "NodeVolumeLimits"
	PodTopologySpread    = "PodTopologySpread"
	SchedulingGates      = "SchedulingGates"
	TaintToleration      = "TaintToleration"
	VolumeBinding        = "VolumeBinding"
	VolumeRestrictions   = "VolumeRestrictions"
	VolumeZone           = "VolumeZone"
)
