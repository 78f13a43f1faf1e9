// Package world builds recordings of small clusters for tests, as from an audit log, with times in seconds
// after a fixed noon; and random recordings.
//
// Only tests import it.
package world

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// Cluster builds recordings of API objects.
type Cluster struct {
	Events  []sources.Event
	Version int
}

// Add adds fact f, seconds after noon.
func (c *Cluster) Add(seconds float64, f sources.Fact) {
	c.Events = append(c.Events, sources.Event{Time: At(seconds), Fact: f})
}

// Change adds a change of an object: of a copy that edit modifies.
func Change[T interface {
	runtime.Object
	metav1.Object
	DeepCopy() T
}](c *Cluster, seconds float64, verb sources.Verb, obj T, edit func(T)) T {
	obj = obj.DeepCopy()
	if edit != nil {
		edit(obj)
	}
	c.Version++
	obj.SetResourceVersion(fmt.Sprint(c.Version))
	c.Add(seconds, &sources.ObjectChange{Verb: verb, Object: obj})
	return obj
}

// Node returns a node with that much CPU and space for 110 pods.
func Node(name, cpu string) *v1.Node {
	capacity := v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu), v1.ResourcePods: resource.MustParse("110")}
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{v1.LabelHostname: name}},
		Status:     v1.NodeStatus{Capacity: capacity, Allocatable: capacity},
	}
}

// PendingPod returns a pending pod that requests that much CPU.
func PendingPod(name, cpu string) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)},
		Spec: v1.PodSpec{SchedulerName: v1.DefaultSchedulerName, Containers: []v1.Container{{
			Name: "c", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu)}},
		}}},
		Status: v1.PodStatus{Phase: v1.PodPending},
	}
}

// Recording returns a recording of the events so far that ends at until, in seconds after noon.
func (c *Cluster) Recording(until float64) *sources.Recording {
	return &sources.Recording{Name: "made", Events: c.Events, End: At(until)}
}

// Failed adds the FailedScheduling event of an attempt that ended at seconds.
func (c *Cluster) Failed(seconds float64, pod *v1.Pod, message string) {
	c.Add(seconds, &sources.FailedAttempt{Pod: Key(pod.Name), UID: pod.UID, Message: sources.SafeText(message)})
}

// Patched adds the scheduler's patch of pod's condition: the change and the StatusPatched fact.
func (c *Cluster) Patched(seconds float64, pod *v1.Pod, message, nominated string) *v1.Pod {
	pod = Change(c, seconds, sources.Updated, pod, func(p *v1.Pod) { Reject(p, message, nominated) })
	c.Add(seconds, &sources.StatusPatched{Pod: Key(pod.Name), UID: pod.UID, Sent: At(seconds - 0.003)})
	return pod
}

// Reject sets the condition of a failed attempt.
func Reject(p *v1.Pod, message, nominated string) {
	p.Status.NominatedNodeName = nominated
	p.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonUnschedulable, Message: message}}
}

// Bound adds the binding of pod.
func (c *Cluster) Bound(seconds float64, pod *v1.Pod, node string) *v1.Pod {
	return Change(c, seconds, sources.Updated, pod, func(p *v1.Pod) { p.Spec.NodeName = node })
}

// SetCPU sets the allocatable CPU of n.
func SetCPU(n *v1.Node, cpu string) { n.Status.Allocatable[v1.ResourceCPU] = resource.MustParse(cpu) }

// TooSmall is a scheduler's message about a pod that requests more CPU than the only node has.
const TooSmall = "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."

// Recorded adds the FailedScheduling event that is the count-th of its pod.
func (c *Cluster) Recorded(seconds float64, pod *v1.Pod, count int) {
	c.Add(seconds, &sources.FailedAttempt{Pod: Key(pod.Name), UID: pod.UID, Message: TooSmall, Recorded: sources.NewRecorded(pod.ResourceVersion, count)})
}

// AddStuck adds a pod whose first attempt fails at once.
func (c *Cluster) AddStuck(seconds float64, name string) *v1.Pod {
	pod := PendingPod(name, "4")
	pod.CreationTimestamp = metav1.NewTime(At(seconds))
	pod = Change(c, seconds, sources.Added, pod, nil)
	c.Recorded(seconds+0.003, pod, 1)
	return c.Patched(seconds+0.01, pod, TooSmall, "")
}

// Small adds node-a, and a small pod on it.
func (c *Cluster) Small() (pod *v1.Pod) {
	Change(c, 1, sources.Added, Node("node-a", "1"), nil)
	return c.AddSmall(1)
}

// AddSmall adds another small pod on node-a.
func (c *Cluster) AddSmall(seconds float64) *v1.Pod {
	return Change(c, seconds, sources.Added, PendingPod(fmt.Sprint("small-", c.Version), "100m"), func(p *v1.Pod) { p.Spec.NodeName = "node-a" })
}

// Delete adds the deletion of a small pod, which wakes pods that need its resources.
func (c *Cluster) Delete(seconds float64, small *v1.Pod) {
	Change(c, seconds, sources.Deleted, small, nil)
}

// Started adds the start of a scheduler with unknown settings.
func (c *Cluster) Started(seconds float64) {
	c.Add(seconds, &sources.SchedulerStarted{PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1})
}

// Noon is the start of all recordings.
var Noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// At returns the time that many seconds after Noon.
func At(seconds float64) time.Time { return Noon.Add(time.Duration(seconds * float64(time.Second))) }

// Key returns the key of a pod in the namespace default.
func Key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "default", Name: name}
}

// PendingClaim returns an unbound claim for a volume of a class.
func PendingClaim(name, class string) *v1.PersistentVolumeClaim {
	return &v1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)},
		Spec: v1.PersistentVolumeClaimSpec{
			StorageClassName: &class, AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
			Resources: v1.VolumeResourceRequirements{Requests: v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}},
		},
		Status: v1.PersistentVolumeClaimStatus{Phase: v1.ClaimPending},
	}
}

// Mount adds the claim's volume to p.
func Mount(p *v1.Pod, claim string) {
	p.Spec.Volumes = []v1.Volume{{Name: "v", VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
}

// WithVictim returns a recording of a pod that preempts another on a full node. A second node has that
// much CPU.
func WithVictim(cpu string) *sources.Recording {
	var c Cluster
	Change(&c, 0, sources.Added, Node("full", "2"), nil)
	Change(&c, 0, sources.Added, Node("other", cpu), nil)
	low := Change(&c, 1, sources.Added, PendingPod("low", "1500m"), func(p *v1.Pod) { p.Spec.NodeName, p.Spec.Priority = "full", new(int32) })
	high := Change(&c, 6, sources.Added, PendingPod("high", "1500m"), func(p *v1.Pod) {
		p.Spec.Priority = new(int32)
		*p.Spec.Priority = 100
	})
	high = c.Patched(6.01, high, "0/2 nodes are available: 2 Insufficient cpu.", "full")
	low = Change(&c, 6.02, sources.Updated, low, func(p *v1.Pod) {
		p.Status.Conditions = []v1.PodCondition{{Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler}}
	})
	Change(&c, 7, sources.Deleted, low, nil)
	c.Bound(7.1, high, "full")
	return c.Recording(20)
}

// ExpectText fails the test unless got is want.
func ExpectText(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
