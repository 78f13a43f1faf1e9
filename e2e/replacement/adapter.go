package replacement

import (
	"context"
	"errors"
	"sync"

	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	listersv1 "k8s.io/client-go/listers/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	apicalls "k8s.io/kubernetes/pkg/scheduler/framework/api_calls"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/classic"
)

// adapter implements upstream's queue interfaces for its scheduler, event handlers and plugins. Methods
// without an error result ignore errors, which the Observer logs.
type adapter struct {
	*classic.Queue
	scheduler *scheduler.Scheduler
	pods      listersv1.PodLister
	signs     bool // the feature gate OpportunisticBatching
	prepared  *prepared
}

func newQueue(s *scheduler.Scheduler, pods listersv1.PodLister) adapter {
	return adapter{
		scheduler: s, pods: pods,
		signs:    utilfeature.DefaultFeatureGate.Enabled(features.OpportunisticBatching),
		prepared: &prepared{infos: map[types.UID]preparedPod{}},
	}
}

// Run implements SchedulingQueue. Its goroutines end with Close.
func (a adapter) Run(klog.Logger) {
	ctx, stop := context.WithCancel(context.Background())
	a.Queue.Run(ctx)
	go func() {
		defer stop()
		a.recordMetrics()
	}()
}

// Add implements SchedulingQueue.
func (a adapter) Add(ctx context.Context, pod *v1.Pod) {
	a.prepare(ctx, pod)
	_ = a.Queue.Add(pod)
}

// Update implements SchedulingQueue. Like upstream, it drops the pod's signature.
func (a adapter) Update(_ context.Context, oldPod, newPod *v1.Pod) {
	a.prepared.put(podInfo(newPod), nil)
	_ = a.Queue.Update(oldPod, newPod)
}

// Delete implements SchedulingQueue.
func (a adapter) Delete(_ klog.Logger, pod *v1.Pod) {
	a.prepared.forget(pod.UID)
	_ = a.Queue.Delete(pod)
}

// Activate implements SchedulingQueue, and fwk.PodActivator.
func (a adapter) Activate(_ klog.Logger, pods map[string]*v1.Pod) {
	_ = a.Queue.Activate(pods)
}

// MoveAllToActiveOrBackoffQueue implements SchedulingQueue.
func (a adapter) MoveAllToActiveOrBackoffQueue(_ klog.Logger, event fwk.ClusterEvent, oldObj, newObj any, preCheck internalqueue.PreEnqueueCheck) {
	_ = a.Queue.MoveAllToActiveOrBackoffQueue(event, oldObj, newObj, preCheck)
}

// Pop implements SchedulingQueue: it returns nil, and no error, when the queue is closed.
func (a adapter) Pop(logger klog.Logger) (framework.QueuedEntityInfo, error) {
	entity, err := a.PopEntity()
	switch {
	case errors.Is(err, classic.ErrClosed):
		logger.V(2).Info("Scheduling queue is closed")
		return nil, nil
	case err != nil:
		return nil, err
	case entity.Group != nil:
		return a.groupInfo(entity.Group), nil
	}
	return a.queuedPodInfo(&entity.Pod), nil
}

// AddUnschedulablePodIfNotPresent implements SchedulingQueue.
func (a adapter) AddUnschedulablePodIfNotPresent(logger klog.Logger, p *framework.QueuedPodInfo, _ int64) error {
	logger.V(5).Info("Checking events for in-flight pod", "pod", klog.KObj(p.Pod), "unschedulablePlugins", p.UnschedulablePlugins)
	a.prepared.put(p.PodInfo, p.PodSignature)
	return a.AddUnschedulableIfNotPresent(&queue.PodInfo{
		Pod: p.Pod, UnschedulablePlugins: sets.List(p.UnschedulablePlugins), PendingPlugins: sets.List(p.PendingPlugins),
	}, 0)
}

// AddAttemptedPodGroupIfNeeded implements SchedulingQueue.
func (a adapter) AddAttemptedPodGroupIfNeeded(_ klog.Logger, g *framework.QueuedPodGroupInfo, _ int64, status *fwk.Status) error {
	outcome := queue.GroupFailed
	if status.IsSuccess() {
		outcome = queue.GroupScheduled
	} else if status.IsRejected() {
		outcome = queue.GroupRejected
	}
	return a.Queue.AddAttemptedPodGroupIfNeeded(types.NamespacedName{Namespace: g.Namespace, Name: g.Name}, outcome)
}

// AddPodGroup implements SchedulingQueue.
func (a adapter) AddPodGroup(_ klog.Logger, object *schedulingv1beta1.PodGroup) {
	_ = a.Queue.AddPodGroup(object)
}

// UpdatePodGroup implements SchedulingQueue.
func (a adapter) UpdatePodGroup(_ klog.Logger, object *schedulingv1beta1.PodGroup) {
	_ = a.Queue.UpdatePodGroup(object)
}

// DeletePodGroup implements SchedulingQueue.
func (a adapter) DeletePodGroup(_ klog.Logger, object *schedulingv1beta1.PodGroup) {
	_ = a.Queue.DeletePodGroup(object)
}

// AddNominatedPod implements fwk.PodNominator like upstream's nominator.go: without nominating info it uses
// the pod's status, and it does not nominate a pod that is gone or has a node.
func (a adapter) AddNominatedPod(_ klog.Logger, p fwk.PodInfo, info *fwk.NominatingInfo) {
	pod := p.GetPod()
	node := pod.Status.NominatedNodeName
	if info.Mode() == fwk.ModeOverride {
		node = info.NominatedNodeName
	}
	if node != "" {
		if stored, err := a.pods.Pods(pod.Namespace).Get(pod.Name); err != nil || stored.Spec.NodeName != "" {
			node = ""
		}
	}
	_ = a.Queue.AddNominatedPod(pod, node)
}

// DeleteNominatedPodIfExists implements fwk.PodNominator.
func (a adapter) DeleteNominatedPodIfExists(pod *v1.Pod) { _ = a.Queue.DeleteNominatedPodIfExists(pod) }

// UpdateNominatedPod implements fwk.PodNominator. Only upstream's queue calls it; this one does so in Update.
func (a adapter) UpdateNominatedPod(klog.Logger, *v1.Pod, fwk.PodInfo) {}

// NominatedPodsForNode implements fwk.PodNominator. Upstream calls it for every node in every attempt, in parallel.
func (a adapter) NominatedPodsForNode(node string) []fwk.PodInfo {
	pods := a.Queue.NominatedPodsForNode(node)
	infos := make([]fwk.PodInfo, len(pods))
	for i, pod := range pods {
		infos[i] = podInfo(pod)
	}
	return infos
}

// PatchPodStatus implements SchedulingQueue, with the gate SchedulerAsyncAPICalls.
func (a adapter) PatchPodStatus(pod *v1.Pod, conditions []*v1.PodCondition, nominating *fwk.NominatingInfo) (<-chan error, error) {
	finished := make(chan error, 1)
	err := a.scheduler.APIDispatcher.Add(apicalls.Implementations.PodStatusPatch(pod, conditions, nominating), fwk.APICallOptions{OnFinish: finished})
	if fwk.IsUnexpectedError(err) {
		return finished, err
	}
	return finished, nil
}

// GetPod implements SchedulingQueue.
func (a adapter) GetPod(name, namespace string, _ *v1.PodSchedulingGroup) (*framework.QueuedPodInfo, bool) {
	info, ok := a.Get(namespace, name)
	if !ok || info.Tier == queue.InFlight {
		return nil, false
	}
	return a.queuedPodInfo(&info), true
}

// GetPodGroup implements SchedulingQueue.
func (a adapter) GetPodGroup(name, namespace string, kind fwk.EntityKeyType) (*framework.QueuedPodGroupInfo, bool) {
	group, ok := a.Group(types.NamespacedName{Namespace: namespace, Name: name})
	if !ok || kind != fwk.PodGroupKeyType || !group.Tier.Queued() {
		return nil, false
	}
	return a.groupInfo(&group), true
}

// PodsInActiveQ implements SchedulingQueue.
func (a adapter) PodsInActiveQ() []*v1.Pod { return a.PodsIn(queue.Active) }

// PodsInBackoffQ implements SchedulingQueue.
func (a adapter) PodsInBackoffQ() []*v1.Pod { return a.PodsIn(queue.Backoff) }

// UnschedulablePods implements SchedulingQueue. It includes gated pods.
func (a adapter) UnschedulablePods() []*v1.Pod {
	return append(a.PodsIn(queue.Unschedulable), a.PodsIn(queue.Gated)...)
}

// PendingPodGroupPods implements SchedulingQueue.
func (a adapter) PendingPodGroupPods() []*v1.Pod { return a.PodsIn(queue.Pending) }

// IncompletePodGroupPodsPods implements SchedulingQueue.
func (a adapter) IncompletePodGroupPodsPods() []*v1.Pod { return a.PodsIn(queue.Incomplete) }

// Composite pod groups need a feature gate that Install rejects.

// AddCompositePodGroup implements SchedulingQueue.
func (adapter) AddCompositePodGroup(klog.Logger, *schedulingv1alpha3.CompositePodGroup) {}

// UpdateCompositePodGroup implements SchedulingQueue.
func (adapter) UpdateCompositePodGroup(klog.Logger, *schedulingv1alpha3.CompositePodGroup) {}

// DeleteCompositePodGroup implements SchedulingQueue.
func (adapter) DeleteCompositePodGroup(klog.Logger, *schedulingv1alpha3.CompositePodGroup) {}

// Done implements SchedulingQueue.
func (a adapter) Done(uid types.UID) {
	a.prepared.forget(uid)
	a.Queue.Done(uid)
}

// prepared caches what upstream's scheduler needs of queued pods. It is computed when a pod is added, to
// keep it out of the scheduling loop, and dropped when the pod is deleted or done.
type prepared struct {
	mu    sync.Mutex
	infos map[types.UID]preparedPod
}

type preparedPod struct {
	info      *framework.PodInfo
	signature fwk.PodSignature // by which upstream knows pods that are alike
}

func (p *prepared) put(info *framework.PodInfo, signature fwk.PodSignature) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.infos[info.Pod.UID] = preparedPod{info, signature}
}

func (p *prepared) forget(uid types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.infos, uid)
}

// podOf returns what was prepared for pod, or prepares it.
func (p *prepared) podOf(pod *v1.Pod) preparedPod {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.infos[pod.UID]; known.info != nil && known.info.Pod == pod {
		return known
	}
	return preparedPod{info: podInfo(pod)}
}

// podInfo returns what plugins know of a pod. As upstream does, it leaves out what can't be read of the affinity: the API server does
// not check all of it.
func podInfo(pod *v1.Pod) *framework.PodInfo {
	info, _ := framework.NewPodInfo(pod)
	return info
}

// prepare works out what the scheduler will need of a new pod.
func (a adapter) prepare(ctx context.Context, pod *v1.Pod) {
	var signature fwk.PodSignature
	if profile := a.scheduler.Profiles[pod.Spec.SchedulerName]; a.signs && profile != nil {
		signature = profile.SignPod(ctx, pod)
	}
	a.prepared.put(podInfo(pod), signature)
}

func (a adapter) queuedPodInfo(info *queue.PodInfo) *framework.QueuedPodInfo {
	known := a.prepared.podOf(info.Pod)
	p := &framework.QueuedPodInfo{PodInfo: known.info, PodSignature: known.signature, QueueingParams: framework.QueueingParams{
		Timestamp:                   info.Timestamp,
		Attempts:                    info.Attempts,
		BackoffExpiration:           info.BackoffExpiry,
		UnschedulableCount:          info.UnschedulableCount,
		ConsecutiveErrorsCount:      info.ConsecutiveErrorsCount,
		WasFlushedFromUnschedulable: !info.FlushTimestamp.IsZero(),
		FlushTimestamp:              info.FlushTimestamp,
		UnschedulablePlugins:        sets.New(info.UnschedulablePlugins...),
		PendingPlugins:              sets.New(info.PendingPlugins...),
		GatingPlugin:                info.GatingPlugin,
	}}
	if t := info.InitialAttemptTimestamp; !t.IsZero() {
		p.InitialAttemptTimestamp = &t
	}
	return p
}

func (a adapter) groupInfo(g *queue.GroupInfo) *framework.QueuedPodGroupInfo {
	info := &framework.QueuedPodGroupInfo{
		PodGroupInfo: &framework.PodGroupInfo{
			Namespace: g.Name.Namespace, Name: g.Name.Name, Type: fwk.PodGroupKeyType, PodGroup: g.Object,
		},
		QueueingParams: framework.QueueingParams{
			Timestamp: g.Timestamp, Attempts: g.Attempts, BackoffExpiration: g.BackoffExpiry,
			UnschedulableCount: g.UnschedulableCount, ConsecutiveErrorsCount: g.ConsecutiveErrorsCount, GatingPlugin: g.GatingPlugin,
			WasFlushedFromUnschedulable: !g.FlushTimestamp.IsZero(), FlushTimestamp: g.FlushTimestamp,
		},
		QueuedPodInfos: map[fwk.EntityKey][]*framework.QueuedPodInfo{},
	}
	if t := g.InitialAttemptTimestamp; !t.IsZero() {
		info.InitialAttemptTimestamp = &t
	}
	key := fwk.PodGroupKey(g.Name.Namespace, g.Name.Name)
	for i := range g.Members {
		pod := a.queuedPodInfo(&g.Members[i])
		info.QueuedPodInfos[key] = append(info.QueuedPodInfos[key], pod)
		info.UnscheduledPods = append(info.UnscheduledPods, pod.Pod)
	}
	return info
}
