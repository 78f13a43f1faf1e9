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

// Verdict is the result of a hypothetical attempt.
type Verdict struct {
	// Node is the best node for the pod, empty if it fits nowhere.
	Node string
	// Plugins are the plugins that rejected the pod, sorted. If Plugins and Node are empty, an error occurred
	// or there are no nodes.
	Plugins []string
	// Message says why the pod does not fit, without the result of preemption.
	Message string
	// Reasons count the rejected nodes by plugin and reason.
	Reasons []Reason
}

// Judge returns the result of a hypothetical attempt of pod now. It assumes no pod, starts no preemption and does not
// change the queue. It changes only where the next search for nodes starts in a large cluster.
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
		s.wording.apply(fit, s.snapshotNode)
		return Verdict{Plugins: sets.List(fit.Diagnosis.UnschedulablePlugins.Union(fit.Diagnosis.PendingPlugins)), Message: err.Error(), Reasons: s.reasons(fit)}, nil
	}
	return Verdict{Message: err.Error()}, nil
}

// KnownNode returns the node of that name in the scheduler's informers, or nil.
func (s *Scheduler) KnownNode(name string) *v1.Node {
	node, _ := s.watches.get(&v1.Node{}, "", name).(*v1.Node)
	return node
}

// NodeChanged reports whether the difference between two objects of a node matters to attempts. It models
// updateNodeInCache in eventhandlers.go.
func (s *Scheduler) NodeChanged(oldNode, newNode *v1.Node) bool {
	return len(framework.NodeSchedulingPropertiesChange(newNode, oldNode)) > 0
}

// WouldWake reports whether the unschedulable pod would be woken by the addition or update of the node obj, or by the
// deletion of obj, a node or an assigned pod. It is false for other objects, and for nodes in releases without hints.
func (s *Scheduler) WouldWake(pod *v1.Pod, obj runtime.Object, deleted bool) bool {
	wakes := func(event fwk.ClusterEvent, oldObj, newObj any) bool {
		return s.queue.WouldWake(pod.Namespace, pod.Name, event, oldObj, newObj)
	}
	switch obj := obj.(type) {
	case *v1.Pod:
		return deleted && wakes(framework.EventAssignedPodDelete, obj, nil)
	case *v1.Node:
		known := s.KnownNode(obj.Name)
		switch {
		case s.queue.Options().Rules.Waking != queue.ByHints:
			return false
		case deleted:
			return wakes(fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Delete}, obj, nil)
		case known == nil:
			return wakes(fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}, nil, obj)
		}
		for _, event := range framework.NodeSchedulingPropertiesChange(obj, known) {
			if wakes(event, known, obj) {
				return true
			}
		}
	}
	return false
}

// Place assumes pod on node, as a successful attempt does. It fails if the node does not exist or a plugin rejects it.
func (s *Scheduler) Place(pod *v1.Pod, node string) (*Binding, error) {
	profile, p, err := s.prepareAttempt(pod)
	if err != nil {
		return nil, err
	}
	ctx, state := quiet(context.Background()), framework.NewCycleState()
	// Reserve needs the state that plugins write in PreFilter and Filter.
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

// prepareAttempt updates the snapshot, and returns the framework of pod's profile and pod as a popped pod. It fails if
// there is no profile for pod, or pod has an invalid affinity term.
func (s *Scheduler) prepareAttempt(pod *v1.Pod) (framework.Framework, *framework.QueuedPodInfo, error) {
	profile, ok := s.profiles[pod.Spec.SchedulerName]
	if !ok {
		return nil, nil, fmt.Errorf("profile not found for scheduler name %q", pod.Spec.SchedulerName)
	}
	p, err := queuedPodInfo(&queue.PodInfo{Pod: pod})
	if err != nil {
		return nil, nil, err
	}
	return profile, p, s.upstream.Cache.UpdateSnapshot(klog.Logger{}, s.snapshot)
}
