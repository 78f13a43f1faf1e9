package queue

import (
	"time"

	v1 "k8s.io/api/core/v1"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// Options are the settings of a scheduler that affect its queue.
type Options struct {
	// PodInitialBackoff is the backoff after the first failure. It doubles with each further one.
	// Defaults to 1 s.
	PodInitialBackoff time.Duration
	// PodMaxBackoff limits the backoff. Defaults to 10 s; 0 disables backoff.
	PodMaxBackoff time.Duration
	// PodMaxInUnschedulablePods is how long a pod may stay unschedulable before the leftover flush
	// moves it. Defaults to 5 min.
	PodMaxInUnschedulablePods time.Duration
	// PopFromBackoffQ is the feature gate SchedulerPopFromBackoffQ: when activeQ is empty, pods are
	// popped from backoffQ before their backoff expires. Backoff expiries are truncated to whole
	// seconds. On by default since v1.33.
	PopFromBackoffQ bool
	// GenericWorkload is the feature gate of that name: the pods of a pod group are queued together. Off
	// by default.
	GenericWorkload bool
	// ClockAhead is how far the caller's clock is ahead of the scheduler's, which determines where a
	// whole second starts. Negative if the caller's clock is behind.
	ClockAhead time.Duration
	// Rules are the differences between an older release and v1.37.
	Rules Rules
}

// WindowOf returns the start of the second, on the scheduler's clock, that contains t. It models alignToWindow
// in backoff_queue.go.
func (o Options) WindowOf(t time.Time) time.Time {
	return t.Add(-o.ClockAhead).Truncate(BackoffFlushInterval).Add(o.ClockAhead)
}

// Defaults returns the default options of kube-scheduler v1.37.
func Defaults() Options {
	return Options{
		PodInitialBackoff:         time.Second,
		PodMaxBackoff:             10 * time.Second,
		PodMaxInUnschedulablePods: 5 * time.Minute,
		PopFromBackoffQ:           true,
	}
}

// Flush intervals, from Run in scheduling_queue.go and backoffQOrderingWindowDuration in backoff_queue.go.
const (
	// BackoffFlushInterval is the interval of FlushBackoffCompleted, and the length of the window within
	// which pods leave backoffQ by priority.
	BackoffFlushInterval = time.Second
	// LeftoverFlushInterval is the interval of FlushUnschedulableLeftover.
	LeftoverFlushInterval = 30 * time.Second
)

// Plugins is the queue's view of the scheduling framework. Implementations must be deterministic and must
// not call the queue.
type Plugins interface {
	// PreEnqueue returns the name of the plugin that gates pod, or "". gating is the plugin that gates
	// the pod now, which upstream asks first.
	PreEnqueue(pod *v1.Pod, gating string) string
	// Interested reports whether any plugin registered for an event that matches event.
	Interested(event fwk.ClusterEvent) bool
	// Registered reports whether plugin registered for an event that matches event.
	Registered(plugin string, event fwk.ClusterEvent) bool
	// Hint calls plugin's queueing hint functions for event and pod. It returns QueueSkip if plugin did
	// not register for event. An error counts as Queue.
	Hint(plugin string, pod *v1.Pod, event fwk.ClusterEvent, oldObj, newObj any) (fwk.QueueingHint, error)
}

// SchedulingGates is the name of the plugin that implements spec.schedulingGates.
const SchedulingGates = names.SchedulingGates

// EveryEvent implements Plugins for plugins without queueing hints: every event may make every pod
// schedulable. Its only PreEnqueue plugin is SchedulingGates.
type EveryEvent struct{}

// PreEnqueue implements Plugins. It gates pods with scheduling gates.
func (EveryEvent) PreEnqueue(pod *v1.Pod, _ string) string {
	if len(pod.Spec.SchedulingGates) > 0 {
		return SchedulingGates
	}
	return ""
}

// Interested implements Plugins.
func (EveryEvent) Interested(fwk.ClusterEvent) bool { return true }

// Registered implements Plugins. SchedulingGates is registered only for the removal of the pod's gates.
func (EveryEvent) Registered(plugin string, event fwk.ClusterEvent) bool {
	return plugin != SchedulingGates || event.ActionType == fwk.UpdatePodSchedulingGatesEliminated
}

// Hint implements Plugins. It returns Queue for every event that plugin registered for.
func (e EveryEvent) Hint(plugin string, _ *v1.Pod, event fwk.ClusterEvent, _, _ any) (fwk.QueueingHint, error) {
	if e.Registered(plugin, event) {
		return fwk.Queue, nil
	}
	return fwk.QueueSkip, nil
}

// isWildCard models framework.ClusterEventIsWildCard.
func isWildCard(event fwk.ClusterEvent) bool {
	return event.Resource == fwk.WildCard && event.ActionType == fwk.All
}
