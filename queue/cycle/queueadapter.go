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

// queueAdapter is our queue as upstream's event handlers, plugins and failure handling see it: an
// internalqueue.SchedulingQueue. It runs on the Scheduler's goroutine, or on one of upstream's that the
// Scheduler waits for.
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

// Delete implements SchedulingQueue: pod was deleted, or bound. Upstream's handler wakes others itself where it was deleted, and in
// v1.33 and v1.34 it made no difference between the two (eventhandlers.go, deletePodFromSchedulingQueue).
func (a queueAdapter) Delete(_ klog.Logger, pod *v1.Pod) {
	if a.loading {
		return
	}
	a.queue.Delete(a.now, pod)
	if a.queue.Options().Rules.NominationEnd == queue.WakesAlways && pod.Status.NominatedNodeName != "" && a.hasNode(pod) {
		noHigher := func(waiting *v1.Pod) bool {
			return corev1helpers.PodPriority(waiting) <= corev1helpers.PodPriority(pod)
		}
		a.queue.MoveAllToActiveOrBackoffQueue(a.now, framework.EventAssignedPodDelete, pod, nil, noHigher)
	}
}

// hasNode reports whether the scheduler has heard of the node that pod is bound to.
func (a queueAdapter) hasNode(pod *v1.Pod) bool {
	known, ok := a.watches.get(pod, pod.Namespace, pod.Name).(*v1.Pod)
	return ok && known.UID == pod.UID && known.Spec.NodeName != ""
}

// MoveAllToActiveOrBackoffQueue implements SchedulingQueue.
func (a queueAdapter) MoveAllToActiveOrBackoffQueue(_ klog.Logger, event fwk.ClusterEvent, oldObj, newObj any, preCheck internalqueue.PreEnqueueCheck) {
	if a.loading || a.deaf {
		return
	}
	// Upstream asks about the priority of those who wait only where a pod gives up the place that it was nominated to.
	if event == framework.EventAssignedPodDelete && preCheck != nil && a.queue.Options().Rules.NominationEnd == queue.WakesNever {
		return
	}
	if node, ok := newObj.(*v1.Node); ok && a.queue.Options().Rules.Waking == queue.ByRegisteredEvents {
		preCheck = a.preCheckForNode(node)
	}
	a.queue.MoveAllToActiveOrBackoffQueue(a.now, event, oldObj, newObj, preCheck)
}

// preCheckForNode models the function of that name in releases without hints (pkg/scheduler/eventhandlers.go, v1.22 to
// v1.31): a node that came or changed wakes only the pods that it would admit. It is nil if the node is not known.
func (a queueAdapter) preCheckForNode(node *v1.Node) internalqueue.PreEnqueueCheck {
	info, err := a.upstream.Cache.GetNode(node.Name)
	if err != nil {
		return nil
	}
	keepsOut := func(t *v1.Taint) bool { return t.Effect == v1.TaintEffectNoSchedule }
	return func(pod *v1.Pod) bool {
		if len(scheduler.AdmissionCheck(pod, info, false)) > 0 {
			return false
		}
		_, out := Untolerated(node, pod, keepsOut)
		return !out
	}
}

// inactive is a fwk.PodActivator. Only upstream's goroutine of a preemption would activate a pod, after
// the API server's error; ours makes none that matters, and the queue is not that goroutine's to touch.
type inactive struct{}

// Activate implements fwk.PodActivator.
func (inactive) Activate(klog.Logger, map[string]*v1.Pod) {}

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

// AddNominatedPod implements fwk.PodNominator, as nominator.go does: without nominating info, what the
// pod's status says counts.
func (a queueAdapter) AddNominatedPod(_ klog.Logger, p fwk.PodInfo, info *fwk.NominatingInfo) {
	pod := p.GetPod()
	node := pod.Status.NominatedNodeName
	if info.Mode() == fwk.ModeOverride {
		node = info.NominatedNodeName
	}
	// A pod that is gone or assigned is not nominated any more.
	if stored, ok := a.watches.get(pod, pod.Namespace, pod.Name).(*v1.Pod); !ok || stored.Spec.NodeName != "" {
		node = ""
	}
	a.queue.AddNominatedPod(pod, node)
}

// DeleteNominatedPodIfExists implements fwk.PodNominator.
func (a queueAdapter) DeleteNominatedPodIfExists(pod *v1.Pod) {
	a.queue.DeleteNominatedPodIfExists(pod)
}

// UpdateNominatedPod implements fwk.PodNominator; our queue's Update does it by itself.
func (a queueAdapter) UpdateNominatedPod(klog.Logger, *v1.Pod, fwk.PodInfo) {}

// NominatedPodsForNode implements fwk.PodNominator. Upstream asks of every node in every attempt, several at
// a time.
func (a queueAdapter) NominatedPodsForNode(node string) []fwk.PodInfo {
	var infos []fwk.PodInfo
	for _, pod := range a.queue.NominatedPodsForNode(node) {
		infos = append(infos, a.nominees.info(pod))
	}
	return infos
}

// nominees are what plugins know of nominated pods. It costs more to make than most plugins take for a node.
type nominees struct {
	mu    sync.Mutex
	infos map[types.UID]*framework.PodInfo
}

// maxNominees is when the pods that were nominated once are forgotten.
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
	info, _ := framework.NewPodInfo(pod) // upstream too ignores what it can't read of the affinity
	info.CalculateResource()             // which it remembers, and from then on is never modified
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

// What follows is for debugging, for running as a server, for plugins that are not in the tree, which have pods
// activated, or for composite pod groups, whose feature gate is off: nobody calls it.

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
