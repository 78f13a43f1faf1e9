package cluster

import (
	"time"

	"github.com/schedq/schedq/queue"
	fwk "github.com/schedq/schedq/queue/framework"
	"github.com/schedq/schedq/queue/injectable"
	"github.com/schedq/schedq/queue/pluginname"
)

// GatesEliminated is what an update of a pod means that removes its last scheduling gate.
var GatesEliminated = fwk.ClusterEvent{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodSchedulingGatesEliminated}

// UnscheduledPodAdd is the label of a new pod.
var UnscheduledPodAdd = fwk.ClusterEvent{Resource: fwk.UnscheduledPod, ActionType: fwk.Add}.Label()

// Injection returns what a queue does of which a person injects name, one of injectable.Names, or nil if there is none of
// that name.
func Injection(name string) func(q *queue.Queue, now time.Time) {
	switch name {
	case injectable.BackoffFlush:
		return func(q *queue.Queue, now time.Time) { q.FlushBackoffCompleted(now) }
	case injectable.LeftoverFlush:
		return func(q *queue.Queue, now time.Time) { q.FlushUnschedulableLeftover(now) }
	}
	event, ok := injectable.Event(name)
	if !ok {
		return nil
	}
	return func(q *queue.Queue, now time.Time) { q.MoveAllToActiveOrBackoffQueue(now, event, nil, nil, nil) }
}

// RejectorPlugins returns the names of the in-tree plugins of v1.37 that can reject a pod, by how often
// one meets them.
func RejectorPlugins() []string {
	return []string{
		pluginname.NodeResourcesFit, pluginname.TaintToleration, pluginname.NodeAffinity, pluginname.NodeUnschedulable, pluginname.InterPodAffinity,
		pluginname.PodTopologySpread, pluginname.VolumeBinding, pluginname.VolumeRestrictions, pluginname.VolumeZone, pluginname.NodeVolumeLimits,
		pluginname.NodePorts, pluginname.NodeName, pluginname.DynamicResources, pluginname.NodeDeclaredFeatures,
	}
}
