package framework

import (
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kube-scheduler/framework"
)

// TestAffinityMatches: terms match the pods that they match upstream.
func TestAffinityMatches(t *testing.T) {
	web := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	bad := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Is"}}}
	var terms []v1.PodAffinityTerm
	for _, selector := range []*metav1.LabelSelector{nil, {}, web, bad} {
		for _, of := range []*metav1.LabelSelector{nil, {}, web, bad} {
			for _, names := range [][]string{nil, {"default"}, {"other"}} {
				terms = append(terms, v1.PodAffinityTerm{LabelSelector: selector, NamespaceSelector: of, Namespaces: names})
			}
		}
	}
	for i := range terms {
		for _, namespace := range []string{"default", "other"} {
			for _, app := range []string{"web", "db"} {
				waiting := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default"}, Spec: v1.PodSpec{Affinity: &v1.Affinity{PodAffinity: &v1.PodAffinity{
					RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{terms[i], terms[len(terms)/3]}}}}}
				pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Labels: map[string]string{"app": app}}}
				all, failed := framework.GetAffinityTerms(waiting, framework.GetPodAffinityTerms(waiting.Spec.Affinity))
				want := slices.ContainsFunc(all, func(term framework.AffinityTerm) bool { return term.Matches(pod, nil) })
				if got, err := AffinityMatches(waiting, pod); got != want || (err == nil) != (failed == nil) {
					t.Errorf("term %d matches %s in %s: %v, %v, want %v, %v", i, app, namespace, got, err, want, failed)
				}
			}
		}
	}
	if got, err := AffinityMatches(&v1.Pod{}, &v1.Pod{}); got || err != nil {
		t.Errorf("a pod without affinity: %v, %v", got, err)
	}
}
