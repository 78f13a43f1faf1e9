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

// Shortage is a resource of which a node has too little left for a pod.
type Shortage struct {
	Resource v1.ResourceName
	// Needs is what the pod requests. Allocatable is what the node has for pods, Free what its pods leave
	// of that, and Lacks is Needs − Free.
	Needs, Allocatable, Free, Lacks apiresource.Quantity
	// Final is true if even the empty node would have too little.
	Final bool
}

// share is the part of what the pod needs that is not there.
func (s Shortage) share() float64 {
	return s.Lacks.AsApproximateFloat64() / s.Needs.AsApproximateFloat64() // of what it needs none of, none is lacking
}

// shortages are the resources of which l, NodeResourcesFit's rejection of info's node, speaks.
func (s *Scheduler) shortages(profile framework.Framework, pod *v1.Pod, info fwk.NodeInfo, l Lack) []Shortage {
	if l.Plugin != names.NodeResourcesFit {
		return nil
	}
	// As fit.go's Filter asks, but for the resources that the plugin is told to ignore: it does not name
	// them among its reasons.
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

// amount is what upstream counts in thousandths for CPU, and in units else, as it is written in a pod.
func amount(name v1.ResourceName, n int64) apiresource.Quantity {
	switch {
	case name == v1.ResourceCPU:
		return *apiresource.NewMilliQuantity(n, apiresource.DecimalSI)
	case name == v1.ResourceMemory || name == v1.ResourceEphemeralStorage || v1helper.IsHugePageResourceName(name):
		return *apiresource.NewQuantity(n, apiresource.BinarySI)
	}
	return *apiresource.NewQuantity(n, apiresource.DecimalSI)
}

// withNominated is info with the pods to which pod gives precedence there.
// (framework/runtime/framework.go, addGENominatedPods.)
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

// details say what upstream's reasons leave out.
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
