package queue

// Incoming is a pair of labels of the counter scheduler_queue_incoming_pods_total. Queue is Active,
// Backoff or Unschedulable; gated pods count as unschedulable there.
type Incoming struct {
	Queue Tier
	Event string
}

// incoming counts by labels. The labels of one count are mostly those of the count before.
type incoming struct {
	counts map[Incoming]*int64
	last   Incoming
	of     *int64 // counts[last]
}

func newIncoming() incoming { return incoming{counts: map[Incoming]*int64{}} }

func (c *incoming) add(labels Incoming, n int64) {
	if c.of == nil || labels != c.last {
		if c.counts[labels] == nil {
			c.counts[labels] = new(int64)
		}
		c.last, c.of = labels, c.counts[labels]
	}
	*c.of += n
}

func (c *incoming) clone() incoming {
	copied := newIncoming()
	for labels, n := range c.counts {
		copied.add(labels, *n)
	}
	return copied
}

// IncomingPodsTotal returns scheduler_queue_incoming_pods_total: how many pods entered each queue, by
// the event that sent them.
func (q *Queue) IncomingPodsTotal() map[Incoming]int64 {
	totals := make(map[Incoming]int64, len(q.incoming.counts))
	for labels, n := range q.incoming.counts {
		if *n != 0 {
			totals[labels] = *n
		}
	}
	return totals
}

// count counts the pods of the entity i that came to a queue.
func (q *Queue) count(i int32, queue Tier, event string) {
	q.incoming.add(Incoming{queue, event}, int64(q.size(i)))
}

// PendingPods returns scheduler_pending_pods for a value of its label queue: Active, Backoff,
// Unschedulable (without the gated pods) or Gated; for InFlight the number of pods in flight; for Incomplete
// and Pending those that wait for their pod group. It is 0 for any other tier.
func (q *Queue) PendingPods(tier Tier) int {
	if tier == None || tier == Scheduled || tier == Deleted || tier >= tierCount {
		return 0
	}
	return q.pods[tier]
}

// CanPop reports whether Pop would find a pod to take.
func (q *Queue) CanPop() bool {
	return len(q.activeQ.items) > 0 || q.opts.PopFromBackoffQ && len(q.backoffQ.items) > 0
}
