package verdict

import (
	"testing"

	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodename"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeports"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeunschedulable"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumerestrictions"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumezone"
)

// TestUpstreamReasons: the reasons in upstream's constants have upstream's plugin.
func TestUpstreamReasons(t *testing.T) {
	want := map[string]string{
		nodeaffinity.ErrReasonPod:                                   names.NodeAffinity,
		nodename.ErrReason:                                          names.NodeName,
		nodeports.ErrReason:                                         names.NodePorts,
		nodeunschedulable.ErrReasonUnschedulable:                    names.NodeUnschedulable,
		nodeunschedulable.ErrReasonUnknownCondition:                 names.NodeUnschedulable,
		"node(s) had untolerated taint(s)":                          names.TaintToleration, // no constant upstream
		interpodaffinity.ErrReasonAffinityRulesNotMatch:             names.InterPodAffinity,
		interpodaffinity.ErrReasonAntiAffinityRulesNotMatch:         names.InterPodAffinity,
		interpodaffinity.ErrReasonExistingAntiAffinityRulesNotMatch: names.InterPodAffinity,
		podtopologyspread.ErrReasonConstraintsNotMatch:              names.PodTopologySpread,
		podtopologyspread.ErrReasonNodeLabelNotMatch:                names.PodTopologySpread,
		nodevolumelimits.ErrReasonMaxVolumeCountExceeded:            names.NodeVolumeLimits,
		volumerestrictions.ErrReasonDiskConflict:                    names.VolumeRestrictions,
		volumerestrictions.ErrReasonReadWriteOncePodConflict:        names.VolumeRestrictions,
		volumezone.ErrReasonConflict:                                names.VolumeZone,
		string(volumebinding.ErrReasonBindConflict):                 names.VolumeBinding,
		string(volumebinding.ErrReasonNodeConflict):                 names.VolumeBinding,
		volumebinding.ErrReasonNotEnoughSpace:                       names.VolumeBinding,
		volumebinding.ErrReasonPVNotExist:                           names.VolumeBinding,
		"pod has unbound immediate PersistentVolumeClaims":          names.VolumeBinding, // no constant upstream
		"Too many pods": names.NodeResourcesFit,
	}
	for reason, plugin := range want {
		if got := PluginOf(reason); got != plugin {
			t.Errorf("%q: got %q, want %q", reason, got, plugin)
		}
	}
}
