package session

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
)

// Pod is a pod as a person sees it: what the queue knows of it and what the source told about it, at
// one moment. It is never modified.
type Pod struct {
	queue.PodInfo
	Key types.NamespacedName
	// Priority is what activeQ sorts by first.
	Priority int32
	// Since is when the pod entered its tier, and Arrived when it came to the queue.
	Since, Arrived time.Time
	// Observed is true if the pod is where the real scheduler was seen to have it, false if the model
	// put it there.
	Observed bool
	// Estimated is true if the pod was there before its source came to the scheduler: attempts, times and
	// tier are what the cluster's traces of it suggest, until the next attempt.
	Estimated bool
	// Message is the scheduler's explanation of the last failed attempt.
	Message sources.SafeText
	// Verdict is what the last failed attempt came to in the model. Nil if there was none.
	Verdict *Verdict
	// Group is the pod group that it is queued with. Empty if it is queued alone.
	Group string
	// Node is where the pod was bound. Empty before.
	Node string
	// Last is the move that brought the pod here, and the end of the chain of all its moves.
	Last *Transition
}

// Transition is one move in a session's history.
type Transition struct {
	queue.Transition
	// Seq is its number in the history, from 0.
	Seq int
	// Pod is the pod right after the move. Its Last is this transition.
	Pod *Pod
	// Prev is the same pod's move before this one, or nil.
	Prev *Transition

	change int // its place among the history's changes
}

// Restated reports whether the scheduler said a second time where the pod is, and nothing moved.
func (t *Transition) Restated() bool { return t.From == t.To && t.Observed && t.To != queue.Gated }

// PutBack reports whether the model had woken the pod, and took that back because no attempt was seen.
func (t *Transition) PutBack() bool {
	return t.To == queue.Unschedulable && t.Event == "" && (t.From == queue.Active || t.From == queue.Backoff)
}

// RejectorPlugins returns all plugins that rejected the last attempt, sorted within each kind.
func (p *Pod) RejectorPlugins() []string {
	if len(p.PendingPlugins) == 0 {
		return p.UnschedulablePlugins
	}
	return append(append([]string{}, p.UnschedulablePlugins...), p.PendingPlugins...)
}

// PriorityKnown reports whether Priority is the pod's, and not 0 for want of its object.
func (p *Pod) PriorityKnown() bool { return p.PodInfo.Pod.Spec.Priority != nil }

// Labels returns the pod's labels, which must not be modified.
func (p *Pod) Labels() map[string]string { return p.PodInfo.Pod.Labels }

// Owner returns the pod's controller. Both are empty if it has none, or if it is not known.
func (p *Pod) Owner() (kind, name string) {
	for _, o := range p.PodInfo.Pod.OwnerReferences {
		if o.Controller != nil && *o.Controller {
			return o.Kind, o.Name
		}
	}
	return "", ""
}

// placeholder is the object of a pod of which only the name is known. Its UID is its name, so that the
// queue can tell pods in flight apart.
func placeholder(key types.NamespacedName) *v1.Pod {
	pod := &v1.Pod{}
	pod.Namespace, pod.Name, pod.UID = key.Namespace, key.Name, types.UID(key.String())
	return pod
}
