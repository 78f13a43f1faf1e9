package cluster

import (
	"time"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"github.com/schedq/schedq/queue"
)

// UnscheduledPodAdd is the label of a new pod.
var UnscheduledPodAdd = fwk.ClusterEvent{Resource: fwk.UnscheduledPod, ActionType: fwk.Add}.Label()

// Injection returns the queue action to inject for name, one of queue.InjectableNames, or nil if there is
// none with that name.
func Injection(name string) func(q *queue.Queue, now time.Time) {
	switch name {
	case queue.BackoffFlush:
		return func(q *queue.Queue, now time.Time) { q.FlushBackoffCompleted(now) }
	case queue.LeftoverFlush:
		return func(q *queue.Queue, now time.Time) { q.FlushUnschedulableLeftover(now) }
	}
	event, ok := queue.InjectableEvent(name)
	if !ok {
		return nil
	}
	return func(q *queue.Queue, now time.Time) { q.MoveAllToActiveOrBackoffQueue(now, event, nil, nil, nil) }
}

// RejectorPlugins returns the in-tree plugins of v1.37 that can reject a pod, the most common first.
func RejectorPlugins() []string {
	return []string{
		names.NodeResourcesFit, names.TaintToleration, names.NodeAffinity, names.NodeUnschedulable, names.InterPodAffinity,
		names.PodTopologySpread, names.VolumeBinding, names.VolumeRestrictions, names.VolumeZone, names.NodeVolumeLimits,
		names.NodePorts, names.NodeName, names.DynamicResources, names.NodeDeclaredFeatures,
	}
}
