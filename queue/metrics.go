package queue

import "maps"

// Incoming is a pair of labels of the counter scheduler_queue_incoming_pods_total. Queue is Active,
// Backoff or Unschedulable; gated pods count as unschedulable there.
type Incoming struct {
	Queue Tier
	Event string
}

// IncomingPodsTotal returns scheduler_queue_incoming_pods_total: how many pods entered each queue, by
// the event that sent them.
func (q *Queue) IncomingPodsTotal() map[Incoming]int64 { return maps.Clone(q.incoming) }

func (q *Queue) count(queue Tier, event string) { q.incoming[Incoming{queue, event}]++ }

// PendingPods returns scheduler_pending_pods for a value of its label queue: Active, Backoff,
// Unschedulable (without the gated pods) or Gated; for InFlight the number of pods in flight. It is 0
// for any other tier.
func (q *Queue) PendingPods(tier Tier) int {
	switch tier {
	case Active:
		return len(q.activeQ.items)
	case Backoff:
		return len(q.backoffQ.items) + len(q.errorBackoffQ.items)
	case Unschedulable:
		return len(q.unschedulable) - q.gated
	case Gated:
		return q.gated
	case InFlight:
		return len(q.inFlight.byUID)
	}
	return 0
}

// CanPop reports whether Pop would find a pod to take.
func (q *Queue) CanPop() bool {
	return len(q.activeQ.items) > 0 || q.opts.PopFromBackoffQ && len(q.backoffQ.items) > 0
}
