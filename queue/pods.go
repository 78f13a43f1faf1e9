package queue

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/resource"

	fwk "k8s.io/kube-scheduler/framework"
)

// Pods has a queue hear of pods as the event handlers of kube-scheduler v1.37 do (pkg/scheduler/eventhandlers.go), where no
// kube-scheduler runs. What an event means to other pods than its own is left out: hint functions say whom it wakes, and there
// are none, so that a pod stays where it is until the real scheduler is seen to try it. Pod groups are not known.
type Pods struct {
	// Queue hears of the pods. Until it is set, and of what is loaded, it does not.
	Queue    *Queue
	profiles map[string]bool // by scheduler name
	known    map[types.NamespacedName]*v1.Pod
	names    map[types.UID]types.NamespacedName // of those that are known
}

// NewPods returns no pods yet. profiles are the scheduler names of those whose pods are queued.
func NewPods(profiles ...string) *Pods {
	p := &Pods{profiles: map[string]bool{}, known: map[types.NamespacedName]*v1.Pod{}, names: map[types.UID]types.NamespacedName{}}
	for _, name := range profiles {
		p.profiles[name] = true
	}
	return p
}

// Responsible reports whether pod asks for one of the profiles.
func (p *Pods) Responsible(pod *v1.Pod) bool { return p.profiles[pod.Spec.SchedulerName] }

// Get returns the pod of that pod's name, or nil.
func (p *Pods) Get(pod *v1.Pod) *v1.Pod { return p.known[keyOf(pod)] }

// Load takes pod as one that was there before. The queue hears nothing. It fails if another pod has its UID.
func (p *Pods) Load(pod *v1.Pod) error {
	q := p.Queue
	p.Queue = nil
	defer func() { p.Queue = q }()
	return p.Put(time.Time{}, pod)
}

// Put says at now that pod was added or changed. It fails, and pod is left out, if another one has its UID.
func (p *Pods) Put(now time.Time, pod *v1.Pod) error {
	key := keyOf(pod)
	if name, ok := p.names[pod.UID]; ok && name != key {
		return fmt.Errorf("pods %s and %s have the same UID: the second is left out", name, key)
	}
	// Upstream's watch selects pods that are not terminal: others go.
	if pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed {
		p.Remove(now, pod)
		return nil
	}
	old := p.known[key]
	if old != nil && old.UID != pod.UID {
		p.Remove(now, old)
		old = nil
	}
	p.known[key], p.names[pod.UID] = pod, key
	if p.Queue == nil {
		return nil
	}
	switch assigned := pod.Spec.NodeName != ""; {
	case old == nil && !assigned && p.Responsible(pod):
		p.Queue.Add(now, pod)
	case old == nil || old.Spec.NodeName != "" || !p.Responsible(old):
	case assigned:
		p.Queue.Delete(now, old)
	case old.ResourceVersion != pod.ResourceVersion:
		p.Queue.Update(now, old, pod, changes(old, pod))
	}
	return nil
}

// Remove says at now that pod is gone. One that is not known is ignored.
func (p *Pods) Remove(now time.Time, pod *v1.Pod) {
	old := p.Get(pod)
	if old == nil {
		return
	}
	delete(p.known, keyOf(pod))
	delete(p.names, old.UID)
	if p.Queue != nil && old.Spec.NodeName == "" && p.Responsible(old) {
		p.Queue.Delete(now, old)
	}
}

func keyOf(pod *v1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
}

// changes are what the update of a waiting pod means to plugins. (framework/events.go, PodSchedulingPropertiesChange.)
func changes(old, pod *v1.Pod) []fwk.ClusterEvent {
	less, more := requestsChanged(old, pod)
	var all []fwk.ClusterEvent
	for _, c := range []struct {
		is     bool
		action fwk.ActionType
	}{
		{!equality.Semantic.DeepEqual(old.Labels, pod.Labels), fwk.UpdatePodLabel},
		{less, fwk.UpdatePodScaleDown},
		{more, fwk.UpdatePodScaleUp},
		{len(pod.Spec.SchedulingGates) == 0 && len(old.Spec.SchedulingGates) > 0, fwk.UpdatePodSchedulingGatesEliminated},
		{len(old.Spec.Tolerations) != len(pod.Spec.Tolerations), fwk.UpdatePodToleration},
		{!equality.Semantic.DeepEqual(old.Status.ResourceClaimStatuses, pod.Status.ResourceClaimStatuses) ||
			!equality.Semantic.DeepEqual(old.Status.ExtendedResourceClaimStatus, pod.Status.ExtendedResourceClaimStatus), fwk.UpdatePodGeneratedResourceClaim},
	} {
		if c.is {
			all = append(all, fwk.ClusterEvent{Resource: fwk.TargetPod, ActionType: c.action})
		}
	}
	if len(all) == 0 {
		all = append(all, fwk.ClusterEvent{Resource: fwk.TargetPod, ActionType: fwk.Update})
	}
	return all
}

// requestsChanged reports whether pod requests less of a resource than old did, and more of one.
func requestsChanged(old, pod *v1.Pod) (less, more bool) {
	options := resource.PodResourcesOptions{UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true}
	was, is := resource.PodRequests(old, options), resource.PodRequests(pod, options)
	for name, q := range was {
		left, there := is[name]
		less = less || !there || q.MilliValue() > left.MilliValue()
	}
	for name, q := range is {
		had, there := was[name]
		more = more || !there || q.MilliValue() > had.MilliValue()
	}
	return less, more
}
