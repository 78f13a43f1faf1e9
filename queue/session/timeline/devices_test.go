package timeline

import (
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// addDevice adds a node with that device of the class gpu.
func addDevice(w *world.Cluster, device resourcev1.Device) {
	world.Change(w, 1, sources.Added, world.Node("node-a", "4"), nil)
	class := &resourcev1.DeviceClass{}
	class.Name = "gpu"
	world.Change(w, 1, sources.Added, class, nil)
	node := "node-a"
	slice := &resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{Driver: "gpu.example.com", NodeName: &node,
		Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1}, Devices: []resourcev1.Device{device}}}
	slice.Name = "node-a-gpus"
	world.Change(w, 1, sources.Added, slice, nil)
}

// addClaim adds a claim for a device of the class gpu.
func addClaim(w *world.Cluster, seconds float64, name string) *resourcev1.ResourceClaim {
	claim := &resourcev1.ResourceClaim{}
	claim.Namespace, claim.Name, claim.UID = "default", name, types.UID("claim-"+name)
	claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "one", Exactly: &resourcev1.ExactDeviceRequest{
		DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1}}}
	return world.Change(w, seconds, sources.Added, claim, nil)
}

// addPodWithClaim adds a pod with the claim of its name.
func addPodWithClaim(w *world.Cluster, seconds float64, name string) *v1.Pod {
	pod := world.PendingPod(name, "100m")
	pod.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "gpu", ResourceClaimName: &name}}
	pod.Spec.Containers[0].Resources.Claims = []v1.ResourceClaim{{Name: "gpu"}}
	return world.Change(w, seconds, sources.Added, pod, nil)
}

// allocate updates claim as the scheduler does when it allocates the device to pod, with the binding conditions of as.
func allocate(w *world.Cluster, seconds float64, claim *resourcev1.ResourceClaim, pod *v1.Pod, as resourcev1.DeviceRequestAllocationResult) *resourcev1.ResourceClaim {
	as.Request, as.Driver, as.Pool, as.Device = "one", "gpu.example.com", "node-a", "gpu-0"
	return world.Change(w, seconds, sources.Updated, claim, func(c *resourcev1.ResourceClaim) {
		c.Finalizers = []string{resourcev1.Finalizer}
		c.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: pod.Name, UID: pod.UID}}
		c.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{as}}}
		if len(as.BindingConditions) > 0 {
			c.Status.Allocation.AllocationTimestamp = &metav1.Time{Time: world.At(seconds).Truncate(time.Second)}
		}
	})
}

// TestDeviceBindTimeout: a pod whose device is not ready stays in flight until the BindingTimeout of DynamicResources in its
// profile, and then backs off as after an error. A pod whose device has no binding conditions is bound at once; if it was
// not, its attempt failed right after its claim was written.
func TestDeviceBindTimeout(t *testing.T) {
	const attached = "example.com/attached"
	for _, c := range []struct {
		name       string
		conditions []string
		seconds    float64 // the timeout
		ready      float64 // when the device becomes ready, or 0
		bound      float64 // when the pod is bound, or 0
		want       string
	}{
		{"not ready yet", []string{attached}, 600, 0, 0, "active 3.0, inflight 3.0"},
		{"timeout", []string{attached}, 20, 0, 0, "active 3.0, inflight 3.0, backoff 23.0"},
		{"ready", []string{attached}, 600, 25, 28, "active 3.0, inflight 3.0, scheduled 28.0"},
		{"no binding conditions", nil, 600, 0, 0, "active 3.0, inflight 3.0, backoff 3.0, active 5.0"},
	} {
		cfg, err := schedulerconfig.Default()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range cfg.Profiles[0].PluginConfig {
			if args, ok := p.Args.(*schedulerapi.DynamicResourcesArgs); ok {
				args.BindingTimeout = &metav1.Duration{Duration: time.Duration(c.seconds * float64(time.Second))}
			}
		}
		var w world.Cluster
		addDevice(&w, resourcev1.Device{Name: "gpu-0", BindingConditions: c.conditions, BindingFailureConditions: c.conditions})
		w.AddStuck(1.5, "other")
		claim := addClaim(&w, 2, "web")
		web := addPodWithClaim(&w, 3, "web")
		claim = allocate(&w, 3.01, claim, web, resourcev1.DeviceRequestAllocationResult{BindingConditions: c.conditions})
		if c.ready > 0 {
			world.Change(&w, c.ready, sources.Updated, claim, func(claim *resourcev1.ResourceClaim) {
				claim.Status.Devices = []resourcev1.AllocatedDeviceStatus{{Driver: "gpu.example.com", Pool: "node-a", Device: "gpu-0",
					Conditions: []metav1.Condition{{Type: attached, Status: metav1.ConditionTrue}}}}
			})
			w.Bound(c.bound, web, "node-a")
		}
		var moves []string
		err = Replay(t.Context(), w.Recording(30), Options{Scheduler: cfg}, func(m *board.Transition) error {
			if at := m.Time.Sub(world.Noon).Seconds(); m.Pod.Key.Name == "web" && at < 23.5 || m.Pod.Tier.String() == "scheduled" {
				moves = append(moves, fmt.Sprintf("%s %.1f", m.Pod.Tier, at))
			}
			return nil
		})
		if got := strings.Join(moves, ", "); err != nil || got != c.want {
			t.Errorf("%s: %v, %s, want %s", c.name, err, got, c.want)
		}
	}
}

// TestDevicesAreReleased: the model's scheduler releases its reservation for a pod once the pod is bound, so the device is
// free when the claim is deleted.
func TestDevicesAreReleased(t *testing.T) {
	var w world.Cluster
	addDevice(&w, resourcev1.Device{Name: "gpu-0"})
	node := "node-a"
	claimFor := func(seconds float64, name string) (*resourcev1.ResourceClaim, *v1.Pod) {
		claim := addClaim(&w, seconds, name)
		return claim, addPodWithClaim(&w, seconds+0.1, name)
	}
	claim, first := claimFor(2, "first")
	claim = allocate(&w, 2.11, claim, first, resourcev1.DeviceRequestAllocationResult{})
	first = w.Bound(2.12, first, node)
	_, second := claimFor(5, "second") // has to wait
	second = w.Patched(5.11, second, "0/1 nodes are available: 1 cannot allocate all claims. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.", "")
	world.Change(&w, 10, sources.Deleted, first, nil)
	world.Change(&w, 10.1, sources.Deleted, claim, nil)
	w.Bound(10.6, second, node)
	var moves []string
	err := Replay(t.Context(), w.Recording(20), Options{}, func(m *board.Transition) error {
		if m.Pod.Key.Name == "second" {
			moves = append(moves, m.Pod.Tier.String())
		}
		return nil
	})
	if got, want := strings.Join(moves, " "), "active inflight unschedulable active inflight scheduled"; err != nil || got != want {
		t.Errorf("%v, moves to %s, want %s", err, got, want)
	}
}
