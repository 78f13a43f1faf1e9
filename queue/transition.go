package queue

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"

	fwk "k8s.io/kube-scheduler/framework"
)

// Tier is the state of a pod: see the package documentation.
type Tier uint8

const (
	// None is the tier of a pod that the queue does not know.
	None Tier = iota
	// Active pods are in activeQ, ready to be popped.
	Active
	// Backoff pods are in backoffQ, or in its separate heap for errors, until their backoff expires.
	Backoff
	// Unschedulable pods were rejected, and wait for an event that may make them schedulable.
	Unschedulable
	// Gated pods were rejected by a PreEnqueue plugin. Upstream stores them among the unschedulable
	// pods and counts them separately.
	Gated
	// InFlight pods were popped, and are being scheduled or bound.
	InFlight
	// Scheduled pods left the queue because they were bound to a node.
	Scheduled
	// Deleted pods left the queue through the delete handler, which upstream also calls for a pod that
	// was bound. Package timeline distinguishes the two.
	Deleted
	// Incomplete pods wait for their PodGroup to be observed. Only with GenericWorkload.
	Incomplete
	// Pending pods wait for the end of their pod group's attempt, and are then requeued with the group.
	Pending

	tierCount
)

var tierNames = [tierCount]string{"", "active", "backoff", "unschedulable", "gated", "inflight", "scheduled", "deleted", "incomplete", "pending"}

// String returns the tier's name in JSON, such as "inflight". The name of None is empty.
func (t Tier) String() string {
	if t < tierCount {
		return tierNames[t]
	}
	return fmt.Sprintf("Tier(%d)", uint8(t))
}

// ParseTier returns the tier with that JSON name.
func ParseTier(name string) (Tier, error) {
	for t, n := range tierNames {
		if n == name && n != "" {
			return Tier(t), nil
		}
	}
	return None, fmt.Errorf("unknown tier %q", name)
}

// Queued reports whether t is Active, Backoff, Unschedulable or Gated.
func (t Tier) Queued() bool { return t >= Active && t <= Gated }

// Labels of moves without a cluster event, from pkg/scheduler/framework/events.go of v1.37.
const (
	ScheduleAttemptFailure = "ScheduleAttemptFailure"
	BackoffComplete        = "BackoffComplete"
	PopFromBackoffQ        = "PopFromBackoffQ"
	ForceActivate          = "ForceActivate"
	UnschedulableTimeout   = "UnschedulableTimeout"
)

// Events of the queue itself, and the labels of a new and of a changed pod.
var (
	eventUnschedulableTimeout = fwk.ClusterEvent{Resource: fwk.WildCard, ActionType: fwk.All, CustomLabel: UnschedulableTimeout}
	eventForceActivate        = fwk.ClusterEvent{Resource: fwk.WildCard, ActionType: fwk.All, CustomLabel: ForceActivate}
	unscheduledPodAdd         = fwk.ClusterEvent{Resource: fwk.UnscheduledPod, ActionType: fwk.Add}.Label()
	unscheduledPodUpdate      = fwk.ClusterEvent{Resource: fwk.UnscheduledPod, ActionType: fwk.Update}.Label()
)

// Transition is a move of one pod, with the pod's state after it.
type Transition struct {
	// Pod is the newest object that the queue received. The Observer must not modify it.
	Pod  *v1.Pod
	From Tier
	To   Tier
	// Event is upstream's label of the cause. Empty if the pod was popped, bound or deleted.
	Event string
	Time  time.Time
	// Attempts counts the pod's attempts, including the current one.
	Attempts int
	// BackoffExpiry is when the backoff ends, zero without a backoff.
	BackoffExpiry time.Time
	// UnschedulablePlugins and PendingPlugins rejected the last attempt. Both are sorted, and must not be
	// modified.
	UnschedulablePlugins []string
	PendingPlugins       []string
	// GatingPlugin is the PreEnqueue plugin that gates the pod. Set only if To is Gated.
	GatingPlugin string
	// Observed is true for a move of the real scheduler, and false for a modelled one.
	Observed bool
}

// Observer receives the queue's moves, in order, during the calls that cause them. It must not call the queue.
type Observer interface {
	// Moved is called for every move.
	Moved(Transition)
	// Failed is called for errors that upstream logs before it continues.
	Failed(error)
}

// noObserver is an Observer that ignores everything.
type noObserver struct{}

func (noObserver) Moved(Transition) {}
func (noObserver) Failed(error)     {}
