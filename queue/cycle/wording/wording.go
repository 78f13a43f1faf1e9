// Package wording has the words in which a release says why a pod was not placed, where the plugins that run here have others.
package wording

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/helper"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/tainttoleration"
)

// Wording is how a release words why a pod was not placed. A pod's condition is written only if its text changes, so the text decides what
// is written.
type Wording struct {
	// NamesTaints and TellsOfClaims are the configuration's.
	NamesTaints, TellsOfClaims bool
}

// Apply has fit speak of nodes as the release does. node returns one by its name, or nil.
func (w Wording) Apply(fit *framework.FitError, node func(name string) *v1.Node) {
	if !w.NamesTaints {
		return
	}
	fit.Diagnosis.NodeToStatus.ForEachExplicitNode(func(name string, status *fwk.Status) {
		if status.Plugin() != tainttoleration.Name {
			return
		}
		if n := node(name); n != nil {
			if taint, found := Untolerated(n, fit.Pod, helper.DoNotScheduleTaintsFilterFunc()); found {
				named := fwk.NewStatus(status.Code(), fmt.Sprintf("node(s) had untolerated taint {%s: %s}", taint.Key, taint.Value))
				fit.Diagnosis.NodeToStatus.Set(name, named.WithPlugin(status.Plugin()))
			}
		}
	})
}

// Untolerated returns the first taint of node among those that keeps which pod does not tolerate.
func Untolerated(node *v1.Node, pod *v1.Pod, keeps func(*v1.Taint) bool) (v1.Taint, bool) {
	return corev1helpers.FindMatchingUntoleratedTaint(klog.Logger{}, node.Spec.Taints, pod.Spec.Tolerations, keeps, false)
}

// PostFilter returns what the PostFilter plugins of profile say of pod where status is theirs here. Only one with which none could help
// and none failed has what each of them says (RunPostFilterPlugins).
func (w Wording) PostFilter(profile framework.Framework, pod *v1.Pod, status *fwk.Status) string {
	message := status.Message()
	if !w.TellsOfClaims || status.Code() != fwk.Unschedulable || strings.Contains(message, " of ResourceClaim completed") {
		return message
	}
	plugins := profile.ListPlugins().PostFilter.Enabled
	if len(plugins) == 0 || plugins[0].Name != dynamicresources.Name {
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
