package scenario_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedq/schedq/sources/scenario"
)

// TestWriteRefusesWhatCannotBeRead: recordings hold objects that no API server takes; of those no scenario is made that
// nobody can play, and the sentence says why.
func TestWriteRefusesWhatCannotBeRead(t *testing.T) {
	pod := func(change func(*v1.Pod)) runtime.Object {
		p := &v1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: "p1", Namespace: "default"},
			Spec: v1.PodSpec{Containers: []v1.Container{{Name: "c"}}}}
		change(p)
		return p
	}
	for says, obj := range map[string]runtime.Object{
		"": pod(func(p *v1.Pod) {
			p.Labels = map[string]string{strings.Repeat("a", 150) + ".example.com/" + strings.Repeat("b", 60): "v"}
		}),
		"metadata.labels":            pod(func(p *v1.Pod) { p.Labels = map[string]string{strings.Repeat("a", 150): "v"} }),
		"a key in it has 1102 bytes": pod(func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{strings.Repeat("a", 1100): "v"} }),
		"not a Kubernetes object name": &schedulingv1.PriorityClass{TypeMeta: metav1.TypeMeta{APIVersion: "scheduling.k8s.io/v1", Kind: "PriorityClass"},
			ObjectMeta: metav1.ObjectMeta{Name: "No Name!"}, Value: 7},
	} {
		s := &scenario.Scenario{Name: "n", Start: time.Date(2026, 1, 5, 10, 0, 0, 0, time.UTC), End: time.Minute,
			PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1, Objects: []runtime.Object{obj}}
		var file bytes.Buffer
		err := scenario.Write(&file, s)
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says) || file.Len() > 0) {
			t.Errorf("want %q, got %v and %d bytes", says, err, file.Len())
		}
	}
}
