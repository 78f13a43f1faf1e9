package queue

import "time"

// Restore puts a pod that is not queued into a queued tier, with the attempts, times and plugins of p, as
// one that has been there before: what is not known of p is its zero value. No plugin and no hint is
// asked, and the Observer is told of a move from no tier, without an event.
func (q *Queue) Restore(now time.Time, p PodInfo) {
	t := now.UnixNano()
	if old := q.byName.get(&q.entries, p.Pod.Namespace, p.Pod.Name); old != none {
		q.detach(old)
		q.byName.remove(&q.entries, p.Pod.Namespace, p.Pod.Name)
		q.entries.release(old)
	}
	q.nominated.add(p.Pod, p.Pod.Status.NominatedNodeName)
	i := q.newEntry(t, p.Pod)
	e := q.entries.at(i)
	e.attempts, e.unschedulableCount, e.errorsCount = int32(p.Attempts), int32(p.UnschedulableCount), int32(p.ConsecutiveErrorsCount)
	e.unschedulablePlugins = q.sets.of(p.UnschedulablePlugins...)
	e.pendingPlugins = q.sets.of(p.PendingPlugins...)
	if !p.Timestamp.IsZero() {
		e.timestamp = p.Timestamp.UnixNano()
	}
	e.initialAttempt = e.timestamp
	if !p.InitialAttemptTimestamp.IsZero() {
		e.initialAttempt = p.InitialAttemptTimestamp.UnixNano()
	}
	q.backingOff(t, e) // works out the expiry
	q.attach(i, p.Tier)
	q.moved(t, i, None, p.Tier, "")
}
