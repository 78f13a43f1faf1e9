package cycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"

	"github.com/schedq/schedq/queue"
)

// Attempt is a scheduling cycle and its result.
type Attempt struct {
	Pod *v1.Pod
	// Skipped is true if the pod was not scheduled because it is being deleted, is assumed already, or has an
	// unknown scheduler name. It has left the queue.
	Skipped bool
	// Node is the node on which the pod is assumed, empty if the attempt failed.
	Node string
	// Evaluated, Feasible and Nodes count the nodes that were filtered, those that passed, and all.
	Evaluated, Feasible, Nodes int
	// Message is the message of the PodScheduled condition of a failed attempt.
	Message string
	// Reasons count the rejected nodes by plugin and reason, most nodes first.
	Reasons []Reason
	// Nominated is the node on which victims are preempted for the pod.
	Nominated string
	// Evictions are the evictions that the attempt waits for, none with asynchronous preemption.
	Evictions []*Eviction
	// Binding is the binding of an assumed pod.
	Binding *Binding
	// Group is the popped pod group, if any, and Pod its first pod. The group's cycle runs in Conclude, which sets
	// Bindings for the assumed pods.
	Group    *queue.GroupInfo
	Bindings []*Binding

	failure *attemptFailure // nil if the pod is assumed or was skipped
}

// attemptFailure contains the arguments of upstream's failure handler.
type attemptFailure struct {
	profile    framework.Framework
	info       *framework.QueuedPodInfo
	status     *fwk.Status
	nominating *fwk.NominatingInfo
	state      fwk.CycleState
}

// Reason is a reason for which a plugin rejected nodes.
type Reason struct {
	Plugin, Text string
	Nodes        int
	// Final is true if preemption on those nodes cannot help.
	Final bool
}

// Binding is the pending binding of an assumed pod.
type Binding struct {
	Pod  *v1.Pod // with Spec.NodeName
	Node string

	profile framework.Framework
	state   fwk.CycleState
	info    *framework.QueuedPodInfo
}

// newBinding returns a binding for a popped pod that is about to be assumed on node.
func newBinding(profile framework.Framework, state fwk.CycleState, p *framework.QueuedPodInfo, node string) *Binding {
	info := p.DeepCopy()
	return &Binding{Pod: info.Pod, Node: node, profile: profile, state: state, info: info}
}

// clearNominatedNode returns nominating info that ends a nomination.
func clearNominatedNode() *fwk.NominatingInfo {
	return &fwk.NominatingInfo{NominatingMode: fwk.ModeOverride}
}

// Schedule pops the next pod and runs upstream's plugins from PreFilter to Permit. On success, the pod is assumed on
// its node and in flight until Bind, Fail, or an update of its object. On failure, it is in flight until Conclude,
// and events before that occur during the attempt. Schedule returns false if there is no pod to pop. It models
// scheduleOnePod in schedule_one.go.
func (s *Scheduler) Schedule(now time.Time) (*Attempt, bool) {
	s.now = now
	popped, ok := s.queue.PopEntity(now)
	if !ok {
		return nil, false
	}
	if g := popped.Group; g != nil {
		return &Attempt{Pod: g.Members[0].Pod, Group: g, Evaluated: len(g.Members) * s.upstream.Cache.NodeCount()}, true
	}
	return s.attempt(now, &popped.Pod), true
}

// Resume is Schedule for a pod that is in flight already. It returns false for other pods.
func (s *Scheduler) Resume(now time.Time, pod *v1.Pod) (*Attempt, bool) {
	s.now = now
	info, _ := s.queue.Get(pod.Namespace, pod.Name)
	if info.Tier != queue.InFlight {
		return nil, false
	}
	return s.attempt(now, &info), true
}

// attempt runs the attempt of a popped pod.
func (s *Scheduler) attempt(now time.Time, info *queue.PodInfo) *Attempt {
	a := &Attempt{Pod: info.Pod}
	profile, known := s.profiles[info.Pod.Spec.SchedulerName]
	// InterPodAffinity rejects invalid affinity terms.
	p, _ := queuedPodInfo(info)
	if !known {
		a.Message = fmt.Sprintf("profile not found for scheduler name %q", info.Pod.Spec.SchedulerName)
	}
	assumed, err := s.upstream.Cache.IsAssumedPod(info.Pod)
	if a.Message != "" || info.Pod.DeletionTimestamp != nil || err == nil && assumed {
		a.Skipped = true
		s.queue.Done(now, info.Pod.UID)
		return a
	}
	if s.watch != nil {
		s.watch(s, info)
	}
	s.runCycle(a, profile, p)
	return a
}

// runCycle runs the scheduling cycle of schedule_one.go until the pod is assumed or rejected.
func (s *Scheduler) runCycle(a *Attempt, profile framework.Framework, p *framework.QueuedPodInfo) {
	ctx := quiet(context.Background())
	state := framework.NewCycleState()
	if err := s.upstream.Cache.UpdateSnapshot(klog.Logger{}, s.snapshot); err != nil {
		s.recordFailure(a, profile, state, p, fwk.AsStatus(err), clearNominatedNode())
		return
	}
	a.Nodes = s.snapshot.NumNodesInPlacement()
	result, err := s.upstream.SchedulePod(ctx, profile, state, p)
	if err != nil {
		status, nominating := s.postFilter(ctx, a, profile, state, p, err)
		s.recordFailure(a, profile, state, p, status, nominating)
		return
	}
	a.Evaluated, a.Feasible = result.EvaluatedNodes, result.FeasibleNodes
	b := newBinding(profile, state, p, result.SuggestedHost)
	if status := s.assume(ctx, b); !status.IsSuccess() {
		s.recordFailure(a, profile, state, b.info, status, clearNominatedNode())
		return
	}
	a.Node, a.Binding = b.Node, b
}

// PlaceOn turns the failed attempt a into a successful one on node, as observed in the real scheduler. It returns
// false and leaves the attempt unchanged if the pod cannot be assumed there, for instance because a plugin cannot
// reserve anything.
func (s *Scheduler) PlaceOn(a *Attempt, node string) bool {
	r := a.failure
	if r == nil || s.snapshotNode(node) == nil {
		return false
	}
	b := newBinding(r.profile, r.state, r.info, node)
	if !s.assume(quiet(context.Background()), b).IsSuccess() {
		return false
	}
	s.Undo(a)
	a.Node, a.Binding, a.Message, a.Reasons, a.Nominated, a.Evictions = node, b, "", nil, "", nil
	return true
}

// postFilter converts the error of SchedulePod to a status, and tries preemption if the pod does not fit. It models
// schedulingAlgorithm in schedule_one.go.
func (s *Scheduler) postFilter(ctx context.Context, a *Attempt, profile framework.Framework, state fwk.CycleState, p *framework.QueuedPodInfo, err error) (*fwk.Status, *fwk.NominatingInfo) {
	if errors.Is(err, scheduler.ErrNoNodesAvailable) {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable).WithError(err), clearNominatedNode()
	}
	fit, ok := err.(*framework.FitError)
	if !ok {
		return fwk.AsStatus(err), clearNominatedNode()
	}
	a.Evaluated = fit.Diagnosis.NodeToStatus.Len() // 0 if a PreFilter plugin rejected the pod
	s.wording.apply(fit, s.snapshotNode)
	unschedulable := fwk.NewStatus(fwk.Unschedulable).WithError(fit)
	if !profile.HasPostFilterPlugins() {
		return unschedulable, clearNominatedNode()
	}
	result, status := profile.RunPostFilterPlugins(ctx, state, p.Pod, fit.Diagnosis.NodeToStatus)
	fit.Diagnosis.PostFilterMsg = s.wording.postFilter(profile, p.Pod, status)
	s.preemptionStarted(profile, p.Pod.UID)
	a.Evictions = s.awaited(p.Pod.UID)
	if result == nil {
		return unschedulable, nil
	}
	if info := result.NominatingInfo; info.Mode() == fwk.ModeOverride {
		a.Nominated = info.NominatedNodeName
	}
	return unschedulable, result.NominatingInfo
}

// snapshotNode returns the node of that name in the current snapshot, or nil.
func (s *Scheduler) snapshotNode(name string) *v1.Node {
	info, err := s.snapshot.Get(name)
	if err != nil {
		return nil
	}
	return info.Node()
}

// assume assumes b's pod on its node and runs Reserve and Permit. No in-tree plugin makes a pod wait at Permit. It
// models assumeAndReserve and prepareForBindingCycle in schedule_one.go.
func (s *Scheduler) assume(ctx context.Context, b *Binding) *fwk.Status {
	b.Pod.Spec.NodeName = b.Node
	b.Pod.Status.NodeAllocatableResourceClaimStatuses = dynamicresources.ExtractPodNodeAllocatableResourceClaimStatus(klog.Logger{}, b.state, b.Node)
	if err := s.upstream.Cache.AssumePod(klog.Logger{}, b.Pod); err != nil {
		return fwk.AsStatus(err)
	}
	s.queue.DeleteNominatedPodIfExists(b.Pod)
	status := b.profile.RunReservePluginsReserve(ctx, b.state, b.Pod, b.Node)
	if status.IsSuccess() {
		_, status = b.profile.RunPermitPlugins(ctx, b.state, b.Pod, b.Node)
	}
	if status.IsSuccess() {
		return nil
	}
	s.unreserve(ctx, b)
	if !status.IsRejected() {
		return status
	}
	fit := &framework.FitError{NumAllNodes: 1, Pod: b.info.Pod, Diagnosis: framework.Diagnosis{NodeToStatus: framework.NewDefaultNodeToStatus()}}
	fit.Diagnosis.NodeToStatus.Set(b.Node, status)
	fit.Diagnosis.AddPluginStatus(status)
	return fwk.NewStatus(status.Code()).WithError(fit)
}

// recordFailure sets the message and reasons of a, and keeps the arguments of upstream's failure handler for
// Conclude.
func (s *Scheduler) recordFailure(a *Attempt, profile framework.Framework, state fwk.CycleState, p *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo) {
	a.Message = status.Message()
	if fit, ok := status.AsError().(*framework.FitError); ok {
		a.Reasons = s.reasons(fit)
	}
	a.failure = &attemptFailure{profile, p, status, nominating, state}
}

// Undo undoes attempt a: the pod is no longer assumed, and its preemption ends. The pod stays in flight.
func (s *Scheduler) Undo(a *Attempt) {
	if a.Binding != nil {
		s.Forget(a.Binding)
	}
	s.cancelEvictions(a.Pod.UID)
	a.Binding, a.failure = nil, nil
}

// Conclude ends a failed attempt: upstream's failure handler returns the pod to the queue, nominates it and writes its
// condition. For a pod group, Conclude runs the scheduling cycle. It does nothing for successful attempts.
func (s *Scheduler) Conclude(now time.Time, a *Attempt) {
	if a.Group != nil {
		s.concludeGroup(now, a)
		return
	}
	r := a.failure
	if r == nil {
		return
	}
	s.now, a.failure = now, nil
	s.upstream.FailureHandler(quiet(context.Background()), r.profile, r.info, r.status, r.nominating, time.Now())
}

// Bind runs PreBind and Bind for b. On success the pod leaves the queue, and its binding is among Writes. On failure
// the pod returns to the queue. No in-tree plugin implements PostBind. It models bindingCycle in schedule_one.go.
func (s *Scheduler) Bind(now time.Time, b *Binding) error {
	s.now = now
	ctx := quiet(context.Background())
	status := b.profile.RunPreBindPreFlights(ctx, b.state, b.Pod, b.Node)
	if status.IsSuccess() || status.IsSkip() {
		status = b.profile.RunPreBindPlugins(ctx, b.state, b.Pod, b.Node)
	}
	if status.IsSuccess() {
		status = b.profile.RunBindPlugins(ctx, b.state, b.Pod, b.Node)
	}
	if status.IsSuccess() {
		s.queue.Bound(now, b.Pod.UID)
		return nil
	}
	s.fail(now, b, status)
	return status.AsError()
}

// Fail ends b with an error: it frees the node, which may wake other pods, and returns the pod to the queue. It models
// handleBindingCycleError in schedule_one.go.
func (s *Scheduler) Fail(now time.Time, b *Binding, err error) { s.fail(now, b, fwk.AsStatus(err)) }

func (s *Scheduler) fail(now time.Time, b *Binding, status *fwk.Status) {
	s.now = now
	ctx := quiet(context.Background())
	freed := s.unreserve(ctx, b)
	if freed && !status.IsRejected() {
		s.queue.MoveAllToActiveOrBackoffQueue(now, framework.EventAssignedPodDelete, b.Pod, nil, nil)
	}
	s.upstream.FailureHandler(ctx, b.profile, b.info, status, clearNominatedNode(), time.Now())
	if freed && status.IsRejected() { // the freed node cannot help the pod itself
		others := func(pod *v1.Pod) bool { return pod.UID != b.Pod.UID }
		s.queue.MoveAllToActiveOrBackoffQueue(now, framework.EventAssignedPodDelete, b.Pod, nil, others)
	}
}

// Forget undoes the assumption of b's pod without informing the queue, because the pod was observed elsewhere.
func (s *Scheduler) Forget(b *Binding) { s.unreserve(quiet(context.Background()), b) }

// Confirm ends b because its pod was observed bound: it releases the plugins' reservations, such as a claim's devices.
func (s *Scheduler) Confirm(b *Binding) {
	b.profile.RunReservePluginsUnreserve(quiet(context.Background()), b.state, b.Pod, b.Node)
}

// unreserve undoes Reserve and forgets the assumed pod. It returns false if the pod is bound by now.
func (s *Scheduler) unreserve(ctx context.Context, b *Binding) bool {
	b.profile.RunReservePluginsUnreserve(ctx, b.state, b.Pod, b.Node)
	return s.upstream.Cache.ForgetPod(klog.Logger{}, b.Pod) == nil
}

// reasons counts the rejected nodes of a diagnosis by reason.
func (s *Scheduler) reasons(fit *framework.FitError) []Reason {
	counts := map[Reason]int{}
	count := func(status *fwk.Status, plugin string, nodes int) {
		for _, text := range status.Reasons() {
			counts[Reason{Plugin: plugin, Text: text, Final: status.Code() == fwk.UnschedulableAndUnresolvable}] += nodes
		}
	}
	d := &fit.Diagnosis
	d.NodeToStatus.ForEachExplicitNode(func(_ string, status *fwk.Status) {
		// Upstream does not record the plugin of an extender's status.
		count(status, cmp.Or(status.Plugin(), framework.ExtenderName), 1)
	})
	if absent := fit.NumAllNodes - d.NodeToStatus.Len(); absent > 0 {
		status := d.NodeToStatus.AbsentNodesStatus()
		count(status, cmp.Or(status.Plugin(), preFilterPlugin(d, status)), absent)
	}
	reasons := make([]Reason, 0, len(counts))
	for r, n := range counts {
		r.Nodes = n
		reasons = append(reasons, r)
	}
	slices.SortFunc(reasons, func(a, b Reason) int {
		if order := cmp.Or(cmp.Compare(b.Nodes, a.Nodes), strings.Compare(a.Plugin, b.Plugin), strings.Compare(a.Text, b.Text)); order != 0 {
			return order
		}
		if a.Final {
			return 1
		}
		return -1
	})
	return reasons
}

// preFilterPlugin returns the PreFilter plugin that excluded nodes, or "" if there are several. Upstream records it
// only in the message (findNodesThatFitPod in schedule_one.go).
func preFilterPlugin(d *framework.Diagnosis, absent *fwk.Status) string {
	for plugin := range d.UnschedulablePlugins {
		if strings.Contains(absent.Message(), fmt.Sprint([]string{plugin})) {
			return plugin
		}
	}
	return ""
}

// queuedPodInfo converts a popped pod for upstream's plugins and failure handler. It sets no signature: upstream
// reuses the verdict on a similar pod for half a second of wall-clock time, which would make runs differ. An error
// means that the result lacks an invalid affinity term.
func queuedPodInfo(info *queue.PodInfo) (*framework.QueuedPodInfo, error) {
	p, err := framework.NewPodInfo(info.Pod)
	if err != nil {
		err = fmt.Errorf("pod %s/%s: %w", info.Pod.Namespace, info.Pod.Name, err)
	}
	q := &framework.QueuedPodInfo{PodInfo: p, QueueingParams: framework.QueueingParams{
		Timestamp:              info.Timestamp,
		Attempts:               info.Attempts,
		BackoffExpiration:      info.BackoffExpiry,
		UnschedulableCount:     info.UnschedulableCount,
		ConsecutiveErrorsCount: info.ConsecutiveErrorsCount,
		UnschedulablePlugins:   sets.New(info.UnschedulablePlugins...),
		PendingPlugins:         sets.New(info.PendingPlugins...),
		GatingPlugin:           info.GatingPlugin,
	}}
	return q, err
}
