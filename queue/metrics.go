package queue

// Incoming is a pair of label values of the counter scheduler_queue_incoming_pods_total. Queue is Active,
// Backoff or Unschedulable; gated pods count as unschedulable.
type Incoming struct {
	Queue Tier
	Event string
}

// incoming counts pods by label values, and caches the last counter because most pods in a row share it.
type incoming struct {
	counts    map[Incoming]*int64
	last      Incoming
	lastCount *int64 // counts[last]
}

func newIncoming() incoming { return incoming{counts: map[Incoming]*int64{}} }

func (c *incoming) add(labels Incoming, n int64) {
	if c.lastCount == nil || labels != c.last {
		if c.counts[labels] == nil {
			c.counts[labels] = new(int64)
		}
		c.last, c.lastCount = labels, c.counts[labels]
	}
	*c.lastCount += n
}

func (c *incoming) clone() incoming {
	copied := newIncoming()
	for labels, n := range c.counts {
		copied.add(labels, *n)
	}
	return copied
}

// IncomingPodsTotal returns scheduler_queue_incoming_pods_total: the number of pods that entered each
// queue, by event.
func (q *Queue) IncomingPodsTotal() map[Incoming]int64 {
	totals := make(map[Incoming]int64, len(q.incoming.counts))
	for labels, n := range q.incoming.counts {
		if *n != 0 {
			totals[labels] = *n
		}
	}
	return totals
}

// count counts the pods of entity i as incoming.
func (q *Queue) count(i int32, queue Tier, event string) {
	q.incoming.add(Incoming{queue, event}, int64(q.size(i)))
}

// PendingPods returns the number of pods in a tier, and 0 for None, Scheduled and Deleted. For Active, Backoff,
// Unschedulable and Gated, it is the metric scheduler_pending_pods.
func (q *Queue) PendingPods(tier Tier) int {
	if tier == None || tier == Scheduled || tier == Deleted || tier >= tierCount {
		return 0
	}
	return q.pods[tier]
}

// CanPop reports whether there is a pod to pop.
func (q *Queue) CanPop() bool {
	return len(q.activeQ.items) > 0 || q.opts.PopFromBackoffQ && len(q.backoffQ.items) > 0
}
