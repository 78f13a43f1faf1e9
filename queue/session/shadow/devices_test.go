package shadow_test

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// gpus is a cluster whose node has a GPU. One that is attached is so before a pod that got it is bound, or is found to be broken.
func gpus(attached bool) *world.Cluster {
	var w world.Cluster
	node, extended := "node-a", "example.com/gpu"
	device := resourcev1.Device{Name: "gpu-0"}
	if attached {
		device.BindingConditions, device.BindingFailureConditions = []string{"attached"}, []string{"broken"}
	}
	w.Started(0)
	world.Change(&w, 1, sources.Added, world.Node(node, "2"), nil)
	world.Change(&w, 1, sources.Added, &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}, Spec: resourcev1.DeviceClassSpec{ExtendedResourceName: &extended}}, nil)
	world.Change(&w, 1, sources.Added, &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "gpus"}, Spec: resourcev1.ResourceSliceSpec{
		Driver: "gpu.example.com", NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1},
		Devices: []resourcev1.Device{device},
	}}, nil)
	return &w
}

// claimed has the scheduler allocate the GPU to a claim of the pod's, which it makes itself if the pod has none.
func claimed(w *world.Cluster, seconds float64, pod *v1.Pod, claim *resourcev1.ResourceClaim, attaches bool) *resourcev1.ResourceClaim {
	if claim == nil {
		owns := true
		claim = &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name + "-extended-resources-x", UID: "claim",
			Annotations:     map[string]string{resourcev1.ExtendedResourceClaimAnnotation: "true"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: &owns}}}}
		claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{aGPU("container-0-request-0")}
		claim = world.Change(w, seconds, sources.Added, claim, nil)
	}
	return world.Change(w, seconds+0.01, sources.Updated, claim, func(c *resourcev1.ResourceClaim) {
		c.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: pod.Name, UID: pod.UID}}
		c.Status.Allocation = &resourcev1.AllocationResult{AllocationTimestamp: &metav1.Time{Time: world.At(seconds)}, Devices: resourcev1.DeviceAllocationResult{
			Results: []resourcev1.DeviceRequestAllocationResult{{Request: c.Spec.Devices.Requests[0].Name, Driver: "gpu.example.com", Pool: "node-a", Device: "gpu-0"}}}}
		if attaches {
			c.Status.Allocation.Devices.Results[0].BindingConditions, c.Status.Allocation.Devices.Results[0].BindingFailureConditions = []string{"attached"}, []string{"broken"}
		}
	})
}

func aGPU(name string) resourcev1.DeviceRequest {
	return resourcev1.DeviceRequest{Name: name, Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1}}
}

// turns has the GPU's driver say that a condition of it is true.
func turns(w *world.Cluster, seconds float64, claim *resourcev1.ResourceClaim, condition string) {
	world.Change(w, seconds, sources.Updated, claim, func(c *resourcev1.ResourceClaim) {
		c.Status.Devices = []resourcev1.AllocatedDeviceStatus{{Driver: "gpu.example.com", Pool: "node-a", Device: "gpu-0",
			Conditions: []metav1.Condition{{Type: condition, Status: metav1.ConditionTrue}}}}
	})
}

// TestWaitsForDevice: a pod that was placed is in flight until it is bound, which is soon where its GPU needs nothing more, or until
// its GPU is attached. If that is found to be broken, the attempt fails
// when the scheduler looks next, which it does every 5 s. So it goes for a pod that has a claim, and for one that asks for the GPU as
// for an extended resource, for which the scheduler makes the claim.
func TestWaitsForDevice(t *testing.T) {
	for _, extended := range []bool{false, true} {
		for _, c := range []struct {
			condition string
			want      string
		}{
			{"", "5.0 active; 5.0 inflight; 5.1 scheduled; 5.1 deleted"},
			{"attached", "5.0 active; 5.0 inflight; 31.0 scheduled; 31.0 deleted"},
			{"broken", "5.0 active; 5.0 inflight; 30.0 backoff"},
		} {
			w := gpus(c.condition != "")
			pod, claim := world.PendingPod("web", "1"), (*resourcev1.ResourceClaim)(nil)
			if extended {
				pod.Spec.Containers[0].Resources.Requests["example.com/gpu"] = resource.MustParse("1")
			} else {
				claim = &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "mine", UID: "claim"}}
				claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{aGPU("one")}
				claim = world.Change(w, 2, sources.Added, claim, nil)
				pod.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "gpu", ResourceClaimName: &claim.Name}}
				pod.Spec.Containers[0].Resources.Claims = []v1.ResourceClaim{{Name: "gpu"}}
			}
			other := w.AddStuck(3, "other") // whose patch says that the scheduler's requests are told
			pod = world.Change(w, 5, sources.Added, pod, nil)
			claim = claimed(w, 5.01, pod, claim, c.condition != "")
			switch c.condition {
			case "":
				w.Bound(5.06, pod, "node-a")
			case "attached":
				turns(w, 26, claim, c.condition)
				w.Bound(31, pod, "node-a")
			case "broken":
				turns(w, 26, claim, c.condition)
			}
			w.Recorded(60, other, 2)
			f := shadow.NewFeed(w.Recording(62), world.Config(t))
			t.Cleanup(f.Close)
			for i := 0; f.HasEvent(i); i++ {
			}
			if got := moves(f, "web"); !strings.HasPrefix(strings.Join(got, "; "), c.want) {
				t.Errorf("%s, extended %t: it goes %s", c.condition, extended, fmt.Sprint(strings.Join(got, "; ")))
			}
		}
	}
}
