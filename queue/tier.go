// Package queue is the scheduling queue of kube-scheduler v1.37 as a pure state machine: activeQ,
// backoffQ, unschedulable pods, gated pods and pods in flight.
//
// It models k8s.io/kubernetes/pkg/scheduler/backend/queue. Unlike upstream it has no goroutine, no lock
// and no clock: every method takes the time, and whoever owns the queue calls the two flushes when they
// are due. The same calls give the same result. Every move is handed to an Observer as a value.
//
//	Add ──────▶ activeQ ──── Pop ───▶ in flight ───▶ placed: Done
//	  │ a gate    ▲   ▲                  │
//	  │ holds it  │   │ its backoff      │ no node: AddUnschedulableIfNotPresent
//	  ▼           │   │ is over          ▼
//	gated ────────┘   backoffQ ◀────── unschedulable
//	   the gates open          an event that a plugin registered for, and whose hint says so,
//	                           or five minutes: to backoffQ, or to activeQ if its backoff is over
//
// An event that comes while a pod is in flight is kept, and counts when its attempt has failed. With PopFromBackoffQ an
// idle loop takes pods out of backoffQ, too. What is else in releases before v1.37 is an option: see Rules.
//
// It imports nothing of the project.
package queue

import "fmt"

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
