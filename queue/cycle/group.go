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

// concludeGroup runs the scheduling cycle of the pod group that a popped, at now. Upstream's whole cycle
// runs here: it returns pods to the queue and ends the group's attempt there. The pods that it places are
// assumed, and their bindings are left to Bind. (schedule_one_podgroup.go.)
func (s *Scheduler) concludeGroup(now time.Time, a *Attempt) {
	s.now = now
	info := groupInfo(a.Group, s.queue)
	cycle := &groupCycle{}
	for name := range s.upstream.Profiles { // which answer nobody else otherwise than those before
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

// groupInfo is what upstream knows of a popped pod group. Pods that left the queue meanwhile are left out.
func groupInfo(g *queue.GroupInfo, q *queue.Queue) *framework.QueuedPodGroupInfo {
	flying := map[types.UID]bool{}
	for info := range q.InFlight() {
		flying[info.Pod.UID] = true
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
		if !flying[g.Members[i].Pod.UID] {
			continue
		}
		pod, _ := queuedPodInfo(&g.Members[i])
		info.QueuedPodInfos[key] = append(info.QueuedPodInfos[key], pod)
		info.UnscheduledPods = append(info.UnscheduledPods, pod.Pod)
	}
	return info
}

// groupCycle gathers what a pod group's cycle places.
type groupCycle struct {
	placed  []placed
	binders sync.WaitGroup // upstream's goroutines that would bind them
}

type placed struct {
	pod   *v1.Pod
	node  string
	state fwk.CycleState
}

// groupFramework is a profile's framework during the cycle of a pod group. Upstream begins a goroutine for
// each pod that it placed, to bind it. Here these end before they do anything, and the model binds in its
// own time.
type groupFramework struct {
	seeded
	cycle *groupCycle
}

// RunFilterPluginsWithNominatedPods implements framework.Framework. What was remembered of a node does not
// count: the pods of the group that were placed on it a moment ago do not change its generation.
func (f groupFramework) RunFilterPluginsWithNominatedPods(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	status := f.seeded.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
	if status.IsSuccess() {
		f.feasible.found.Add(1)
	}
	return status
}

// RunPermitPlugins implements framework.Framework: it is the last that is asked about a placed pod.
func (f groupFramework) RunPermitPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (map[string]time.Duration, *fwk.Status) {
	waits, status := f.seeded.RunPermitPlugins(ctx, state, pod, node)
	if status.IsSuccess() || status.IsWait() { // those that wait, wait for the others of the group
		f.cycle.binders.Add(1)
		f.cycle.placed = append(f.cycle.placed, placed{pod, node, state})
	}
	return waits, status
}

// AddWaitingPod implements framework.Framework: nobody is going to wait.
func (f groupFramework) AddWaitingPod(*v1.Pod, map[string]time.Duration) {}

// RunPreBindPreFlights implements framework.Framework: a binding begins with it, with the gate
// NominatedNodeNameForExpectation.
func (f groupFramework) RunPreBindPreFlights(context.Context, fwk.CycleState, *v1.Pod, string) *fwk.Status {
	return f.endGoroutine()
}

// WaitOnPermit implements framework.Framework: a binding begins with it, without that gate.
func (f groupFramework) WaitOnPermit(context.Context, *v1.Pod) *fwk.Status { return f.endGoroutine() }

// endGoroutine ends upstream's goroutine that would bind a pod.
func (f groupFramework) endGoroutine() *fwk.Status {
	f.cycle.binders.Done()
	runtime.Goexit()
	return nil
}

// RunPodGroupPostFilterPlugins implements framework.Framework. Preemption for a whole group is upstream's, and
// not modelled.
func (f groupFramework) RunPodGroupPostFilterPlugins(context.Context, *framework.CycleState, fwk.PodGroupInfo, fwk.PodGroupSchedulingFunc) (*fwk.PodGroupPostFilterResult, *fwk.Status) {
	return nil, fwk.NewStatus(fwk.Unschedulable, "preemption for a pod group is not modelled")
}

// outcome is what status says of a pod group's attempt.
func outcome(status *fwk.Status) queue.GroupOutcome {
	switch {
	case status.IsSuccess():
		return queue.GroupScheduled
	case status.IsRejected():
		return queue.GroupRejected
	}
	return queue.GroupFailed
}
