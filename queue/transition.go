package queue

import (
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

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
