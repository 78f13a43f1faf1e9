package cycle

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

// wording converts the messages of v1.37's plugins to those of an older release. The scheduler writes a pod's condition
// only if its message changes, so the messages determine the writes.
type wording struct {
	minor int // minor version, such as 33 for v1.33
}

// inUse is VolumeRestrictions' reason, until v1.33, for a node on which another pod uses a ReadWriteOncePod claim
// (volumerestrictions/volume_restrictions.go).
const inUse = "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"

// apply converts the nodes' statuses in fit, before preemption. node returns a node by name, or nil.
func (w wording) apply(fit *framework.FitError, node func(name string) *v1.Node) {
	if w.minor >= 35 {
		return
	}
	fit.Diagnosis.NodeToStatus.ForEachExplicitNode(func(name string, status *fwk.Status) {
		if older := w.olderStatus(fit.Pod, status, func() *v1.Node { return node(name) }); older != status {
			fit.Diagnosis.NodeToStatus.Set(name, older)
		}
	})
}

// olderStatus converts a node's status for pod.
func (w wording) olderStatus(pod *v1.Pod, status *fwk.Status, node func() *v1.Node) *fwk.Status {
	if w.minor >= 35 {
		return status
	}
	older := w.nodeStatus(pod, status, node)
	if older != status {
		older = older.WithPlugin(status.Plugin())
	}
	return older
}

// nodeStatus converts a node's status for pod to that of a release before v1.35.
func (w wording) nodeStatus(pod *v1.Pod, status *fwk.Status, node func() *v1.Node) *fwk.Status {
	switch plugin := status.Plugin(); {
	case plugin == names.TaintToleration: // v1.35 removed the taint from the reason (Filter in tainttoleration/taint_toleration.go)
		if n := node(); n != nil {
			if taint, found := untolerated(n, pod, helper.DoNotScheduleTaintsFilterFunc()); found {
				return fwk.NewStatus(status.Code(), fmt.Sprintf("node(s) had untolerated taint {%s: %s}", taint.Key, taint.Value))
			}
		}
	case w.minor >= 34:
	case plugin == names.NodeResourcesFit && status.Code() == fwk.UnschedulableAndUnresolvable:
		// Before v1.34, preemption was tried even on nodes with too small a capacity (Filter in noderesources/fit.go).
		return fwk.NewStatus(fwk.Unschedulable, status.Reasons()...)
	case plugin == names.VolumeRestrictions && slices.Contains(status.Reasons(), volumerestrictions.ErrReasonReadWriteOncePodConflict):
		return fwk.NewStatus(status.Code(), inUse)
	}
	return status
}

// untolerated returns the first taint of node that filter selects and pod does not tolerate.
func untolerated(node *v1.Node, pod *v1.Pod, filter func(*v1.Taint) bool) (v1.Taint, bool) {
	return corev1helpers.FindMatchingUntoleratedTaint(klog.Logger{}, node.Spec.Taints, pod.Spec.Tolerations, filter, false)
}

// postFilter converts the message of the profile's PostFilter plugins for pod.
func (w wording) postFilter(profile framework.Framework, pod *v1.Pod, status *fwk.Status) string {
	message := status.Message()
	switch {
	case w.minor >= 37:
		return message
	case status.IsSuccess(): // v1.37 added the message about preemption (Preempt in preemption/preemption.go)
		return ""
	case w.minor < 34 || status.Code() != fwk.Unschedulable || strings.Contains(message, " of ResourceClaim completed"):
		return message
	}
	// From v1.34, which enabled DynamicResources by default, to v1.36, the plugin reports its result for every pod, before
	// preemption (PostFilter in dynamicresources/dynamicresources.go). The message contains it only if no plugin helped
	// and none failed (RunPostFilterPlugins in framework/runtime/framework.go).
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
