package cycle

// Package wording has the words in which a release says why a pod was not placed, where the plugins that run here have others.

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/helper"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumerestrictions"
)

// Wording is how a release words why a pod was not placed. A pod's condition is written only if its text changes, so the text decides what
// is written.
type Wording struct {
	// Minor is the release's minor version, 33 of v1.33.
	Minor int
}

// inUse is what VolumeRestrictions said up to v1.33 of a node where another pod has a claim that one pod alone may use
// (volumerestrictions/volume_restrictions.go).
const inUse = "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"

// Apply has fit speak of nodes as the release does, before preemption is tried on them. node returns one by its name, or nil.
func (w Wording) Apply(fit *framework.FitError, node func(name string) *v1.Node) {
	if w.Minor >= 35 {
		return
	}
	fit.Diagnosis.NodeToStatus.ForEachExplicitNode(func(name string, status *fwk.Status) {
		if older := w.ofNode(fit.Pod, status, func() *v1.Node { return node(name) }); older != status {
			fit.Diagnosis.NodeToStatus.Set(name, older.WithPlugin(status.Plugin()))
		}
	})
}

// ofNode returns what a release before v1.35 has where status is that of pod on a node here: status itself if that is the same.
func (w Wording) ofNode(pod *v1.Pod, status *fwk.Status, node func() *v1.Node) *fwk.Status {
	switch plugin := status.Plugin(); {
	case plugin == names.TaintToleration: // since v1.35 it only says that there are such taints (tainttoleration/taint_toleration.go, Filter)
		if n := node(); n != nil {
			if taint, found := Untolerated(n, pod, helper.DoNotScheduleTaintsFilterFunc()); found {
				return fwk.NewStatus(status.Code(), fmt.Sprintf("node(s) had untolerated taint {%s: %s}", taint.Key, taint.Value))
			}
		}
	case w.Minor >= 34:
	case plugin == names.NodeResourcesFit && status.Code() == fwk.UnschedulableAndUnresolvable:
		// Since v1.34 no preemption is tried on a node that could never hold what the pod requests (noderesources/fit.go, Filter).
		return fwk.NewStatus(fwk.Unschedulable, status.Reasons()...)
	case plugin == names.VolumeRestrictions && slices.Contains(status.Reasons(), volumerestrictions.ErrReasonReadWriteOncePodConflict):
		return fwk.NewStatus(status.Code(), inUse)
	}
	return status
}

// Untolerated returns the first taint of node among those that keeps which pod does not tolerate.
func Untolerated(node *v1.Node, pod *v1.Pod, keeps func(*v1.Taint) bool) (v1.Taint, bool) {
	return corev1helpers.FindMatchingUntoleratedTaint(klog.Logger{}, node.Spec.Taints, pod.Spec.Tolerations, keeps, false)
}

// PostFilter returns what the PostFilter plugins of profile say of pod where status is theirs here.
func (w Wording) PostFilter(profile framework.Framework, pod *v1.Pod, status *fwk.Status) string {
	message := status.Message()
	switch {
	case w.Minor >= 37:
		return message
	case status.IsSuccess(): // whom it would preempt is told since v1.37 (preemption/preemption.go, Preempt)
		return ""
	case w.Minor < 34 || status.Code() != fwk.Unschedulable || strings.Contains(message, " of ResourceClaim completed"):
		return message
	}
	// From v1.34, where DynamicResources is on by default, to v1.36 it says of every pod what it did about its claims before preemption
	// was tried (dynamicresources/dynamicresources.go, PostFilter). Only where none could help and none failed is that told
	// (framework/runtime/framework.go, RunPostFilterPlugins).
	plugins := profile.ListPlugins().PostFilter.Enabled
	if len(plugins) == 0 || plugins[0].Name != names.DynamicResources {
		return message
	}
	text := "no new claims to deallocate"
	if len(pod.Spec.ResourceClaims) > 0 {
		text = "still not schedulable"
	}
	if message == "" {
		return text
	}
	return text + ", " + message
}
