package queue

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"

	fwk "k8s.io/kube-scheduler/framework"
)

// Tier is the place a pod is in. The first five are the queue's own; Scheduled and Deleted are where a
// pod goes when it leaves; in the last two it waits for its pod group.
type Tier uint8

const (
	// None: the queue does not know the pod.
	None Tier = iota
	// Active: in activeQ, ready to be popped.
	Active
	// Backoff: in backoffQ (or in its separate heap for errors), until the backoff expiry.
	Backoff
	// Unschedulable: tried and rejected, waiting for an event that could help.
	Unschedulable
	// Gated: kept out of activeQ by a PreEnqueue plugin. Upstream stores gated pods among the
	// unschedulable ones and counts them apart.
	Gated
	// InFlight: popped, and being scheduled or bound.
	InFlight
	// Scheduled: bound to a node.
	Scheduled
	// Deleted: taken out of the queue by the delete handler, which upstream also calls when it sees a
	// pod's binding. What shows the queue to a person tells the two apart (package timeline).
	Deleted
	// Incomplete: a pod whose PodGroup was not observed yet. Only with GenericWorkload.
	Incomplete
	// Pending: a pod whose pod group is being scheduled without it, and is then requeued with it.
	Pending

	tierCount
)

var tierNames = [tierCount]string{"", "active", "backoff", "unschedulable", "gated", "inflight", "scheduled", "deleted", "incomplete", "pending"}

// String returns the tier's name in JSON: "active", "inflight". None is the empty string.
func (t Tier) String() string {
	if t < tierCount {
		return tierNames[t]
	}
	return fmt.Sprintf("Tier(%d)", uint8(t))
}

// ParseTier returns the tier of that JSON name.
func ParseTier(name string) (Tier, error) {
	for t, n := range tierNames {
		if n == name && n != "" {
			return Tier(t), nil
		}
	}
	return None, fmt.Errorf("unknown tier %q", name)
}

// Queued reports whether a pod in t waits in one of the queue's three tiers (gated included).
func (t Tier) Queued() bool { return t >= Active && t <= Gated }

// Labels of moves that no cluster event caused: pkg/scheduler/framework/events.go, v1.37.
const (
	ScheduleAttemptFailure = "ScheduleAttemptFailure"
	BackoffComplete        = "BackoffComplete"
	PopFromBackoffQ        = "PopFromBackoffQ"
	ForceActivate          = "ForceActivate"
	UnschedulableTimeout   = "UnschedulableTimeout"
)

// Events that the queue makes itself, and the labels of a new pod and of a changed one.
var (
	eventUnschedulableTimeout = fwk.ClusterEvent{Resource: fwk.WildCard, ActionType: fwk.All, CustomLabel: UnschedulableTimeout}
	eventForceActivate        = fwk.ClusterEvent{Resource: fwk.WildCard, ActionType: fwk.All, CustomLabel: ForceActivate}
	unscheduledPodAdd         = fwk.ClusterEvent{Resource: fwk.UnscheduledPod, ActionType: fwk.Add}.Label()
	unscheduledPodUpdate      = fwk.ClusterEvent{Resource: fwk.UnscheduledPod, ActionType: fwk.Update}.Label()
)

// Transition is one pod's move, with what the queue knew of the pod right after it.
type Transition struct {
	// Pod is the object as last given to the queue. It must not be modified.
	Pod  *v1.Pod
	From Tier
	To   Tier
	// Event is upstream's label of what caused the move. Empty when a pod is popped, bound or deleted.
	Event string
	Time  time.Time
	// Attempts counts the pod's scheduling attempts, the present one included.
	Attempts int
	// BackoffExpiry is when the backoff ends. Zero if the pod has none.
	BackoffExpiry time.Time
	// UnschedulablePlugins and PendingPlugins rejected the last attempt, each sorted. They are shared
	// and must not be modified.
	UnschedulablePlugins []string
	PendingPlugins       []string
	// GatingPlugin is the PreEnqueue plugin that gates the pod. Only if To is Gated.
	GatingPlugin string
	// Observed is true if the move was seen in the real scheduler, false if it was modelled.
	Observed bool
}

// Observer is told what happens in the queue, in the order in which it happens, from within the calls
// that cause it. It must not call the queue.
type Observer interface {
	// Moved is called for every move.
	Moved(Transition)
	// Failed is called for what upstream logs as an error and then goes on.
	Failed(error)
}

// discard is an Observer that does not look.
type discard struct{}

func (discard) Moved(Transition) {}
func (discard) Failed(error)     {}
