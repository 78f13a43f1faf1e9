package cycle

import (
	"context"
	"runtime"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/schedq/schedq/queue"
)

// concludeGroup runs upstream's scheduling cycle of a popped pod group (schedule_one_podgroup.go). It returns pods to
// the queue, ends the group's attempt, and assumes the other pods, which Bind binds later.
func (s *Scheduler) concludeGroup(now time.Time, a *Attempt) {
	s.now = now
	info := groupInfo(a.Group, s.queue)
	cycle := &groupCycle{}
	for name := range s.upstream.Profiles { // equivalent outside of group cycles
		s.upstream.Profiles[name] = groupFramework{s.profiles[name].(seeded), cycle}
	}
	s.upstream.NextEntity = func(klog.Logger) (framework.QueuedEntityInfo, error) { return info, nil }
	s.upstream.ScheduleOne(quiet(context.Background()))
	cycle.binders.Wait()
	for _, p := range cycle.placed {
		pod, _ := queuedPodInfo(&queue.PodInfo{Pod: p.pod, Tier: queue.InFlight})
		a.Bindings = append(a.Bindings, &Binding{
			Pod: p.pod, Node: p.node, profile: s.profiles[p.pod.Spec.SchedulerName], state: p.state, info: pod,
		})
	}
	if len(a.Bindings) > 0 {
		a.Binding, a.Node = a.Bindings[0], a.Bindings[0].Node
	}
}

// groupInfo converts a popped pod group for upstream, without pods that left the queue meanwhile.
func groupInfo(g *queue.GroupInfo, q *queue.Queue) *framework.QueuedPodGroupInfo {
	inFlight := map[types.UID]bool{}
	for info := range q.InFlight() {
		inFlight[info.Pod.UID] = true
	}
	info := &framework.QueuedPodGroupInfo{
		PodGroupInfo: &framework.PodGroupInfo{
			Namespace: g.Name.Namespace, Name: g.Name.Name, Type: fwk.PodGroupKeyType, PodGroup: g.Object,
		},
		QueueingParams: framework.QueueingParams{Attempts: g.Attempts, Timestamp: g.Timestamp},
		QueuedPodInfos: map[fwk.EntityKey][]*framework.QueuedPodInfo{},
	}
	key := fwk.PodGroupKey(g.Name.Namespace, g.Name.Name)
	for i := range g.Members {
		if !inFlight[g.Members[i].Pod.UID] {
			continue
		}
		pod, _ := queuedPodInfo(&g.Members[i])
		info.QueuedPodInfos[key] = append(info.QueuedPodInfos[key], pod)
		info.UnscheduledPods = append(info.UnscheduledPods, pod.Pod)
	}
	return info
}

// groupCycle collects the pods that a pod group's cycle assumes.
type groupCycle struct {
	placed  []placed
	binders sync.WaitGroup // upstream's goroutines that bind pods
}

type placed struct {
	pod   *v1.Pod
	node  string
	state fwk.CycleState
}

// groupFramework is a profile's framework during the cycle of a pod group. Upstream starts a goroutine to bind each
// assumed pod. groupFramework ends these goroutines at once, and the Scheduler's owner binds the pods later.
type groupFramework struct {
	seeded
	cycle *groupCycle
}

// RunFilterPluginsWithNominatedPods implements framework.Framework. It bypasses the cached verdicts, because the
// group's pods that were just assumed on a node do not change its generation.
func (f groupFramework) RunFilterPluginsWithNominatedPods(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	status := f.seeded.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
	if status.IsSuccess() {
		f.feasible.found.Add(1)
	}
	return status
}

// RunPermitPlugins implements framework.Framework. It is the last call before a pod's binding.
func (f groupFramework) RunPermitPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (map[string]time.Duration, *fwk.Status) {
	waits, status := f.seeded.RunPermitPlugins(ctx, state, pod, node)
	if status.IsSuccess() || status.IsWait() { // a pod waits for the other pods of its group
		f.cycle.binders.Add(1)
		f.cycle.placed = append(f.cycle.placed, placed{pod, node, state})
	}
	return waits, status
}

// AddWaitingPod implements framework.Framework. It does nothing, because no pod waits.
func (f groupFramework) AddWaitingPod(*v1.Pod, map[string]time.Duration) {}

// RunPreBindPreFlights implements framework.Framework. It is the first call of a binding with the feature gate
// NominatedNodeNameForExpectation.
func (f groupFramework) RunPreBindPreFlights(context.Context, fwk.CycleState, *v1.Pod, string) *fwk.Status {
	return f.endGoroutine()
}

// WaitOnPermit implements framework.Framework. It is the first call of a binding without that feature gate.
func (f groupFramework) WaitOnPermit(context.Context, *v1.Pod) *fwk.Status { return f.endGoroutine() }

// endGoroutine ends upstream's goroutine that binds a pod.
func (f groupFramework) endGoroutine() *fwk.Status {
	f.cycle.binders.Done()
	runtime.Goexit()
	return nil
}

// RunPodGroupPostFilterPlugins implements framework.Framework. Preemption for pod groups is not modelled.
func (f groupFramework) RunPodGroupPostFilterPlugins(context.Context, *framework.CycleState, fwk.PodGroupInfo, fwk.PodGroupSchedulingFunc) (*fwk.PodGroupPostFilterResult, *fwk.Status) {
	return nil, fwk.NewStatus(fwk.Unschedulable, "preemption for a pod group is not modelled")
}

// outcome converts the status of a pod group's attempt.
func outcome(status *fwk.Status) queue.GroupOutcome {
	switch {
	case status.IsSuccess():
		return queue.GroupScheduled
	case status.IsRejected():
		return queue.GroupRejected
	}
	return queue.GroupFailed
}
