package cycle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	v1helper "k8s.io/kubernetes/pkg/apis/core/v1/helper"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/helper"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumezone"
)

// NodeLacks lists why a pod does not fit on a node.
type NodeLacks struct {
	Node string
	// Lacks are the rejections in plugin order, empty if only Everywhere applies.
	Lacks []Lack
	// Never is true if the pod can't run on the node whatever changes there: it is too small even when empty, or the
	// pod or its volume is tied to other nodes.
	Never bool

	excluded bool // by PreFilter; sorted last
}

// Lack is a rejection by one plugin.
type Lack struct {
	Plugin string
	// Reasons are upstream's.
	Reasons []string
	// Final is true if preemption cannot help.
	Final bool
	// Resources are the insufficient resources.
	Resources []Shortage
	// Labels are the node labels that the pod requires and the node lacks: "disk=ssd", "zone in (a,b)". If the pod
	// accepts several terms, they are those of the term that the node misses by the fewest.
	Labels []string
	// Taints are those that the pod does not tolerate.
	Taints []v1.Taint
	// Pods are some of the running pods that conflict with the pod: through an anti-affinity or a host port. They are
	// only set for the nearest nodes.
	Pods []*v1.Pod
	// Volumes are the pod's volumes that the node can't reach. They are only set for the nearest nodes.
	Volumes []*v1.PersistentVolume

	fixed bool // one of Labels says what or where the node is
}

// nearestFirst sorts nodes by how much would have to change for the pod to fit, then by name.
func nearestFirst(nodes []NodeLacks) {
	changes := make(map[string]float64, len(nodes))
	for i := range nodes {
		n := &nodes[i]
		for _, l := range n.Lacks {
			n.Never = n.Never || l.never()
			changes[n.Node] += l.changes()
			if l.Plugin == names.NodeUnschedulable && slices.ContainsFunc(n.Lacks, Lack.cordoned) {
				changes[n.Node]-- // uncordoning removes the taint, too
			}
		}
	}
	slices.SortFunc(nodes, func(a, b NodeLacks) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(changes[a.Node], changes[b.Node]), strings.Compare(a.Node, b.Node))
	})
}

// rank orders nodes that may fit before nodes that are too small, and these before nodes to which the pod is not tied.
func (n NodeLacks) rank() int {
	switch {
	case n.excluded:
		return 2
	case n.Never:
		return 1
	}
	return 0
}

// never reports whether no change of the node helps.
func (l Lack) never() bool {
	return slices.ContainsFunc(l.Resources, func(r Shortage) bool { return r.Final }) ||
		slices.Contains(l.Reasons, string(volumebinding.ErrReasonNodeConflict)) || slices.Contains(l.Reasons, volumezone.ErrReasonConflict) ||
		l.Plugin == names.NodeName || l.fixed
}

// cordoned reports whether one of the taints is that of a cordoned node.
func (l Lack) cordoned() bool {
	return slices.ContainsFunc(l.Taints, func(t v1.Taint) bool { return t.Key == v1.TaintNodeUnschedulable })
}

// changes returns how much would have to change for the plugin to accept the node: 1 for each label, taint or other
// rejection, and for an insufficient resource 1 and the missing share of the request.
func (l Lack) changes() float64 {
	if n := len(l.Labels) + len(l.Taints); n > 0 {
		return float64(n)
	}
	if len(l.Resources) == 0 {
		return 1
	}
	total := 0.0
	for _, r := range l.Resources {
		total += 1 + r.share()
	}
	return total
}

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

// untoleratedTaints returns the taints of node for which TaintToleration rejects pod.
func untoleratedTaints(pod *v1.Pod, node *v1.Node, l Lack) []v1.Taint {
	if l.Plugin != names.TaintToleration {
		return nil
	}
	comparison := utilfeature.DefaultFeatureGate.Enabled(features.TaintTolerationComparisonOperators)
	var found []v1.Taint
	for _, taint := range node.Spec.Taints {
		tolerated := slices.ContainsFunc(pod.Spec.Tolerations, func(t v1.Toleration) bool {
			return t.ToleratesTaint(klog.Logger{}, &taint, comparison)
		})
		if taint.Effect != v1.TaintEffectPreferNoSchedule && !tolerated {
			found = append(found, taint)
		}
	}
	return found
}

// FixedLabel reports whether a node label with that key says what or where the node is, so that nobody can give it
// another value.
func FixedLabel(key string) bool {
	switch key {
	case v1.LabelHostname, v1.LabelTopologyZone, v1.LabelTopologyRegion, v1.LabelFailureDomainBetaZone, v1.LabelFailureDomainBetaRegion,
		v1.LabelOSStable, v1.LabelArchStable, v1.LabelInstanceTypeStable, v1.LabelInstanceType:
		return true
	}
	return false
}

// missingLabels returns the labels for which NodeAffinity rejects pod on node, and whether one of them is fixed.
func missingLabels(pod *v1.Pod, node *v1.Node, l Lack) (found []string, fixed bool) {
	if l.Plugin != names.NodeAffinity {
		return nil, false
	}
	for label, want := range pod.Spec.NodeSelector {
		if have, ok := node.Labels[label]; !ok || have != want {
			found, fixed = append(found, label+"="+want), fixed || FixedLabel(label)
		}
	}
	slices.Sort(found)
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return found, fixed
	}
	var least []string
	leastFixed := true
	for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		var missing []string
		missesFixed := false
		for _, e := range term.MatchExpressions {
			only := v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{e}}
			if !matchesTerm(node, only) {
				missing, missesFixed = append(missing, requirement(e)), missesFixed || FixedLabel(e.Key)
			}
		}
		for _, f := range term.MatchFields {
			fields := v1.NodeSelectorTerm{MatchFields: []v1.NodeSelectorRequirement{f}}
			if !matchesTerm(node, fields) {
				return found, fixed // the pod is tied to another node
			}
		}
		if len(missing) == 0 {
			return found, fixed // only the node selector does not match
		}
		if least == nil || leastFixed && !missesFixed || leastFixed == missesFixed && len(missing) < len(least) {
			least, leastFixed = missing, missesFixed
		}
	}
	return append(found, least...), fixed || leastFixed && least != nil
}

func matchesTerm(node *v1.Node, term v1.NodeSelectorTerm) bool {
	selector, err := nodeaffinity.NewNodeSelector(&v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{term}})
	return err == nil && selector.Match(node)
}

// requirement formats a node selector requirement as kubectl formats a label selector.
func requirement(r v1.NodeSelectorRequirement) string {
	values := "(" + strings.Join(r.Values, ",") + ")"
	switch r.Operator {
	case v1.NodeSelectorOpIn:
		if len(r.Values) == 1 {
			return r.Key + "=" + r.Values[0]
		}
		return r.Key + " in " + values
	case v1.NodeSelectorOpNotIn:
		if len(r.Values) == 1 {
			return r.Key + "!=" + r.Values[0]
		}
		return r.Key + " notin " + values
	case v1.NodeSelectorOpExists:
		return r.Key
	case v1.NodeSelectorOpDoesNotExist:
		return "!" + r.Key
	case v1.NodeSelectorOpGt:
		return r.Key + ">" + strings.Join(r.Values, "")
	case v1.NodeSelectorOpLt:
		return r.Key + "<" + strings.Join(r.Values, "")
	}
	return fmt.Sprintf("%s %s %s", r.Key, r.Operator, values)
}

// Spread is a topology spread constraint of a pod, with the matching pods in each domain.
type Spread struct {
	TopologyKey string
	MaxSkew     int32
	// Domains are sorted by pods, then by value.
	Domains []Domain
}

// Domain is the nodes with one value of a topology label.
type Domain struct {
	Value string
	// Pods counts the pods that the constraint selects.
	Pods int
	// Takes is true if the constraint allows one more pod here.
	Takes bool
}

// nearestDetailed limits the nearest nodes whose conflicting pods and volumes are looked up.
const nearestDetailed = 10

// addConflicts adds to d what rejects pod besides its node: other pods, volumes, topology domains.
func (s *Scheduler) addConflicts(pod *v1.Pod, nodes []fwk.NodeInfo, d *Diagnosis) {
	infos := make(map[string]fwk.NodeInfo, len(nodes))
	for _, info := range nodes {
		infos[info.Node().Name] = info
	}
	for i := range d.Rejected[:min(nearestDetailed, len(d.Rejected))] {
		n := &d.Rejected[i]
		for k := range n.Lacks {
			switch l := &n.Lacks[k]; l.Plugin {
			case names.InterPodAffinity:
				l.Pods = s.conflicting(pod, infos[n.Node], nodes, *l)
			case names.NodePorts:
				l.Pods = portUsers(pod, infos[n.Node])
			case names.VolumeBinding, names.VolumeZone:
				l.Volumes = s.boundVolumes(pod)
			}
		}
	}
	if len(d.Everywhere) > 0 {
		s.claims(pod, func(claim *v1.PersistentVolumeClaim) {
			if claim.Spec.VolumeName == "" {
				d.Unbound = append(d.Unbound, claim.Name)
			}
		})
	}
	if slices.ContainsFunc(d.Rejected, func(n NodeLacks) bool {
		return slices.ContainsFunc(n.Lacks, func(l Lack) bool { return l.Plugin == names.PodTopologySpread })
	}) {
		d.Spread = spread(pod, nodes)
	}
}

// conflicting returns the running pods that a required anti-affinity, pod's or theirs, keeps apart from pod on info's
// node. It models satisfyPodAntiAffinity and satisfyExistingPodsAntiAffinity in interpodaffinity/filtering.go.
func (s *Scheduler) conflicting(pod *v1.Pod, info fwk.NodeInfo, nodes []fwk.NodeInfo, l Lack) []*v1.Pod {
	incoming, err := framework.NewPodInfo(pod)
	if err != nil {
		return nil
	}
	node := info.Node()
	sameDomain := func(other fwk.NodeInfo, key string) bool {
		value, ok := node.Labels[key]
		return ok && other.Node().Labels[key] == value
	}
	var found []*v1.Pod
	if slices.Contains(l.Reasons, interpodaffinity.ErrReasonAntiAffinityRulesNotMatch) {
		for _, other := range nodes {
			for _, p := range other.GetPods() {
				if slices.ContainsFunc(incoming.GetRequiredAntiAffinityTerms(), func(t fwk.AffinityTerm) bool {
					return sameDomain(other, t.TopologyKey) && t.Matches(p.GetPod(), s.namespaceLabels(p.GetPod().Namespace))
				}) {
					found = append(found, p.GetPod())
				}
			}
		}
	}
	if slices.Contains(l.Reasons, interpodaffinity.ErrReasonExistingAntiAffinityRulesNotMatch) {
		for _, other := range nodes {
			for _, p := range other.GetPodsWithRequiredAntiAffinity() {
				if slices.ContainsFunc(p.GetRequiredAntiAffinityTerms(), func(t fwk.AffinityTerm) bool {
					return sameDomain(other, t.TopologyKey) && t.Matches(pod, s.namespaceLabels(pod.Namespace))
				}) {
					found = append(found, p.GetPod())
				}
			}
		}
	}
	return found
}

func (s *Scheduler) namespaceLabels(name string) labels.Set {
	if ns, ok := s.watches.get(&v1.Namespace{}, "", name).(*v1.Namespace); ok {
		return ns.Labels
	}
	return nil
}

// portUsers returns the pods on info's node that use a host port of pod.
func portUsers(pod *v1.Pod, info fwk.NodeInfo) []*v1.Pod {
	type port struct {
		protocol v1.Protocol
		number   int32
	}
	ports := func(p *v1.Pod) sets.Set[port] {
		all := sets.New[port]()
		for _, c := range slices.Concat(p.Spec.Containers, p.Spec.InitContainers) {
			for _, cp := range c.Ports {
				if cp.HostPort > 0 {
					all.Insert(port{cmp.Or(cp.Protocol, v1.ProtocolTCP), cp.HostPort})
				}
			}
		}
		return all
	}
	wanted := ports(pod)
	var found []*v1.Pod
	for _, p := range info.GetPods() {
		if ports(p.GetPod()).HasAny(wanted.UnsortedList()...) {
			found = append(found, p.GetPod())
		}
	}
	return found
}

// claims calls each with pod's claims for volumes that exist.
func (s *Scheduler) claims(pod *v1.Pod, each func(*v1.PersistentVolumeClaim)) {
	for _, v := range pod.Spec.Volumes {
		name := ""
		switch {
		case v.PersistentVolumeClaim != nil:
			name = v.PersistentVolumeClaim.ClaimName
		case v.Ephemeral != nil:
			name = pod.Name + "-" + v.Name
		default:
			continue
		}
		if claim, ok := s.watches.get(&v1.PersistentVolumeClaim{}, pod.Namespace, name).(*v1.PersistentVolumeClaim); ok {
			each(claim)
		}
	}
}

// boundVolumes returns the volumes to which the claims of pod are bound.
func (s *Scheduler) boundVolumes(pod *v1.Pod) (found []*v1.PersistentVolume) {
	s.claims(pod, func(claim *v1.PersistentVolumeClaim) {
		if claim.Spec.VolumeName == "" {
			return
		}
		if volume, ok := s.watches.get(&v1.PersistentVolume{}, "", claim.Spec.VolumeName).(*v1.PersistentVolume); ok {
			found = append(found, volume)
		}
	})
	return found
}

// spread counts the matching pods in each domain of pod's own constraints. It models calPreFilterState and Filter in
// podtopologyspread/filtering.go, without the cluster's default constraints, which it leaves out.
func spread(pod *v1.Pod, nodes []fwk.NodeInfo) []Spread {
	affinity := nodeaffinity.GetRequiredNodeAffinity(pod)
	comparison := utilfeature.DefaultFeatureGate.Enabled(features.TaintTolerationComparisonOperators)
	var constraints []v1.TopologySpreadConstraint
	for _, c := range pod.Spec.TopologySpreadConstraints {
		if c.WhenUnsatisfiable == v1.DoNotSchedule {
			constraints = append(constraints, c)
		}
	}
	var all []Spread
	for _, c := range constraints {
		selector, err := metav1.LabelSelectorAsSelector(c.LabelSelector)
		if err != nil {
			continue
		}
		for _, key := range c.MatchLabelKeys {
			if value, ok := pod.Labels[key]; ok {
				if r, err := labels.NewRequirement(key, "=", []string{value}); err == nil {
					selector = selector.Add(*r)
				}
			}
		}
		counts := map[string]int{}
		for _, info := range nodes {
			node := info.Node()
			if slices.ContainsFunc(constraints, func(c v1.TopologySpreadConstraint) bool { _, ok := node.Labels[c.TopologyKey]; return !ok }) {
				continue
			}
			if c.NodeAffinityPolicy == nil || *c.NodeAffinityPolicy == v1.NodeInclusionPolicyHonor {
				if match, _ := affinity.Match(node); !match {
					continue
				}
			}
			if c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == v1.NodeInclusionPolicyHonor {
				if _, tainted := corev1helpers.FindMatchingUntoleratedTaint(klog.Logger{}, node.Spec.Taints, pod.Spec.Tolerations, helper.DoNotScheduleTaintsFilterFunc(), comparison); tainted {
					continue
				}
			}
			n := 0
			for _, p := range info.GetPods() {
				if o := p.GetPod(); o.Namespace == pod.Namespace && o.DeletionTimestamp == nil && selector.Matches(labels.Set(o.Labels)) {
					n++
				}
			}
			counts[node.Labels[c.TopologyKey]] += n
		}
		sp := Spread{TopologyKey: c.TopologyKey, MaxSkew: c.MaxSkew}
		for value, pods := range counts {
			sp.Domains = append(sp.Domains, Domain{Value: value, Pods: pods})
		}
		slices.SortFunc(sp.Domains, func(a, b Domain) int { return cmp.Or(a.Pods-b.Pods, strings.Compare(a.Value, b.Value)) })
		least, own := 0, 0
		if len(sp.Domains) > 0 && (c.MinDomains == nil || int(*c.MinDomains) <= len(sp.Domains)) {
			least = sp.Domains[0].Pods
		}
		if selector.Matches(labels.Set(pod.Labels)) {
			own = 1
		}
		for i := range sp.Domains {
			sp.Domains[i].Takes = sp.Domains[i].Pods+own-least <= int(c.MaxSkew)
		}
		all = append(all, sp)
	}
	return all
}
