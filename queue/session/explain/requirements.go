package explain

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/queue/session/board"
)

// Requests returns what p requests of a node, such as "500m cpu". It is empty if the pod's object is unknown.
func Requests(p *board.Pod) []string {
	pod := p.Object()
	if len(pod.Spec.Containers) == 0 {
		return nil
	}
	return requestTexts(pod)
}

func requestTexts(pod *v1.Pod) []string {
	var all []string
	for _, r := range nodeResources(requestsOf(pod), nil) {
		if r.Name != "pods" {
			all = append(all, r.Used.String()+" "+string(r.Name))
		}
	}
	return all
}

// Requirements describes in sentences what p requires of the cluster: requests, where it may run,
// tolerations, claims, gates. It is empty if the pod's object is unknown.
func Requirements(p *board.Pod) []string {
	pod := p.Object()
	if len(pod.Spec.Containers) == 0 {
		return nil
	}
	var all []string
	say := func(what string, parts []string) {
		if len(parts) > 0 {
			all = append(all, what+" "+strings.Join(parts, ", ")+".")
		}
	}
	say("Requests", Requests(p))
	say("Only on nodes with", append(pairs(pod.Spec.NodeSelector), nodeTerms(pod)...))
	say("Other pods:", append(podTerms(pod), spreadTerms(pod)...))
	say("Tolerates", tolerationTexts(pod))
	say("Claims", append(volumeClaims(pod), deviceClaims(pod)...))
	say("Gated by", gateTexts(pod))
	if policy := pod.Spec.PreemptionPolicy; policy != nil && *policy == v1.PreemptNever {
		all = append(all, "Never preempts other pods.")
	}
	if name := pod.Spec.SchedulerName; name != "" && name != v1.DefaultSchedulerName {
		all = append(all, "Scheduler: "+name+".")
	}
	return all
}

// nodeTerms returns the terms of the pod's required node affinity, one of which must hold.
func nodeTerms(pod *v1.Pod) []string {
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	var terms []string
	for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		var parts []string
		for _, e := range slices.Concat(term.MatchExpressions, term.MatchFields) {
			parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Key, e.Operator, strings.Join(e.Values, "|"))))
		}
		terms = append(terms, strings.Join(parts, " and "))
	}
	if len(terms) == 0 {
		return nil
	}
	return []string{strings.Join(terms, ", or ")}
}

// podTerms returns the pod's requirements on other pods.
func podTerms(pod *v1.Pod) []string {
	var terms []string
	add := func(kind string, required []v1.PodAffinityTerm) {
		for _, t := range required {
			terms = append(terms, fmt.Sprintf("%s: %s (per %s)", kind, metav1.FormatLabelSelector(t.LabelSelector), t.TopologyKey))
		}
	}
	if a := pod.Spec.Affinity; a != nil {
		if a.PodAffinity != nil {
			add("affinity", a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
		}
		if a.PodAntiAffinity != nil {
			add("anti-affinity", a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
		}
	}
	return terms
}

// spreadTerms returns the pod's required topology spread.
func spreadTerms(pod *v1.Pod) []string {
	var terms []string
	for _, t := range pod.Spec.TopologySpreadConstraints {
		if t.WhenUnsatisfiable == v1.DoNotSchedule {
			terms = append(terms, fmt.Sprintf("spread per %s (max skew %d)", t.TopologyKey, t.MaxSkew))
		}
	}
	return terms
}

// toleration formats a toleration like a taint.
func toleration(t v1.Toleration) string {
	switch {
	case t.Key == "" && t.Operator == v1.TolerationOpExists:
		return strings.TrimSuffix("all taints:"+string(t.Effect), ":")
	case t.Operator == v1.TolerationOpExists:
		return strings.TrimSuffix(t.Key+":"+string(t.Effect), ":")
	default:
		return strings.TrimSuffix(t.Key+"="+t.Value+":"+string(t.Effect), ":")
	}
}

func tolerationTexts(pod *v1.Pod) []string {
	var all []string
	for _, t := range pod.Spec.Tolerations {
		all = append(all, toleration(t))
	}
	return all
}

func gateTexts(pod *v1.Pod) []string {
	var all []string
	for _, g := range pod.Spec.SchedulingGates {
		all = append(all, g.Name)
	}
	return all
}

func volumeClaims(pod *v1.Pod) []string {
	var claims []string
	for _, v := range pod.Spec.Volumes {
		switch {
		case v.PersistentVolumeClaim != nil:
			claims = append(claims, "volume "+v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil:
			claims = append(claims, "volume "+pod.Name+"-"+v.Name)
		}
	}
	return claims
}

func deviceClaims(pod *v1.Pod) []string {
	var claims []string
	for _, c := range pod.Spec.ResourceClaims {
		claims = append(claims, "device "+c.Name)
	}
	return claims
}
