package cycle

import (
	"context"
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/schedq/schedq/queue"
)

// What a real scheduler's log tells of its attempts is compared with this one attempt by attempt, whatever our
// queue makes of the pods: the tests in decisions judge each pod and place it where the real one did.

// Verdict is what an attempt would come to.
type Verdict struct {
	// Node is one that the pod fits on, the best. Empty if there is none.
	Node string
	// Plugins are those that rejected the pod, sorted: what the queue would be told. None although Node
	// is empty means an error, or a cluster without nodes.
	Plugins []string
	// Message says why the pod does not fit, without what preemption has to say.
	Message string
	// Reasons are who said that, and of how many nodes.
	Reasons []Reason
}

// Judge says what an attempt of pod would come to now. No pod is assumed, no preemption begins, and the
// queue hears nothing; only where in a large cluster the next search begins changes.
func (s *Scheduler) Judge(pod *v1.Pod) (Verdict, error) {
	profile, p, err := s.prepareAttempt(pod)
	if err != nil {
		return Verdict{}, err
	}
	result, err := s.upstream.SchedulePod(quiet(context.Background()), profile, framework.NewCycleState(), p)
	var fit *framework.FitError
	switch {
	case err == nil:
		return Verdict{Node: result.SuggestedHost}, nil
	case errors.Is(err, scheduler.ErrNoNodesAvailable):
		return Verdict{Message: err.Error()}, nil
	case errors.As(err, &fit):
		s.wording.Apply(fit, s.snapshotNode)
		return Verdict{Plugins: sets.List(fit.Diagnosis.UnschedulablePlugins.Union(fit.Diagnosis.PendingPlugins)), Message: err.Error(), Reasons: s.reasons(fit)}, nil
	}
	return Verdict{Message: err.Error()}, nil
}

// Heard returns the node of that name as the scheduler has heard of it, or nil.
func (s *Scheduler) Heard(name string) *v1.Node {
	heard, _ := s.watches.get(&v1.Node{}, "", name).(*v1.Node)
	return heard
}

// Differs reports whether attempts could come to something else by node than by heard (eventhandlers.go, updateNodeInCache).
func (s *Scheduler) Differs(node, heard *v1.Node) bool {
	return len(framework.NodeSchedulingPropertiesChange(node, heard)) > 0
}

// WouldWake reports whether pod, if it sleeps, would be woken by hearing that obj is as it is, or by hearing that it is gone: of a node or
// of a pod that has one. Of others, and of nodes in releases without hints, it is always false: that is not known.
func (s *Scheduler) WouldWake(pod *v1.Pod, obj runtime.Object, gone bool) bool {
	wakes := func(event fwk.ClusterEvent, oldObj, newObj any) bool {
		return s.queue.WouldWake(pod.Namespace, pod.Name, event, oldObj, newObj)
	}
	switch obj := obj.(type) {
	case *v1.Pod:
		return gone && wakes(framework.EventAssignedPodDelete, obj, nil)
	case *v1.Node:
		heard := s.Heard(obj.Name)
		switch {
		case s.queue.Options().Rules.Waking != queue.ByHints:
			return false
		case gone:
			return wakes(fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Delete}, obj, nil)
		case heard == nil:
			return wakes(fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}, nil, obj)
		}
		for _, event := range framework.NodeSchedulingPropertiesChange(obj, heard) {
			if wakes(event, heard, obj) {
				return true
			}
		}
	}
	return false
}

// Place assumes pod on a node, as at the end of an attempt that chose that node. It fails if the node is
// not there or the plugins do not let it.
func (s *Scheduler) Place(pod *v1.Pod, node string) (*Binding, error) {
	profile, p, err := s.prepareAttempt(pod)
	if err != nil {
		return nil, err
	}
	ctx, state := quiet(context.Background()), framework.NewCycleState()
	// What Reserve needs, plugins keep in the state when they filter.
	_, status, _ := profile.RunPreFilterPlugins(ctx, state, pod)
	if status.IsSuccess() {
		var info fwk.NodeInfo
		if info, err = s.snapshot.Get(node); err != nil {
			return nil, err
		}
		status = profile.RunFilterPluginsWithNominatedPods(ctx, state, pod, info)
	}
	b := newBinding(profile, state, p, node)
	if status.IsSuccess() {
		status = s.assume(ctx, b)
	}
	if !status.IsSuccess() {
		return nil, status.AsError()
	}
	return b, nil
}

// prepareAttempt returns the framework of pod's profile, and pod as upstream's plugins know a popped one, after
// taking a new snapshot of the nodes. It fails if no profile is there for pod, a term of its affinity can't be read,
// or upstream fails to take the snapshot.
func (s *Scheduler) prepareAttempt(pod *v1.Pod) (framework.Framework, *framework.QueuedPodInfo, error) {
	profile, ok := s.profiles[pod.Spec.SchedulerName]
	if !ok {
		return nil, nil, fmt.Errorf("there is no profile for the scheduler name %q", pod.Spec.SchedulerName)
	}
	p, err := queuedPodInfo(&queue.PodInfo{Pod: pod})
	if err != nil {
		return nil, nil, err
	}
	return profile, p, s.upstream.Cache.UpdateSnapshot(klog.Logger{}, s.snapshot)
}
