package shadow_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/queue/session/world/replayed"
	"github.com/schedq/schedq/sources"
)

// shortBindTimeout sets VolumeBinding's timeout to five seconds.
func shortBindTimeout(cfg *schedulerconfig.Config) {
	for _, p := range cfg.Profiles[0].PluginConfig {
		if args, ok := p.Args.(*schedulerapi.VolumeBindingArgs); ok {
			args.BindTimeoutSeconds = 5
		}
	}
}

// TestVolumeBindTimeout: a pod that waits for its volume is in flight until VolumeBinding's timeout. A
// watch gap hides its binding, but not the timeout.
func TestVolumeBindTimeout(t *testing.T) {
	checkMovesWith(t, shortBindTimeout, []scenario{
		{"no volume: the pod backs off, and others are woken by its freed resources", 2, 11, func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			addPodWithVolume(w)
			addPod(w, 7, "db", "4", nil)
			w.Add(8.01, &sources.Mark{})
			w.Patched(8.2, world.PendingPod("db", "4"), noRoom, "")
			w.Patched(9.5, world.PendingPod("store", "100m"), noRoom, "")
		}, `
			3.001 store active UnscheduledPodAdd
			3.001 store inflight (turn)
			7.001 db active UnscheduledPodAdd
			8.002 other active AssignedPodDelete
			8.002 store backoff ScheduleAttemptFailure
			8.002 other unschedulable (not tried)
			8.196 db inflight (failure)
			8.196 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			9.500 store inflight (behind)
			9.500 store unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
		`},
		{"no volume during a gap in the pods' watch", 2, 11, func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			addPodWithVolume(w)
			addWatchGap(w, sources.PodsWatch, 6, 10)
			w.Add(8.01, &sources.Mark{})
		}, `
			3.001 store active UnscheduledPodAdd
			3.001 store inflight (turn)
			8.002 other active AssignedPodDelete
			8.002 store backoff ScheduleAttemptFailure
			8.002 other inflight (turn)
			8.002 other unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			10.000 store active BackoffComplete
			10.000 store inflight (turn)
		`},
		{"volume bound during a gap in the pods' watch", 2, 11, func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			pod := addPodWithVolume(w)
			addWatchGap(w, sources.PodsWatch, 6, 9)
			world.Change(w, 7, sources.Updated, world.PendingClaim("data", "disk"), func(c *v1.PersistentVolumeClaim) {
				c.Spec.VolumeName, c.Status.Phase = "volume", v1.ClaimBound
			})
			w.Bound(9, pod, "node-a")
		}, `
			3.001 store active UnscheduledPodAdd
			3.001 store inflight (turn)
			9.000 store scheduled node-a (outcome)
			9.001 store deleted
		`},
	})
}

// TestFailedBindingCycle: an Event shows that a binding cycle failed. The pod's resources are free then,
// which wakes others. The loop does not wait for the patch, which the binding cycle sends.
func TestFailedBindingCycle(t *testing.T) {
	bindingError := `running PreBind plugin "VolumeBinding": binding volumes: failed to get node "node-a": node "node-a" not found`
	checkMoves(t, []scenario{
		{"another pod needs the resources, and the loop continues", 2, 3.5, func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			web := addPod(w, 2, "web", "1", nil)
			db := addPod(w, 2.01, "db", "1", rejectedBefore)
			w.Failed(2.05, web, bindingError)
			addPod(w, 2.06, "api", "1", rejectedBefore)
			web = world.Change(w, 2.3, sources.Updated, web, func(p *v1.Pod) { world.Reject(p, bindingError, "") })
			w.Add(2.3, &sources.StatusPatched{Pod: world.Key("web"), UID: web.UID, Sent: world.At(2.051)})
			w.Bound(2.31, db, "node-a")
		}, `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (turn)
			2.011 db active UnscheduledPodAdd
			2.011 db inflight (turn)
			2.012 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.050 other backoff AssignedPodDelete
			2.050 db backoff AssignedPodDelete
			2.050 web backoff ScheduleAttemptFailure
			2.050 other unschedulable (not tried)
			2.050 db inflight (turn)
			2.061 api active UnscheduledPodAdd
			2.061 api inflight (turn)
			2.062 api unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.310 db scheduled node-a (outcome)
			2.311 db deleted
		`},
	})
}

// TestSelectedNode: the selected-node annotation of a claim shows that the scheduler assigned the pod to
// that node, although it does not fit in the model. The pod is in flight until it is bound, or until
// it is deleted and the patch that follows its failed binding cycle is refused.
func TestSelectedNode(t *testing.T) {
	selectNode := func(w *world.Cluster) *v1.Pod {
		addNodes(w, "1", "node-a")
		world.Change(w, 1.6, sources.Added, world.PendingPod("big", "1"), func(p *v1.Pod) { p.Spec.NodeName = "node-a" })
		store := addPodWithVolume(w)
		world.Change(w, 3.05, sources.Updated, world.PendingClaim("data", "disk"), func(c *v1.PersistentVolumeClaim) {
			c.Annotations = map[string]string{"volume.kubernetes.io/selected-node": "node-a"}
		})
		return store
	}
	checkMoves(t, []scenario{
		{"bound", 2, 8, func(w *world.Cluster) { w.Bound(7, selectNode(w), "node-a") }, `
			3.001 store active UnscheduledPodAdd
			3.001 store inflight (turn)
			3.002 store unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			3.050 store inflight (behind)
			7.000 store scheduled node-a (outcome)
			7.001 store deleted
		`},
		{"deleted", 2, 8, func(w *world.Cluster) {
			store := selectNode(w)
			world.Change(w, 5, sources.Deleted, store, nil)
			w.Add(5.2, &sources.Refused{Pod: world.Key("store"), UID: store.UID, Sent: world.At(5.2)})
		}, `
			3.001 store active UnscheduledPodAdd
			3.001 store inflight (turn)
			3.002 store unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			3.050 store inflight (behind)
			5.001 other active AssignedPodDelete
			5.001 other unschedulable (not tried)
			5.200 other active AssignedPodDelete
			5.200 store deleted
			5.200 other unschedulable (not tried)
		`},
	})
}

// gpuCluster returns a cluster whose node has a GPU. attached gives it binding conditions: the GPU is
// attached before its pod is bound, or turns out to be broken.
func gpuCluster(attached bool) *world.Cluster {
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

// allocateGPU allocates the GPU to the pod's claim, as the scheduler does. If claim is nil, it creates
// the claim, as for an extended resource.
func allocateGPU(w *world.Cluster, seconds float64, pod *v1.Pod, claim *resourcev1.ResourceClaim, attaches bool) *resourcev1.ResourceClaim {
	if claim == nil {
		owns := true
		claim = &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name + "-extended-resources-x", UID: "claim",
			Annotations:     map[string]string{resourcev1.ExtendedResourceClaimAnnotation: "true"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: &owns}}}}
		claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{gpuRequest("container-0-request-0")}
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

func gpuRequest(name string) resourcev1.DeviceRequest {
	return resourcev1.DeviceRequest{Name: name, Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1}}
}

// setDeviceCondition makes a condition of the GPU true, as its driver does.
func setDeviceCondition(w *world.Cluster, seconds float64, claim *resourcev1.ResourceClaim, condition string) {
	world.Change(w, seconds, sources.Updated, claim, func(c *resourcev1.ResourceClaim) {
		c.Status.Devices = []resourcev1.AllocatedDeviceStatus{{Driver: "gpu.example.com", Pool: "node-a", Device: "gpu-0",
			Conditions: []metav1.Condition{{Type: condition, Status: metav1.ConditionTrue}}}}
	})
}

// TestDeviceBinding: a pod is in flight until its GPU is ready. If the GPU is broken, the attempt fails
// at the scheduler's next check, which is every 5 s. This holds for a pod with a claim and for a pod
// that requests the GPU as an extended resource.
func TestDeviceBinding(t *testing.T) {
	for _, extended := range []bool{false, true} {
		for _, c := range []struct {
			condition string
			want      string
		}{
			{"", "5.0 active; 5.0 inflight; 5.1 scheduled; 5.1 deleted"},
			{"attached", "5.0 active; 5.0 inflight; 31.0 scheduled; 31.0 deleted"},
			{"broken", "5.0 active; 5.0 inflight; 30.0 backoff"},
		} {
			w := gpuCluster(c.condition != "")
			pod, claim := world.PendingPod("web", "1"), (*resourcev1.ResourceClaim)(nil)
			if extended {
				pod.Spec.Containers[0].Resources.Requests["example.com/gpu"] = resource.MustParse("1")
			} else {
				claim = &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "mine", UID: "claim"}}
				claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{gpuRequest("one")}
				claim = world.Change(w, 2, sources.Added, claim, nil)
				pod.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "gpu", ResourceClaimName: &claim.Name}}
				pod.Spec.Containers[0].Resources.Claims = []v1.ResourceClaim{{Name: "gpu"}}
			}
			other := w.AddStuck(3, "other") // its patch shows that the source contains the scheduler's requests
			pod = world.Change(w, 5, sources.Added, pod, nil)
			claim = allocateGPU(w, 5.01, pod, claim, c.condition != "")
			switch c.condition {
			case "":
				w.Bound(5.06, pod, "node-a")
			case "attached":
				setDeviceCondition(w, 26, claim, c.condition)
				w.Bound(31, pod, "node-a")
			case "broken":
				setDeviceCondition(w, 26, claim, c.condition)
			}
			w.Recorded(60, other, 2)
			f := shadow.NewFeed(w.Recording(62), world.Config(t))
			t.Cleanup(f.Close)
			for i := 0; f.HasEvent(i); i++ {
			}
			if got := feedMoves(f, "web"); !strings.HasPrefix(strings.Join(got, "; "), c.want) {
				t.Errorf("%s, extended %t: moves are %s", c.condition, extended, strings.Join(got, "; "))
			}
		}
	}
}

// TestPodGroups checks a gang of two pods, one of which fits at first. It runs in a process of its own,
// because feature gates are global.
func TestPodGroups(t *testing.T) {
	if os.Getenv("SCHEDQ_POD_GROUPS") == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPodGroups$", "-test.v")
		cmd.Env = append(os.Environ(), "SCHEDQ_POD_GROUPS=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	if _, err := schedulerconfig.SetFeatureGates("GenericWorkload=true"); err != nil {
		t.Fatal(err)
	}
	member := func(p *v1.Pod) {
		name := "train"
		p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &name}
	}
	gang := func(w *world.Cluster, seconds float64) {
		group := &schedulingv1beta1.PodGroup{}
		group.Namespace, group.Name, group.UID = "default", "train", "train"
		group.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: 2}
		world.Change(w, seconds, sources.Added, group, nil)
	}
	existing := func(w *world.Cluster) {
		world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
		addPod(w, 1, "a", "1", member)
		addPod(w, 1, "b", "1", member)
		gang(w, 1)
		w.Started(2)
		world.Change(w, 2.8, sources.Added, world.Node("node-b", "1"), nil)
	}
	checkMoves(t, []scenario{
		{"its pods are created before its PodGroup", 2, 4.5, func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			a, b := addPod(w, 2, "a", "1", member), addPod(w, 2.1, "b", "1", member)
			gang(w, 2.2)
			small := addPod(w, 2.3, "alone", "4", nil)
			w.Patched(2.31, small, noRoom, "")
			world.Change(w, 3.5, sources.Added, world.Node("node-b", "1"), nil)
			w.Bound(4.4, a, "node-a")
			w.Bound(4.401, b, "node-b")
		}, `
			2.001 a incomplete UnscheduledPodAdd
			2.101 b incomplete UnscheduledPodAdd
			2.201 a active UnscheduledPodAdd
			2.201 b active UnscheduledPodAdd
			2.201 a inflight
			2.201 b inflight
			2.202 a pending ScheduleAttemptFailure in 670µs
			2.202 b pending ScheduleAttemptFailure NodeResourcesFit
			2.202 a backoff ScheduleAttemptFailure in 670µs until 3.000
			2.202 b backoff ScheduleAttemptFailure NodeResourcesFit until 3.000
			2.301 alone active UnscheduledPodAdd
			2.306 alone inflight (failure)
			2.306 alone unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			4.000 a active BackoffComplete
			4.000 b active BackoffComplete
			4.000 a inflight
			4.000 b inflight
			4.400 a scheduled node-a (outcome)
			4.401 a deleted
			4.401 b scheduled node-b (outcome)
			4.402 b deleted
		`},
		{"it exists when the scheduler starts", 2, 4.5, existing, `
			2.000 a active UnscheduledPodAdd
			2.000 b active UnscheduledPodAdd
			2.000 a inflight
			2.000 b inflight
			2.001 a pending ScheduleAttemptFailure in 670µs
			2.001 b pending ScheduleAttemptFailure NodeResourcesFit
			2.001 a backoff ScheduleAttemptFailure in 670µs until 3.000
			2.001 b backoff ScheduleAttemptFailure NodeResourcesFit until 3.000
			4.000 a active BackoffComplete
			4.000 b active BackoffComplete
			4.000 a inflight
			4.000 b inflight
		`},
	})
	checkRerun(t, []scenario{{"it exists when the scheduler of a rerun starts", 2, 4.5, existing, `
			2.000 a active UnscheduledPodAdd
			2.000 b active UnscheduledPodAdd
			2.000 a inflight
			2.000 b inflight
			2.001 b: rejected
			2.001 a pending ScheduleAttemptFailure in 670µs
			2.001 b pending ScheduleAttemptFailure NodeResourcesFit
			2.001 a backoff ScheduleAttemptFailure in 670µs until 3.000
			2.001 b backoff ScheduleAttemptFailure NodeResourcesFit until 3.000
			2.006 a: rejected
			4.000 a active BackoffComplete
			4.000 b active BackoffComplete
			4.000 a inflight
			4.000 b inflight
			4.006 a scheduled node-a
			4.006 a: on node-a
			4.006 b scheduled node-b
			4.006 b: on node-b
			4.007 a deleted
			4.007 b deleted
		`}})
}

// addPodWithVolume creates a pod at 3 s whose volume is not provisioned yet.
func addPodWithVolume(c *world.Cluster) *v1.Pod {
	mode, class := storagev1.VolumeBindingWaitForFirstConsumer, "disk"
	world.Change(c, 2, sources.Added, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: "disk.example.com", VolumeBindingMode: &mode}, nil)
	world.Change(c, 2, sources.Added, world.PendingClaim("data", class), nil)
	return world.Change(c, 3, sources.Added, world.PendingPod("store", "100m"), func(p *v1.Pod) {
		p.CreationTimestamp = metav1.NewTime(world.At(3))
		world.Mount(p, "data")
	})
}

// TestSlowVolume: a pod whose volume is provisioned slowly is in flight until it is bound or observed to
// fail.
func TestSlowVolume(t *testing.T) {
	for name, c := range map[string]struct {
		ends func(*world.Cluster, *v1.Pod)
		want []string
	}{
		"bound": {func(c *world.Cluster, pod *v1.Pod) { c.Bound(10, pod, "node-a") },
			[]string{"3" + arrival, "3" + popped, "10 inflight>scheduled observed"}},
		"not provisioned": {func(c *world.Cluster, pod *v1.Pod) { c.Failed(10, pod, "binding volumes: context deadline exceeded") },
			[]string{"3" + arrival, "3" + popped, "10 inflight>backoff ScheduleAttemptFailure modelled"}},
	} {
		t.Run(name, func(t *testing.T) {
			var w world.Cluster
			small := w.Small()
			w.AddStuck(1.5, "other")
			pod := addPodWithVolume(&w)
			w.Delete(5, small) // wakes waiting pods
			c.ends(&w, pod)
			replayed.Compare(t, replayed.Moves(t, w.Recording(10.2), "store"), c.want)
		})
	}
}
