package pluginname

import (
	"testing"

	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// TestUpstream: each name is upstream's.
func TestUpstream(t *testing.T) {
	for ours, upstream := range map[string]string{
		DefaultPreemption:    names.DefaultPreemption,
		DynamicResources:     names.DynamicResources,
		GangScheduling:       names.GangScheduling,
		InterPodAffinity:     names.InterPodAffinity,
		NodeAffinity:         names.NodeAffinity,
		NodeDeclaredFeatures: names.NodeDeclaredFeatures,
		NodeName:             names.NodeName,
		NodePorts:            names.NodePorts,
		NodeResourcesFit:     names.NodeResourcesFit,
		NodeUnschedulable:    names.NodeUnschedulable,
		NodeVolumeLimits:     names.NodeVolumeLimits,
		PodTopologySpread:    names.PodTopologySpread,
		SchedulingGates:      names.SchedulingGates,
		TaintToleration:      names.TaintToleration,
		VolumeBinding:        names.VolumeBinding,
		VolumeRestrictions:   names.VolumeRestrictions,
		VolumeZone:           names.VolumeZone,
	} {
		if ours != upstream {
			t.Errorf("the plugin %s is upstream's %s", ours, upstream)
		}
	}
}
