package timeline

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestDevicesAreGivenBack: what the model's scheduler reserved for a pod that was seen bound, it reserves no more: the device is
// free when its claim is gone.
func TestDevicesAreGivenBack(t *testing.T) {
	var w world.Cluster
	world.Happens(&w, 1, sources.Added, world.Node("node-a", "4"), nil)
	class := &resourcev1.DeviceClass{}
	class.Name = "gpu"
	world.Happens(&w, 1, sources.Added, class, nil)
	node := "node-a"
	slice := &resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{Driver: "gpu.example.com", NodeName: &node,
		Pool:    resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1},
		Devices: []resourcev1.Device{{Name: "gpu-0"}}}}
	slice.Name = "node-a-gpus"
	world.Happens(&w, 1, sources.Added, slice, nil)
	claimFor := func(seconds float64, name string) (*resourcev1.ResourceClaim, *v1.Pod) {
		claim := &resourcev1.ResourceClaim{}
		claim.Namespace, claim.Name, claim.UID = "default", name, types.UID("claim-"+name)
		claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "one", Exactly: &resourcev1.ExactDeviceRequest{
			DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1}}}
		pod := world.Wants(name, "100m")
		pod.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "gpu", ResourceClaimName: &name}}
		pod.Spec.Containers[0].Resources.Claims = []v1.ResourceClaim{{Name: "gpu"}}
		return world.Happens(&w, seconds, sources.Added, claim, nil), world.Happens(&w, seconds+0.1, sources.Added, pod, nil)
	}
	claim, first := claimFor(2, "first")
	claim = world.Happens(&w, 2.11, sources.Updated, claim, func(c *resourcev1.ResourceClaim) {
		c.Finalizers = []string{resourcev1.Finalizer}
		c.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: first.Name, UID: first.UID}}
		c.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
			{Request: "one", Driver: "gpu.example.com", Pool: node, Device: "gpu-0"}}}}
	})
	first = w.Bound(2.12, first, node)
	_, second := claimFor(5, "second") // which has to wait
	second = w.Patched(5.11, second, "0/1 nodes are available: 1 cannot allocate all claims. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.", "")
	world.Happens(&w, 10, sources.Deleted, first, nil)
	world.Happens(&w, 10.1, sources.Deleted, claim, nil)
	w.Bound(10.6, second, node)
	var moves []string
	err := Replay(t.Context(), w.Recording(20), Options{}, func(m *board.Transition) error {
		if m.Pod.Key.Name == "second" {
			moves = append(moves, m.Pod.Tier.String())
		}
		return nil
	})
	if got, want := strings.Join(moves, " "), "active inflight unschedulable active inflight scheduled"; err != nil || got != want {
		t.Errorf("%v, it goes %s, want %s", err, got, want)
	}
}
