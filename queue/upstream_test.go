package queue

import (
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// TestChanges: the update of a waiting pod means to plugins what upstream says.
func TestChanges(t *testing.T) {
	cpu := func(amount string) func(*v1.Pod) {
		return func(p *v1.Pod) {
			p.Spec.Containers = []v1.Container{{Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(amount)}}}}
		}
	}
	kinds := []func(*v1.Pod){nil, cpu("1"), cpu("2"),
		func(p *v1.Pod) { p.Labels = map[string]string{"app": "web"} },
		func(p *v1.Pod) { p.Labels = map[string]string{} },
		func(p *v1.Pod) { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "wait"}} },
		func(p *v1.Pod) { p.Spec.Tolerations = []v1.Toleration{{Key: "gpu"}} },
		func(p *v1.Pod) { p.Status.ResourceClaimStatuses = []v1.PodResourceClaimStatus{{Name: "gpu"}} },
		func(p *v1.Pod) {
			p.Status.ExtendedResourceClaimStatus = &v1.PodExtendedResourceClaimStatus{ResourceClaimName: "gpu"}
		},
	}
	for i, before := range kinds {
		for j, after := range kinds {
			old, pod := waiting("web", "1", before), waiting("web", "2", after)
			if got, want := changes(old, pod), framework.PodSchedulingPropertiesChange(pod, old, true); !slices.Equal(got, want) {
				t.Errorf("%d to %d: %v, want %v", i, j, got, want)
			}
		}
	}
}
