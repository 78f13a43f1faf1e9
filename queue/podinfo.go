package queue

import (
	"iter"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	fwk "k8s.io/kube-scheduler/framework"
)

// PodInfo is a copy of a pod's state, upstream's QueuedPodInfo.
type PodInfo struct {
	Pod  *v1.Pod
	Tier Tier
	// Attempts counts the times the pod was popped.
	Attempts int
	// UnschedulableCount counts the attempts that plugins rejected, and ConsecutiveErrorsCount the
	// errors since the last one. The backoff depends on ConsecutiveErrorsCount or, if that is 0, on
	// UnschedulableCount.
	UnschedulableCount     int
	ConsecutiveErrorsCount int
	// Timestamp is when the pod was added or last failed. activeQ sorts by it within a priority, and
	// the backoff and the leftover flush count from it.
	Timestamp time.Time
	// InitialAttemptTimestamp is when the pod first entered activeQ.
	InitialAttemptTimestamp time.Time
	// BackoffExpiry is when the backoff ends, zero without a backoff.
	BackoffExpiry time.Time
	// FlushTimestamp is when the leftover flush last moved the pod.
	FlushTimestamp       time.Time
	UnschedulablePlugins []string
	PendingPlugins       []string
	GatingPlugin         string
	// NominatedNode is the node that the pod is nominated to run on.
	NominatedNode string
}

func (q *Queue) info(i int32) PodInfo { return q.infoOf(q.entries.At(i), q.backoffOf(i)) }

// infoOf returns the state of pod e, with the backoff and flush of entity.
func (q *Queue) infoOf(e, entity *entry) PodInfo {
	return PodInfo{
		Pod: e.pod, Tier: e.tier,
		Attempts:                int(e.attempts),
		UnschedulableCount:      int(e.unschedulableCount),
		ConsecutiveErrorsCount:  int(e.errorsCount),
		Timestamp:               toTime(e.timestamp),
		InitialAttemptTimestamp: toTime(e.initialAttempt),
		BackoffExpiry:           toTime(entity.backoffExpiry),
		FlushTimestamp:          toTime(entity.flushed),
		UnschedulablePlugins:    q.sets.Names(e.unschedulablePlugins),
		PendingPlugins:          q.sets.Names(e.pendingPlugins),
		GatingPlugin:            q.sets.First(e.gatingPlugin),
		NominatedNode:           q.NominatedNode(e.pod.UID),
	}
}

// entryOf returns an entry with the state p, in no place.
func (q *Queue) entryOf(p *PodInfo) entry {
	return entry{
		pod: p.Pod, priority: priorityOf(p.Pod),
		attempts: int32(p.Attempts), unschedulableCount: int32(p.UnschedulableCount), errorsCount: int32(p.ConsecutiveErrorsCount),
		timestamp:            fromTime(p.Timestamp),
		initialAttempt:       fromTime(p.InitialAttemptTimestamp),
		backoffExpiry:        fromTime(p.BackoffExpiry),
		flushed:              fromTime(p.FlushTimestamp),
		unschedulablePlugins: q.sets.Of(p.UnschedulablePlugins...),
		pendingPlugins:       q.sets.Of(p.PendingPlugins...),
		gatingPlugin:         q.sets.Single(p.GatingPlugin),
	}
}

// Get returns the state of the named pod, and false if the queue does not know it. If a pod waits while an
// older one of the same name is in flight, Get returns the waiting one.
func (q *Queue) Get(namespace, name string) (PodInfo, bool) {
	if i := q.byName.Get(&q.entries, namespace, name); i != none {
		return q.info(i), true
	}
	return PodInfo{}, false
}

// Pods yields the pods in the tiers for which in returns true, such as Tier.Queued, in no particular order.
// The caller must not change the queue during the iteration.
func (q *Queue) Pods(in func(Tier) bool) iter.Seq[PodInfo] {
	return func(yield func(PodInfo) bool) {
		for i, e := range q.entries.All() {
			if e.pod != nil && in(e.tier) && !yield(q.info(i)) {
				return
			}
		}
	}
}

// Upcoming yields the queued pods in pop order, without pods queued with their pod group. The first k pods
// cost O(k log k). The caller must not change the queue during the iteration.
func (q *Queue) Upcoming() iter.Seq[*v1.Pod] {
	return func(yield func(*v1.Pod) bool) {
		for x := range q.activeQ.ordered() {
			if pod := q.entries.At(x.entry).pod; pod != nil && !yield(pod) {
				return
			}
		}
		if !q.opts.PopFromBackoffQ {
			return
		}
		for x := range q.backoffQ.ordered() {
			if pod := q.entries.At(x.entry).pod; pod != nil && !yield(pod) {
				return
			}
		}
	}
}

// InFlight yields the pods in flight in pop order.
func (q *Queue) InFlight() iter.Seq[PodInfo] {
	return func(yield func(PodInfo) bool) {
		for i := q.inFlight.first; i != none; i = q.entries.At(i).next {
			if !yield(q.info(i)) {
				return
			}
		}
	}
}

// EventsInFlight returns the cluster events since the pop of the pod in flight with that UID. If the attempt
// fails, its rejectors' hints are asked about them. It models clusterEventsForPod in active_queue.go.
func (q *Queue) EventsInFlight(uid types.UID) []fwk.ClusterEvent {
	i := q.inFlight.Get(&q.entries, uid)
	if i == none {
		return nil
	}
	var events []fwk.ClusterEvent
	for _, ev := range q.inFlight.since(q.entries.At(i).eventsFrom) {
		events = append(events, ev.event)
	}
	return events
}

// Clone returns an independent copy of q with other plugins and another observer, which default as in New.
func (q *Queue) Clone(plugins Plugins, observer Observer) *Queue {
	c := *q
	c.setCallbacks(plugins, observer)
	c.entries = q.entries.Clone()
	c.byName = q.byName.Clone()
	c.sets = q.sets.Clone()
	c.activeQ, c.backoffQ, c.errorBackoffQ = q.activeQ.clone(), q.backoffQ.clone(), q.errorBackoffQ.clone()
	c.unschedulable = slices.Clone(q.unschedulable)
	c.groups, c.byGroup = make([]*group, len(q.groups)), maps.Clone(q.byGroup)
	for i := range q.groups {
		if q.groups[i] != nil {
			c.groups[i] = q.groups[i].clone()
		}
	}
	c.freeGroups, c.scratch, c.unregistered, c.spareUIDs = slices.Clone(q.freeGroups), nil, nil, nil
	c.inFlight = q.inFlight.clone()
	c.nominated = q.nominated.Clone()
	c.incoming = q.incoming.clone()
	return &c
}
