package cycle

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	v1helper "k8s.io/kubernetes/pkg/apis/core/v1/helper"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
)

// Shortage is a resource that is insufficient on a node for a pod.
type Shortage struct {
	Resource v1.ResourceName
	// Needs is the pod's request, Allocatable the node's capacity for pods, Free the unused part of that, and Lacks
	// is Needs − Free.
	Needs, Allocatable, Free, Lacks apiresource.Quantity
	// Final is true if the resource would be insufficient on the empty node.
	Final bool
}

// share returns the missing share of the request.
func (s Shortage) share() float64 {
	return s.Lacks.AsApproximateFloat64() / s.Needs.AsApproximateFloat64() // Needs is not 0, or nothing would be lacking
}

// shortages returns the resources of l if that is NodeResourcesFit's rejection of info's node.
func (s *Scheduler) shortages(profile framework.Framework, pod *v1.Pod, info fwk.NodeInfo, l Lack) []Shortage {
	if l.Plugin != names.NodeResourcesFit {
		return nil
	}
	// As Filter in fit.go, except that Filter excludes ignored resources. These are not among its reasons.
	all := noderesources.Fits(pod, s.withNominated(pod, info), profile.SharedDRAManager(), noderesources.ResourceRequestsOptions{
		EnablePodLevelResources:   utilfeature.DefaultFeatureGate.Enabled(features.PodLevelResources),
		EnableDRAExtendedResource: utilfeature.DefaultFeatureGate.Enabled(features.DRAExtendedResource),
	})
	var short []Shortage
	for _, r := range all {
		if !slices.Contains(l.Reasons, r.Reason) {
			continue
		}
		free := r.Capacity - r.Used
		short = append(short, Shortage{
			Resource: r.ResourceName, Needs: amount(r.ResourceName, r.Requested), Allocatable: amount(r.ResourceName, r.Capacity),
			Free: amount(r.ResourceName, free), Lacks: amount(r.ResourceName, r.Requested-free),
			Final: r.Requested > r.Capacity,
		})
	}
	slices.SortFunc(short, func(a, b Shortage) int { return strings.Compare(string(a.Resource), string(b.Resource)) })
	return short
}

// amount converts upstream's amount of a resource, in thousandths for CPU and otherwise in units.
func amount(name v1.ResourceName, n int64) apiresource.Quantity {
	switch {
	case name == v1.ResourceCPU:
		return *apiresource.NewMilliQuantity(n, apiresource.DecimalSI)
	case name == v1.ResourceMemory || name == v1.ResourceEphemeralStorage || v1helper.IsHugePageResourceName(name):
		return *apiresource.NewQuantity(n, apiresource.BinarySI)
	}
	return *apiresource.NewQuantity(n, apiresource.DecimalSI)
}

// withNominated returns info with the nominated pods of the same or a higher priority. It models addGENominatedPods in
// framework/runtime/framework.go.
func (s *Scheduler) withNominated(pod *v1.Pod, info fwk.NodeInfo) fwk.NodeInfo {
	with := info
	for _, p := range (queueAdapter{s}).NominatedPodsForNode(info.Node().Name) {
		if p.GetPod().UID == pod.UID || corev1helpers.PodPriority(p.GetPod()) < corev1helpers.PodPriority(pod) {
			continue
		}
		if with == info {
			with = info.Snapshot()
		}
		with.AddPodInfo(p)
	}
	return with
}

// details returns the taints or labels that upstream's reasons omit.
func details(pod *v1.Pod, node *v1.Node, l Lack) []string {
	var found []string
	switch l.Plugin {
	case names.TaintToleration:
		comparison := utilfeature.DefaultFeatureGate.Enabled(features.TaintTolerationComparisonOperators)
		for _, taint := range node.Spec.Taints {
			tolerated := slices.ContainsFunc(pod.Spec.Tolerations, func(t v1.Toleration) bool {
				return t.ToleratesTaint(klog.Logger{}, &taint, comparison)
			})
			if taint.Effect != v1.TaintEffectPreferNoSchedule && !tolerated {
				found = append(found, "taint "+taint.ToString())
			}
		}
	case names.NodeAffinity:
		for label, want := range pod.Spec.NodeSelector {
			if have, ok := node.Labels[label]; !ok || have != want {
				found = append(found, "no label "+label+"="+want)
			}
		}
		slices.Sort(found)
	}
	return found
}
