package live

import (
	"fmt"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// replica is a pod as a template makes them, of the Job owner, on a node of its own.
func replica(i int, owner, cpu string) *corev1.Pod {
	controls := true
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("p-%d", i), Labels: map[string]string{"app": "web", "tier": "b"},
			OwnerReferences: []metav1.OwnerReference{{Kind: "Job", Name: owner, UID: types.UID(owner), Controller: &controls}}},
		Spec: corev1.PodSpec{NodeName: fmt.Sprintf("n-%d", i), Containers: []corev1.Container{{Name: "c",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: apiresource.MustParse(cpu)}}}}},
	}
}

// TestShare: equal parts of pods, of one controller or of several, share memory. Different parts don't, and no pod changes.
func TestShare(t *testing.T) {
	s := newSiblings()
	var shared []*corev1.Pod
	for i, of := range []struct{ owner, cpu string }{{"a", "500m"}, {"a", "500m"}, {"b", "500m"}, {"b", "1"}} {
		pod := replica(i, of.owner, of.cpu)
		s.Share(pod)
		shared = append(shared, pod)
		if want := replica(i, of.owner, of.cpu); !reflect.DeepEqual(pod.ObjectMeta, want.ObjectMeta) || pod.Spec.NodeName != want.Spec.NodeName ||
			!pod.Spec.Containers[0].Resources.Requests.Cpu().Equal(*want.Spec.Containers[0].Resources.Requests.Cpu()) {
			t.Errorf("%s is %v, want %v", want.Name, pod, want)
		}
	}
	same := func(a, b int) string {
		x, y := shared[a], shared[b]
		return fmt.Sprintf("spec %v, labels %v, owners %v", &x.Spec.Containers[0] == &y.Spec.Containers[0],
			reflect.ValueOf(x.Labels).Pointer() == reflect.ValueOf(y.Labels).Pointer(), &x.OwnerReferences[0] == &y.OwnerReferences[0])
	}
	for _, test := range []struct {
		a, b int
		want string
	}{
		{0, 1, "spec true, labels true, owners true"},
		{0, 2, "spec true, labels true, owners false"},
		{2, 3, "spec false, labels true, owners true"},
	} {
		if got := same(test.a, test.b); got != test.want {
			t.Errorf("%d and %d share %s, want %s", test.a, test.b, got, test.want)
		}
	}
}
