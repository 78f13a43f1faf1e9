package cycle

import (
	"context"
	"sync"

	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/schedq/schedq/queue"
)

// queueAdapter adapts the queue to internalqueue.SchedulingQueue for upstream's event handlers, plugins and failure
// handler. It runs on the Scheduler's goroutine, or on an upstream goroutine that the Scheduler waits for.
type queueAdapter struct{ *Scheduler }

// Add implements SchedulingQueue.
func (a queueAdapter) Add(_ context.Context, pod *v1.Pod) {
	if !a.loading {
		a.queue.Add(a.now, pod)
	}
}

// Update implements SchedulingQueue.
func (a queueAdapter) Update(_ context.Context, oldPod, newPod *v1.Pod) {
	if !a.loading {
		a.queue.Update(a.now, oldPod, newPod, framework.PodSchedulingPropertiesChange(newPod, oldPod, true))
	}
}

// Delete implements SchedulingQueue for a pod that was deleted or bound. Upstream's handler makes the move request for a
// deleted pod; v1.33 and v1.34 also made it for a bound one (deletePodFromSchedulingQueue in eventhandlers.go).
func (a queueAdapter) Delete(_ klog.Logger, pod *v1.Pod) {
	if a.loading {
		return
	}
	a.queue.Delete(a.now, pod)
	if a.queue.Options().Rules.NominationEnd == queue.WakesAlways && pod.Status.NominatedNodeName != "" && a.hasNode(pod) {
		notHigher := func(waiting *v1.Pod) bool {
			return corev1helpers.PodPriority(waiting) <= corev1helpers.PodPriority(pod)
		}
		a.queue.MoveAllToActiveOrBackoffQueue(a.now, framework.EventAssignedPodDelete, pod, nil, notHigher)
	}
}

// hasNode reports whether the scheduler knows pod with a node.
func (a queueAdapter) hasNode(pod *v1.Pod) bool {
	known, ok := a.watches.get(pod, pod.Namespace, pod.Name).(*v1.Pod)
	return ok && known.UID == pod.UID && known.Spec.NodeName != ""
}

// MoveAllToActiveOrBackoffQueue implements SchedulingQueue.
func (a queueAdapter) MoveAllToActiveOrBackoffQueue(_ klog.Logger, event fwk.ClusterEvent, oldObj, newObj any, preCheck internalqueue.PreEnqueueCheck) {
	if a.loading || a.eventsOff {
		return
	}
	// A preCheck for this event means that a nomination ended: upstream checks the waiting pods' priorities.
	if event == framework.EventAssignedPodDelete && preCheck != nil && a.queue.Options().Rules.NominationEnd == queue.WakesNever {
		return
	}
	if node, ok := newObj.(*v1.Node); ok && a.queue.Options().Rules.Waking == queue.ByRegisteredEvents {
		preCheck = a.preCheckForNode(node)
	}
	a.queue.MoveAllToActiveOrBackoffQueue(a.now, event, oldObj, newObj, preCheck)
}

// preCheckForNode models preCheckForNode in pkg/scheduler/eventhandlers.go, v1.22 to v1.31: an added or updated node
// wakes only the pods that it would admit. It returns nil for an unknown node.
func (a queueAdapter) preCheckForNode(node *v1.Node) internalqueue.PreEnqueueCheck {
	info, err := a.upstream.Cache.GetNode(node.Name)
	if err != nil {
		return nil
	}
	noSchedule := func(t *v1.Taint) bool { return t.Effect == v1.TaintEffectNoSchedule }
	return func(pod *v1.Pod) bool {
		if len(scheduler.AdmissionCheck(pod, info, false)) > 0 {
			return false
		}
		_, found := untolerated(node, pod, noSchedule)
		return !found
	}
}

// noActivator is a fwk.PodActivator that does nothing. Only upstream's preemption goroutine activates pods, after an API
// error, which cannot occur here; and that goroutine must not access the queue.
type noActivator struct{}

// Activate implements fwk.PodActivator.
func (noActivator) Activate(klog.Logger, map[string]*v1.Pod) {}

// AddUnschedulablePodIfNotPresent implements SchedulingQueue.
func (a queueAdapter) AddUnschedulablePodIfNotPresent(_ klog.Logger, p *framework.QueuedPodInfo, _ int64) error {
	return a.queue.AddUnschedulableIfNotPresent(a.now, p.Pod, queue.Rejection{
		UnschedulablePlugins: sets.List(p.UnschedulablePlugins),
		PendingPlugins:       sets.List(p.PendingPlugins),
	})
}

// Done implements SchedulingQueue.
func (a queueAdapter) Done(uid types.UID) { a.queue.Done(a.now, uid) }

// SchedulingCycle implements SchedulingQueue.
func (a queueAdapter) SchedulingCycle() int64 { return a.queue.SchedulingCycle() }

// AddNominatedPod implements fwk.PodNominator as nominator.go does: without nominating info, it uses the pod's status.
func (a queueAdapter) AddNominatedPod(_ klog.Logger, p fwk.PodInfo, info *fwk.NominatingInfo) {
	pod := p.GetPod()
	node := pod.Status.NominatedNodeName
	if info.Mode() == fwk.ModeOverride {
		node = info.NominatedNodeName
	}
	// The nomination of a deleted or assigned pod ends.
	if stored, ok := a.watches.get(pod, pod.Namespace, pod.Name).(*v1.Pod); !ok || stored.Spec.NodeName != "" {
		node = ""
	}
	a.queue.AddNominatedPod(pod, node)
}

// DeleteNominatedPodIfExists implements fwk.PodNominator.
func (a queueAdapter) DeleteNominatedPodIfExists(pod *v1.Pod) {
	a.queue.DeleteNominatedPodIfExists(pod)
}

// UpdateNominatedPod implements fwk.PodNominator. It does nothing, because queue.Queue.Update updates nominations.
func (a queueAdapter) UpdateNominatedPod(klog.Logger, *v1.Pod, fwk.PodInfo) {}

// NominatedPodsForNode implements fwk.PodNominator. Upstream calls it for every node in every attempt, in parallel.
func (a queueAdapter) NominatedPodsForNode(node string) []fwk.PodInfo {
	var infos []fwk.PodInfo
	for _, pod := range a.queue.NominatedPodsForNode(node) {
		infos = append(infos, a.nominees.info(pod))
	}
	return infos
}

// nominees caches the PodInfo of nominated pods, which takes longer to create than most plugins take for a node.
type nominees struct {
	mu    sync.Mutex
	infos map[types.UID]*framework.PodInfo
}

// maxNominees limits the cached pods. Beyond it, the cache is cleared.
const maxNominees = 10_000

func (n *nominees) info(pod *v1.Pod) *framework.PodInfo {
	n.mu.Lock()
	defer n.mu.Unlock()
	if info, ok := n.infos[pod.UID]; ok && info.Pod == pod {
		return info
	}
	if n.infos == nil || len(n.infos) >= maxNominees {
		n.infos = map[types.UID]*framework.PodInfo{}
	}
	info, _ := framework.NewPodInfo(pod) // like upstream, ignore invalid affinity terms
	info.CalculateResource()             // caches the result, so that info is immutable afterwards
	n.infos[pod.UID] = info
	return info
}

// AddPodGroup implements SchedulingQueue.
func (a queueAdapter) AddPodGroup(_ klog.Logger, object *schedulingv1beta1.PodGroup) {
	if !a.loading {
		a.queue.AddPodGroup(a.now, object)
	}
}

// UpdatePodGroup implements SchedulingQueue.
func (a queueAdapter) UpdatePodGroup(_ klog.Logger, object *schedulingv1beta1.PodGroup) {
	if !a.loading {
		a.queue.UpdatePodGroup(object)
	}
}

// DeletePodGroup implements SchedulingQueue.
func (a queueAdapter) DeletePodGroup(_ klog.Logger, object *schedulingv1beta1.PodGroup) {
	if !a.loading {
		a.queue.DeletePodGroup(a.now, object)
	}
}

// AddAttemptedPodGroupIfNeeded implements SchedulingQueue.
func (a queueAdapter) AddAttemptedPodGroupIfNeeded(_ klog.Logger, g *framework.QueuedPodGroupInfo, _ int64, status *fwk.Status) error {
	return a.queue.AddAttemptedPodGroupIfNeeded(a.now, types.NamespacedName{Namespace: g.Namespace, Name: g.Name}, outcome(status))
}

// Nothing calls the methods below: they are for debugging, for running as a server, for out-of-tree plugins, which can
// activate pods, and for composite pod groups, whose feature gate is off.

func (queueAdapter) Pop(klog.Logger) (framework.QueuedEntityInfo, error)                     { return nil, nil }
func (queueAdapter) Activate(klog.Logger, map[string]*v1.Pod)                                {}
func (queueAdapter) Close()                                                                  {}
func (queueAdapter) Run(klog.Logger)                                                         {}
func (queueAdapter) PendingPods() ([]*v1.Pod, string)                                        { return nil, "" }
func (queueAdapter) InFlightPods() []*v1.Pod                                                 { return nil }
func (queueAdapter) PodsInActiveQ() []*v1.Pod                                                { return nil }
func (queueAdapter) PodsInBackoffQ() []*v1.Pod                                               { return nil }
func (queueAdapter) UnschedulablePods() []*v1.Pod                                            { return nil }
func (queueAdapter) PendingPodGroupPods() []*v1.Pod                                          { return nil }
func (queueAdapter) IncompletePodGroupPodsPods() []*v1.Pod                                   { return nil }
func (queueAdapter) AddCompositePodGroup(klog.Logger, *schedulingv1alpha3.CompositePodGroup) {}
func (queueAdapter) UpdateCompositePodGroup(klog.Logger, *schedulingv1alpha3.CompositePodGroup) {
}
func (queueAdapter) DeleteCompositePodGroup(klog.Logger, *schedulingv1alpha3.CompositePodGroup) {
}
func (queueAdapter) PatchPodStatus(*v1.Pod, []*v1.PodCondition, *fwk.NominatingInfo) (<-chan error, error) {
	return nil, nil
}
func (queueAdapter) GetPod(string, string, *v1.PodSchedulingGroup) (*framework.QueuedPodInfo, bool) {
	return nil, false
}
func (queueAdapter) GetPodGroup(string, string, fwk.EntityKeyType) (*framework.QueuedPodGroupInfo, bool) {
	return nil, false
}
