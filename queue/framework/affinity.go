package framework

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// AffinityMatches reports whether a required pod affinity term of waiting matches pod. The labels of namespaces are not known:
// a namespace selector matches only if it is empty. It fails if a term's selector can't be read, whichever would match.
// (GetAffinityTerms and AffinityTerm.Matches of upstream's types.go.)
func AffinityMatches(waiting, pod *v1.Pod) (bool, error) {
	if waiting.Spec.Affinity == nil || waiting.Spec.Affinity.PodAffinity == nil {
		return false, nil
	}
	matches := false
	for _, term := range waiting.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
		if err != nil {
			return false, err
		}
		namespaces, err := metav1.LabelSelectorAsSelector(term.NamespaceSelector)
		if err != nil {
			return false, err
		}
		named := slices.Contains(term.Namespaces, pod.Namespace)
		if len(term.Namespaces) == 0 && term.NamespaceSelector == nil {
			named = waiting.Namespace == pod.Namespace
		}
		matches = matches || (named || namespaces.Matches(labels.Set(nil))) && selector.Matches(labels.Set(pod.Labels))
	}
	return matches, nil
}
