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

// Attempt is one scheduling cycle: what became of the pod that was popped.
type Attempt struct {
	Pod *v1.Pod
	// Skipped is true if the pod was not tried: it is being deleted, is assumed already, or asks for a
	// scheduler that is not here. It has left the queue.
	Skipped bool
	// Node is where the pod was assumed to run. Empty if it was not placed.
	Node string
	// Evaluated and Feasible count the nodes that were looked at and those that fit. Nodes counts all.
	Evaluated, Feasible, Nodes int
	// Message says why the pod was not placed, in the words of its PodScheduled condition.
	Message string
	// Reasons count, for a pod that does not fit, the nodes by plugin and reason, most nodes first.
	Reasons []Reason
	// Nominated is the node where victims are preempted for the pod.
	Nominated string
	// Evictions are of the victims for whose deletion the attempt waits. None where victims are deleted beside the loop.
	Evictions []*Eviction
	// Binding is what is left to do for a pod that was placed.
	Binding *Binding
	// Group is the pod group that was popped, if it was one; Pod is then its first pod. Its cycle runs in
	// Conclude, which tells in Bindings what is left to do for each pod that was placed.
	Group    *queue.GroupInfo
	Bindings []*Binding

	rejected *rejected // unless the pod was placed or skipped
}

// rejected is what the failure handling needs to know of an attempt.
type rejected struct {
	profile    framework.Framework
	info       *framework.QueuedPodInfo
	status     *fwk.Status
	nominating *fwk.NominatingInfo
	state      fwk.CycleState
}

// Reason is why a plugin turned nodes down, and how many.
type Reason struct {
	Plugin, Text string
	Nodes        int
	// Final is true if no preemption on those nodes can help.
	Final bool
}

// Binding is a pod that was assumed to run on a node and is not bound yet.
type Binding struct {
	Pod  *v1.Pod // with its node
	Node string

	profile framework.Framework
	state   fwk.CycleState
	info    *framework.QueuedPodInfo
}

// newBinding returns the binding of a popped pod that is about to be assumed on a node, by what the plugins keep in state.
func newBinding(profile framework.Framework, state fwk.CycleState, p *framework.QueuedPodInfo, node string) *Binding {
	info := p.DeepCopy()
	return &Binding{Pod: info.Pod, Node: node, profile: profile, state: state, info: info}
}

// clearNominatedNode takes a pod's nomination back.
func clearNominatedNode() *fwk.NominatingInfo {
	return &fwk.NominatingInfo{NominatingMode: fwk.ModeOverride}
}

// Schedule pops the next pod at now and tries to place it: PreFilter, Filter, PostFilter, PreScore, Score, Reserve and Permit by upstream's
// plugins. A pod that was placed is assumed to run on its node and in flight until Bind, Fail, or a change of its object tells. One that was not is
// in flight until Conclude: what happens between the two happens during its attempt. It returns false if there is no pod to pop. (schedule_one.go,
// scheduleOnePod.)
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

// Resume is Schedule for a pod that is in flight already. It returns false if the pod is not.
func (s *Scheduler) Resume(now time.Time, pod *v1.Pod) (*Attempt, bool) {
	s.now = now
	info, _ := s.queue.Get(pod.Namespace, pod.Name) // which is nowhere if the queue does not have it
	if info.Tier != queue.InFlight {
		return nil, false
	}
	return s.attempt(now, &info), true
}

// attempt tries to place the popped pod.
func (s *Scheduler) attempt(now time.Time, info *queue.PodInfo) *Attempt {
	a := &Attempt{Pod: info.Pod}
	profile, known := s.profiles[info.Pod.Spec.SchedulerName]
	// A term of its affinity that can't be read is InterPodAffinity's to reject.
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
	s.runCycle(a, profile, p)
	return a
}

// runCycle runs for a the scheduling cycle of schedule_one.go, up to where the pod is placed or not.
func (s *Scheduler) runCycle(a *Attempt, profile framework.Framework, p *framework.QueuedPodInfo) {
	ctx := quiet(context.Background())
	state := framework.NewCycleState()
	if err := s.upstream.Cache.UpdateSnapshot(klog.Logger{}, s.snapshot); err != nil {
		s.noteFailure(a, profile, state, p, fwk.AsStatus(err), clearNominatedNode())
		return
	}
	a.Nodes = s.snapshot.NumNodesInPlacement()
	result, err := s.upstream.SchedulePod(ctx, profile, state, p)
	if err != nil {
		status, nominating := s.postFilter(ctx, a, profile, state, p, err)
		s.noteFailure(a, profile, state, p, status, nominating)
		return
	}
	a.Evaluated, a.Feasible = result.EvaluatedNodes, result.FeasibleNodes
	b := newBinding(profile, state, p, result.SuggestedHost)
	if status := s.assume(ctx, b); !status.IsSuccess() {
		s.noteFailure(a, profile, state, b.info, status, clearNominatedNode())
		return
	}
	a.Node, a.Binding = b.Node, b
}

// PlaceOn has attempt a, which found no node, place its pod on that one all the same, as the real scheduler was seen to. It reports
// whether it could: a plugin may have nothing to reserve there. Else the attempt stays as it is.
func (s *Scheduler) PlaceOn(a *Attempt, node string) bool {
	r := a.rejected
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

// postFilter turns what SchedulePod returned into a status, and tries preemption for a pod that does not
// fit. (schedule_one.go, schedulingAlgorithm.)
func (s *Scheduler) postFilter(ctx context.Context, a *Attempt, profile framework.Framework, state fwk.CycleState, p *framework.QueuedPodInfo, err error) (*fwk.Status, *fwk.NominatingInfo) {
	if errors.Is(err, scheduler.ErrNoNodesAvailable) {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable).WithError(err), clearNominatedNode()
	}
	fit, ok := err.(*framework.FitError)
	if !ok {
		return fwk.AsStatus(err), clearNominatedNode()
	}
	a.Evaluated = fit.Diagnosis.NodeToStatus.Len() // none if a PreFilter plugin rejected the pod
	s.wording.Apply(fit, s.snapshotNode)
	unschedulable := fwk.NewStatus(fwk.Unschedulable).WithError(fit)
	if !profile.HasPostFilterPlugins() {
		return unschedulable, clearNominatedNode()
	}
	result, status := profile.RunPostFilterPlugins(ctx, state, p.Pod, fit.Diagnosis.NodeToStatus)
	fit.Diagnosis.PostFilterMsg = s.wording.PostFilter(profile, p.Pod, status)
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

// snapshotNode returns the node of that name in the snapshot that the attempt looks at, or nil.
func (s *Scheduler) snapshotNode(name string) *v1.Node {
	info, err := s.snapshot.Get(name)
	if err != nil {
		return nil
	}
	return info.Node()
}

// assume reserves b's node for its pod: Reserve and Permit. (schedule_one.go, assumeAndReserve and
// prepareForBindingCycle.) No in-tree plugin makes a pod wait at Permit.
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

// noteFailure notes in a why its pod was not placed, and keeps what upstream's failure handling needs to know in
// Conclude.
func (s *Scheduler) noteFailure(a *Attempt, profile framework.Framework, state fwk.CycleState, p *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo) {
	a.Message = status.Message()
	if fit, ok := status.AsError().(*framework.FitError); ok {
		a.Reasons = s.reasons(fit)
	}
	a.rejected = &rejected{profile, p, status, nominating, state}
}

// Undo takes attempt a back: what it assumed, and the preemption that it began. The pod stays in flight.
func (s *Scheduler) Undo(a *Attempt) {
	if a.Binding != nil {
		s.Forget(a.Binding)
	}
	s.giveUpEvictions(a.Pod.UID)
	a.Binding, a.rejected = nil, nil
}

// Conclude ends at now an attempt that did not place its pod: upstream's failure handling returns the pod to the queue, nominates it and writes its
// condition. It does nothing for attempts that did, and runs those of pod groups.
func (s *Scheduler) Conclude(now time.Time, a *Attempt) {
	if a.Group != nil {
		s.concludeGroup(now, a)
		return
	}
	r := a.rejected
	if r == nil {
		return
	}
	s.now, a.rejected = now, nil
	s.upstream.FailureHandler(quiet(context.Background()), r.profile, r.info, r.status, r.nominating, time.Now())
}

// Bind runs the rest of b's way, PreBind and Bind, at now. On success the pod has left the queue, and its
// binding is among Writes. On failure it is back in the queue. (schedule_one.go, bindingCycle.) No in-tree plugin has a PostBind.
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

// Fail says that b's binding failed at now: its node is free again, which may help others, and the pod
// goes back to the queue as after an error. (schedule_one.go, handleBindingCycleError.)
func (s *Scheduler) Fail(now time.Time, b *Binding, err error) { s.fail(now, b, fwk.AsStatus(err)) }

func (s *Scheduler) fail(now time.Time, b *Binding, status *fwk.Status) {
	s.now = now
	ctx := quiet(context.Background())
	free := s.unreserve(ctx, b)
	if free && !status.IsRejected() {
		s.queue.MoveAllToActiveOrBackoffQueue(now, framework.EventAssignedPodDelete, b.Pod, nil, nil)
	}
	s.upstream.FailureHandler(ctx, b.profile, b.info, status, clearNominatedNode(), time.Now())
	if free && status.IsRejected() { // then the room that it leaves is no reason for the pod itself
		others := func(pod *v1.Pod) bool { return pod.UID != b.Pod.UID }
		s.queue.MoveAllToActiveOrBackoffQueue(now, framework.EventAssignedPodDelete, b.Pod, nil, others)
	}
}

// Forget takes back that b's pod is assumed, without a word to the queue: it was seen elsewhere.
func (s *Scheduler) Forget(b *Binding) { s.unreserve(quiet(context.Background()), b) }

// Confirm says that b's pod was seen bound there: the plugins hold nothing in reserve for it any more, such as a claim's devices.
func (s *Scheduler) Confirm(b *Binding) {
	b.profile.RunReservePluginsUnreserve(quiet(context.Background()), b.state, b.Pod, b.Node)
}

// unreserve reports whether b's node is free of its pod: someone else may have bound it meanwhile.
func (s *Scheduler) unreserve(ctx context.Context, b *Binding) bool {
	b.profile.RunReservePluginsUnreserve(ctx, b.state, b.Pod, b.Node)
	return s.upstream.Cache.ForgetPod(klog.Logger{}, b.Pod) == nil
}

// reasons counts the nodes of a diagnosis.
func (s *Scheduler) reasons(fit *framework.FitError) []Reason {
	counts := map[Reason]int{}
	count := func(status *fwk.Status, plugin string, nodes int) {
		for _, text := range status.Reasons() {
			counts[Reason{Plugin: plugin, Text: text, Final: status.Code() == fwk.UnschedulableAndUnresolvable}] += nodes
		}
	}
	d := &fit.Diagnosis
	d.NodeToStatus.ForEachExplicitNode(func(_ string, status *fwk.Status) {
		// Upstream does not say who spoke if it was an extender.
		count(status, cmp.Or(status.Plugin(), framework.ExtenderName), 1)
	})
	if absent := fit.NumAllNodes - d.NodeToStatus.Len(); absent > 0 {
		status := d.NodeToStatus.AbsentNodesStatus()
		count(status, cmp.Or(status.Plugin(), narrower(d, status)), absent)
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

// narrower names the PreFilter plugin that left only some nodes to look at, of which upstream tells in
// words alone. Several plugins have no name. (schedule_one.go, findNodesThatFitPod.)
func narrower(d *framework.Diagnosis, absent *fwk.Status) string {
	for plugin := range d.UnschedulablePlugins {
		if strings.Contains(absent.Message(), fmt.Sprint([]string{plugin})) {
			return plugin
		}
	}
	return ""
}

// queuedPodInfo is what upstream's plugins and failure handling know of a popped pod. It has no signature: upstream reuses the verdict on an alike
// pod for half a second by the wall clock, which would make runs differ. An error is a term of the pod's affinity that is left out.
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
