package session

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// cluster makes recordings of API objects alone.
type cluster struct {
	events  []sources.Event
	version int
}

func (c *cluster) add(seconds float64, f sources.Fact) {
	c.events = append(c.events, sources.Event{Time: at(seconds), Fact: f})
}

// happens has an object changed: a copy of it, by edit.
func happens[T interface {
	runtime.Object
	metav1.Object
	DeepCopy() T
}](c *cluster, seconds float64, verb sources.Verb, obj T, edit func(T)) T {
	obj = obj.DeepCopy()
	if edit != nil {
		edit(obj)
	}
	c.version++
	obj.SetResourceVersion(fmt.Sprint(c.version))
	c.add(seconds, &sources.ObjectChange{Verb: verb, Object: obj})
	return obj
}

func node(name, cpu string) *v1.Node {
	room := v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu), v1.ResourcePods: resource.MustParse("110")}
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{v1.LabelHostname: name}},
		Status:     v1.NodeStatus{Capacity: room, Allocatable: room},
	}
}

func wants(name, cpu string) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)},
		Spec: v1.PodSpec{SchedulerName: v1.DefaultSchedulerName, Containers: []v1.Container{{
			Name: "c", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu)}},
		}}},
		Status: v1.PodStatus{Phase: v1.PodPending},
	}
}

func (c *cluster) recording(until float64) *sources.Recording {
	return &sources.Recording{Name: "made", Events: c.events, End: at(until)}
}

// failed has a FailedScheduling event told of an attempt that ended at seconds.
func (c *cluster) failed(seconds float64, pod *v1.Pod, message string) {
	c.add(seconds, &sources.FailedAttempt{Pod: key(pod.Name), UID: pod.UID, Message: sources.SafeText(message)})
}

// patched has the scheduler write pod's condition. It tells the change, and that it was the scheduler's.
func (c *cluster) patched(seconds float64, pod *v1.Pod, message, nominated string) *v1.Pod {
	pod = happens(c, seconds, sources.Updated, pod, func(p *v1.Pod) { reject(p, message, nominated) })
	c.add(seconds, &sources.StatusPatched{Pod: key(pod.Name), UID: pod.UID, Sent: at(seconds - 0.003)})
	return pod
}

// reject gives p the condition of a failed attempt.
func reject(p *v1.Pod, message, nominated string) {
	p.Status.NominatedNodeName = nominated
	p.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonUnschedulable, Message: message}}
}

// bound has pod bound.
func (c *cluster) bound(seconds float64, pod *v1.Pod, node string) *v1.Pod {
	return happens(c, seconds, sources.Updated, pod, func(p *v1.Pod) { p.Spec.NodeName = node })
}

func cpu(n *v1.Node, cpu string) { n.Status.Allocatable[v1.ResourceCPU] = resource.MustParse(cpu) }

const tooSmall = "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."

// recorded has a FailedScheduling event told that is the count-th of its pod as it is.
func (c *cluster) recorded(seconds float64, pod *v1.Pod, count int) {
	c.add(seconds, &sources.FailedAttempt{Pod: key(pod.Name), UID: pod.UID, Message: tooSmall, Recorded: sources.NewRecorded(pod.ResourceVersion, count)})
}

// stuck adds a pod that is seen to fail at once.
func (c *cluster) stuck(seconds float64, name string) *v1.Pod {
	pod := wants(name, "4")
	pod.CreationTimestamp = metav1.NewTime(at(seconds))
	pod = happens(c, seconds, sources.Added, pod, nil)
	c.recorded(seconds+0.003, pod, 1)
	return c.patched(seconds+0.01, pod, tooSmall, "")
}

// small starts node-a, of which a small pod has a little.
func (c *cluster) small() (pod *v1.Pod) {
	happens(c, 1, sources.Added, node("node-a", "1"), nil)
	return c.another(1)
}

// another binds another small pod.
func (c *cluster) another(seconds float64) *v1.Pod {
	return happens(c, seconds, sources.Added, wants(fmt.Sprint("small-", c.version), "100m"), func(p *v1.Pod) { p.Spec.NodeName = "node-a" })
}

// goes has a small pod deleted. That wakes the others, for which its room is too little.
func (c *cluster) goes(seconds float64, small *v1.Pod) {
	happens(c, seconds, sources.Deleted, small, nil)
}

func (c *cluster) started(seconds float64) {
	c.add(seconds, &sources.SchedulerStarted{PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1})
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// at is a moment after noon.
func at(seconds float64) time.Time { return noon.Add(time.Duration(seconds * float64(time.Second))) }

func key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "default", Name: name}
}

// pendingClaim asks for a volume of a class.
func pendingClaim(name, class string) *v1.PersistentVolumeClaim {
	return &v1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)},
		Spec: v1.PersistentVolumeClaimSpec{
			StorageClassName: &class, AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
			Resources: v1.VolumeResourceRequirements{Requests: v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}},
		},
		Status: v1.PersistentVolumeClaimStatus{Phase: v1.ClaimPending},
	}
}

// mount gives p the claim's volume.
func mount(p *v1.Pod, claim string) {
	p.Spec.Volumes = []v1.Volume{{Name: "v", VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
}

// withVictim is a recording of a pod that preempts another, which has a node that is full. A second node has
// that much room.
func withVictim(room string) *sources.Recording {
	var c cluster
	happens(&c, 0, sources.Added, node("full", "2"), nil)
	happens(&c, 0, sources.Added, node("other", room), nil)
	low := happens(&c, 1, sources.Added, wants("low", "1500m"), func(p *v1.Pod) { p.Spec.NodeName, p.Spec.Priority = "full", new(int32) })
	high := happens(&c, 6, sources.Added, wants("high", "1500m"), func(p *v1.Pod) {
		p.Spec.Priority = new(int32)
		*p.Spec.Priority = 100
	})
	high = c.patched(6.01, high, "0/2 nodes are available: 2 Insufficient cpu.", "full")
	low = happens(&c, 6.02, sources.Updated, low, func(p *v1.Pod) {
		p.Status.Conditions = []v1.PodCondition{{Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler}}
	})
	happens(&c, 7, sources.Deleted, low, nil)
	c.bound(7.1, high, "full")
	return c.recording(20)
}
