package queue

import (
	"time"

	v1 "k8s.io/api/core/v1"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// Options are the settings of a scheduler that its queue obeys.
type Options struct {
	// PodInitialBackoff is the backoff after the first failure; it doubles with each. 1 s by default.
	PodInitialBackoff time.Duration
	// PodMaxBackoff caps the backoff. 10 s by default; 0 disables backoff.
	PodMaxBackoff time.Duration
	// PodMaxInUnschedulablePods is how long a pod may stay unschedulable before the leftover flush
	// moves it. 5 min by default.
	PodMaxInUnschedulablePods time.Duration
	// PopFromBackoffQ is the feature gate SchedulerPopFromBackoffQ: an empty activeQ is filled from
	// backoffQ before its time, and backoff expiries are cut to whole seconds. On by default since 1.33.
	PopFromBackoffQ bool
	// GenericWorkload is the feature gate of that name: the pods of a pod group are queued as one. Off by
	// default.
	GenericWorkload bool
	// ClockAhead is how far the clock of the times that the queue is given is ahead of the scheduler's, by which expiries are cut
	// to whole seconds. Negative if it is behind.
	ClockAhead time.Duration
	// Rules are what an older release did otherwise.
	Rules Rules
}

// WindowOf returns when the second begins, by the scheduler's clock, in which t is: the ordering window of backoff_queue.go, alignToWindow.
func (o Options) WindowOf(t time.Time) time.Time {
	return t.Add(-o.ClockAhead).Truncate(BackoffFlushInterval).Add(o.ClockAhead)
}

// Defaults returns the options of kube-scheduler v1.37 without any configuration.
func Defaults() Options {
	return Options{
		PodInitialBackoff:         time.Second,
		PodMaxBackoff:             10 * time.Second,
		PodMaxInUnschedulablePods: 5 * time.Minute,
		PopFromBackoffQ:           true,
	}
}

// Flush intervals of scheduling_queue.go (Run) and backoff_queue.go (backoffQOrderingWindowDuration).
const (
	// BackoffFlushInterval is both the interval of FlushBackoffCompleted and the width of the window
	// within which pods leave backoffQ by priority.
	BackoffFlushInterval = time.Second
	// LeftoverFlushInterval is the interval of FlushUnschedulableLeftover.
	LeftoverFlushInterval = 30 * time.Second
)

// Plugins is what the queue asks of the scheduling framework. Implementations must be deterministic and
// must not call the queue.
type Plugins interface {
	// PreEnqueue returns the name of the plugin that keeps pod out of activeQ, or "" if none does.
	// gating is the plugin that gated the pod before, which upstream asks first.
	PreEnqueue(pod *v1.Pod, gating string) string
	// Interested reports whether any plugin registered for an event that matches event.
	Interested(event fwk.ClusterEvent) bool
	// Registered reports whether plugin registered for an event that matches event.
	Registered(plugin string, event fwk.ClusterEvent) bool
	// Hint asks plugin's queueing hint functions for event whether it may make pod schedulable. It
	// returns QueueSkip if plugin did not register for event. An error counts as Queue.
	Hint(plugin string, pod *v1.Pod, event fwk.ClusterEvent, oldObj, newObj any) (fwk.QueueingHint, error)
}

// SchedulingGates is the name of the plugin behind spec.schedulingGates.
const SchedulingGates = names.SchedulingGates

// EveryEvent is the Plugins of a framework whose plugins have no queueing hints: every event may help
// every pod. It knows one PreEnqueue plugin, SchedulingGates.
type EveryEvent struct{}

// PreEnqueue implements Plugins: a pod with scheduling gates is gated.
func (EveryEvent) PreEnqueue(pod *v1.Pod, _ string) string {
	if len(pod.Spec.SchedulingGates) > 0 {
		return SchedulingGates
	}
	return ""
}

// Interested implements Plugins.
func (EveryEvent) Interested(fwk.ClusterEvent) bool { return true }

// Registered implements Plugins: SchedulingGates waits for its own pod's gates alone.
func (EveryEvent) Registered(plugin string, event fwk.ClusterEvent) bool {
	return plugin != SchedulingGates || event.ActionType == fwk.UpdatePodSchedulingGatesEliminated
}

// Hint implements Plugins: Queue for every event that plugin registered for.
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
