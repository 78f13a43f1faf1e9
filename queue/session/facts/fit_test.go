package facts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// This file determines whether a pod fits on a node, independently of kube-scheduler's plugins.

// miss is what keeps a pod off a node.
type miss struct {
	labels    []string // label selectors, of the node selector or the nearest affinity term
	terms     [][]string
	taints    []v1.Taint // other than those of cordons and readiness
	cordoned  bool
	notReady  bool
	short     map[v1.ResourceName]shortage
	ports     []string // the pods that use its host ports
	conflicts []string // the pods that an anti-affinity conflicts with
	noMatch   bool     // no pod matches its pod affinity
	spread    bool
}

type shortage struct{ needs, free, allocatable, lacks resource.Quantity }

func (m *miss) fits() bool {
	return len(m.labels) == 0 && len(m.terms) == 0 && len(m.taints) == 0 && !m.cordoned && !m.notReady && len(m.short) == 0 &&
		len(m.ports) == 0 && len(m.conflicts) == 0 && !m.noMatch && !m.spread
}

func requests(pod *v1.Pod) v1.ResourceList {
	sum, side, most := v1.ResourceList{}, v1.ResourceList{}, v1.ResourceList{}
	plus := func(to v1.ResourceList, more v1.ResourceList) {
		for name, q := range more {
			all := to[name]
			all.Add(q)
			to[name] = all
		}
	}
	for _, c := range pod.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == v1.ContainerRestartPolicyAlways {
			plus(side, c.Resources.Requests)
			continue
		}
		now := maps.Clone(side)
		plus(now, c.Resources.Requests)
		for name, q := range now {
			if have := most[name]; q.Cmp(have) > 0 {
				most[name] = q
			}
		}
	}
	for _, c := range pod.Spec.Containers {
		plus(sum, c.Resources.Requests)
	}
	plus(sum, side)
	for name, q := range most {
		if have := sum[name]; q.Cmp(have) > 0 {
			sum[name] = q
		}
	}
	plus(sum, pod.Spec.Overhead)
	sum[v1.ResourcePods] = resource.MustParse("1")
	return sum
}

func completed(p *v1.Pod) bool {
	return p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed
}

func priority(p *v1.Pod) int32 {
	if p.Spec.Priority == nil {
		return 0
	}
	return *p.Spec.Priority
}

// running returns the pods that are bound to a node and have not completed.
func (w *cluster) running(node string) []*v1.Pod {
	var all []*v1.Pod
	for _, key := range slices.Sorted(maps.Keys(w.pods)) {
		if p := w.pods[key]; p.Spec.NodeName == node && !completed(p) {
			all = append(all, p)
		}
	}
	return all
}

func (w *cluster) free(pod *v1.Pod, node *v1.Node) v1.ResourceList {
	free := node.Status.Allocatable.DeepCopy()
	take := func(p *v1.Pod) {
		for name, q := range requests(p) {
			left := free[name]
			left.Sub(q)
			free[name] = left
		}
	}
	for _, p := range w.pods {
		nominated := p.Spec.NodeName == "" && p.Status.NominatedNodeName == node.Name && p.UID != pod.UID && priority(p) >= priority(pod)
		if (p.Spec.NodeName == node.Name || nominated) && !completed(p) {
			take(p)
		}
	}
	return free
}

func tolerates(pod *v1.Pod, t v1.Taint) bool {
	return slices.ContainsFunc(pod.Spec.Tolerations, func(x v1.Toleration) bool {
		switch {
		case x.Effect != "" && x.Effect != t.Effect, x.Key != "" && x.Key != t.Key, x.Key == "" && x.Operator != v1.TolerationOpExists:
			return false
		}
		return x.Operator == v1.TolerationOpExists || x.Value == t.Value
	})
}

// selects reports whether a node matches a selector in kubectl's syntax.
func selects(node *v1.Node, selector string) bool {
	s, err := labels.Parse(selector)
	return err == nil && s.Matches(labels.Set(node.Labels))
}

func selectorOf(e v1.NodeSelectorRequirement) string {
	values := "(" + strings.Join(e.Values, ",") + ")"
	switch e.Operator {
	case v1.NodeSelectorOpIn:
		if len(e.Values) == 1 {
			return e.Key + "=" + e.Values[0]
		}
		return e.Key + " in " + values
	case v1.NodeSelectorOpNotIn:
		if len(e.Values) == 1 {
			return e.Key + "!=" + e.Values[0]
		}
		return e.Key + " notin " + values
	case v1.NodeSelectorOpExists:
		return e.Key
	case v1.NodeSelectorOpDoesNotExist:
		return "!" + e.Key
	case v1.NodeSelectorOpGt:
		return e.Key + ">" + e.Values[0]
	}
	return e.Key + "<" + e.Values[0]
}

// misses returns what keeps pod off node.
func (w *cluster) misses(pod *v1.Pod, node *v1.Node) *miss {
	m := &miss{short: map[v1.ResourceName]shortage{}, cordoned: node.Spec.Unschedulable}
	for key, value := range pod.Spec.NodeSelector {
		if !selects(node, key+"="+value) {
			m.labels = append(m.labels, key+"="+value)
		}
	}
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			var missing []string
			for _, e := range term.MatchExpressions {
				if !selects(node, selectorOf(e)) {
					missing = append(missing, selectorOf(e))
				}
			}
			for _, e := range term.MatchFields {
				if (e.Operator == v1.NodeSelectorOpIn) != slices.Contains(e.Values, node.Name) {
					missing = append(missing, "metadata.name")
				}
			}
			if len(missing) == 0 && len(term.MatchExpressions)+len(term.MatchFields) > 0 {
				m.terms = nil
				break
			}
			m.terms = append(m.terms, missing)
		}
	}
	for _, t := range node.Spec.Taints {
		switch {
		case t.Effect == v1.TaintEffectPreferNoSchedule || tolerates(pod, t):
		case t.Key == v1.TaintNodeUnschedulable:
			m.cordoned = true
		case t.Key == v1.TaintNodeNotReady || t.Key == v1.TaintNodeUnreachable:
			m.notReady = true
		default:
			m.taints = append(m.taints, t)
		}
	}
	if tolerates(pod, v1.Taint{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule}) {
		m.cordoned = false
	}
	free := w.free(pod, node)
	for name, needs := range requests(pod) {
		left := free[name]
		if !needs.IsZero() && needs.Cmp(left) > 0 {
			lacks := needs.DeepCopy()
			lacks.Sub(left)
			m.short[name] = shortage{needs, left, node.Status.Allocatable[name], lacks}
		}
	}
	wanted := ports(pod)
	for _, p := range w.running(node.Name) {
		if slices.ContainsFunc(ports(p), func(port string) bool { return slices.Contains(wanted, port) }) {
			m.ports = append(m.ports, p.Namespace+"/"+p.Name)
		}
	}
	w.podTerms(pod, node, m)
	m.spread = w.skewed(pod, node)
	return m
}

func ports(p *v1.Pod) []string {
	var all []string
	for _, c := range p.Spec.Containers {
		for _, port := range c.Ports {
			if port.HostPort > 0 {
				all = append(all, fmt.Sprintf("%s %d", firstOf(string(port.Protocol), "TCP"), port.HostPort))
			}
		}
	}
	return all
}

func matches(s *metav1.LabelSelector, p *v1.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && selector.Matches(labels.Set(p.Labels))
}

func termMatches(owner *v1.Pod, t v1.PodAffinityTerm, p *v1.Pod) bool {
	spaces := t.Namespaces
	if len(spaces) == 0 && t.NamespaceSelector == nil {
		spaces = []string{owner.Namespace}
	}
	all := t.NamespaceSelector != nil && len(t.NamespaceSelector.MatchLabels)+len(t.NamespaceSelector.MatchExpressions) == 0
	return (all || slices.Contains(spaces, p.Namespace)) && matches(t.LabelSelector, p)
}

func antiTerms(p *v1.Pod) []v1.PodAffinityTerm {
	if a := p.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		return a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return nil
}

// podTerms adds the effects of affinities and anti-affinities between pods.
func (w *cluster) podTerms(pod *v1.Pod, node *v1.Node, m *miss) {
	for _, key := range slices.Sorted(maps.Keys(w.pods)) {
		p := w.pods[key]
		on := w.nodes[p.Spec.NodeName]
		if on == nil || completed(p) {
			continue
		}
		same := func(topology string) bool {
			value, ok := node.Labels[topology]
			return ok && on.Labels[topology] == value
		}
		conflicts := slices.ContainsFunc(antiTerms(pod), func(t v1.PodAffinityTerm) bool { return same(t.TopologyKey) && termMatches(pod, t, p) }) ||
			slices.ContainsFunc(antiTerms(p), func(t v1.PodAffinityTerm) bool { return same(t.TopologyKey) && termMatches(p, t, pod) })
		if conflicts {
			m.conflicts = append(m.conflicts, key)
		}
	}
	a := pod.Spec.Affinity
	if a == nil || a.PodAffinity == nil {
		return
	}
	terms := a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	matchesAll := func(p *v1.Pod) bool {
		return !slices.ContainsFunc(terms, func(t v1.PodAffinityTerm) bool { return !termMatches(pod, t, p) })
	}
	any := false
	for _, p := range w.pods {
		any = any || w.nodes[p.Spec.NodeName] != nil && !completed(p) && matchesAll(p)
	}
	for _, t := range terms {
		value, ok := node.Labels[t.TopologyKey]
		found := false
		for _, p := range w.pods {
			on := w.nodes[p.Spec.NodeName]
			found = found || on != nil && !completed(p) && on.Labels[t.TopologyKey] == value && matchesAll(p)
		}
		if !ok || !found && (any || !matchesAll(pod)) {
			m.noMatch = true
		}
	}
}

// domains counts the pods that a constraint selects in each domain.
func (w *cluster) domains(pod *v1.Pod, c v1.TopologySpreadConstraint) map[string]int {
	counts := map[string]int{}
	for _, node := range w.nodes {
		value, ok := node.Labels[c.TopologyKey]
		if !ok {
			continue
		}
		if c.NodeAffinityPolicy == nil || *c.NodeAffinityPolicy == v1.NodeInclusionPolicyHonor {
			only := pod.DeepCopy()
			if only.Spec.Affinity != nil {
				only.Spec.Affinity = &v1.Affinity{NodeAffinity: only.Spec.Affinity.NodeAffinity}
			}
			only.Spec.TopologySpreadConstraints = nil
			if m := w.labelsOnly(only, node); len(m.labels)+len(m.terms) > 0 {
				continue
			}
		}
		counts[value] += 0
		for _, p := range w.running(node.Name) {
			if p.Namespace == pod.Namespace && p.DeletionTimestamp == nil && matches(c.LabelSelector, p) {
				counts[value]++
			}
		}
	}
	return counts
}

// labelsOnly is misses for the node selector and the node affinity.
func (w *cluster) labelsOnly(pod *v1.Pod, node *v1.Node) *miss {
	bare := &v1.Pod{}
	bare.Spec.NodeSelector, bare.Spec.Affinity = pod.Spec.NodeSelector, pod.Spec.Affinity
	return (&cluster{}).misses(bare, node)
}

func (w *cluster) skewed(pod *v1.Pod, node *v1.Node) bool {
	for _, c := range pod.Spec.TopologySpreadConstraints {
		if c.WhenUnsatisfiable != v1.DoNotSchedule {
			continue
		}
		value, ok := node.Labels[c.TopologyKey]
		if !ok {
			return true
		}
		counts := w.domains(pod, c)
		if !allows(pod, c, counts, value) {
			return true
		}
	}
	return false
}

func allows(pod *v1.Pod, c v1.TopologySpreadConstraint, counts map[string]int, value string) bool {
	least := 0
	if c.MinDomains == nil || int(*c.MinDomains) <= len(counts) {
		for _, n := range slices.Sorted(maps.Values(counts)) {
			least = n
			break
		}
	}
	own := 0
	if matches(c.LabelSelector, pod) {
		own = 1
	}
	return counts[value]+own-least <= int(c.MaxSkew)
}

func resourceName[T ~string](name T) v1.ResourceName { return v1.ResourceName(name) }
