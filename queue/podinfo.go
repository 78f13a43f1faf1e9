package queue

import (
	"iter"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	fwk "k8s.io/kube-scheduler/framework"
)

// PodInfo is all that the queue knows of a pod: upstream's QueuedPodInfo. It is a copy.
type PodInfo struct {
	Pod  *v1.Pod
	Tier Tier
	// Attempts counts the times the pod was popped.
	Attempts int
	// UnschedulableCount counts the attempts in which plugins rejected it; ConsecutiveErrorsCount the
	// errors since the last of those. The backoff is worked out from the second, or from the first if
	// the second is 0.
	UnschedulableCount     int
	ConsecutiveErrorsCount int
	// Timestamp is when the pod was added or last failed: what activeQ sorts by after the priority, and
	// what the backoff and the leftover flush count from.
	Timestamp time.Time
	// InitialAttemptTimestamp is when it first entered activeQ.
	InitialAttemptTimestamp time.Time
	// BackoffExpiry is when its backoff ends. Zero if it has none.
	BackoffExpiry time.Time
	// FlushTimestamp is when the leftover flush last took it.
	FlushTimestamp       time.Time
	UnschedulablePlugins []string
	PendingPlugins       []string
	GatingPlugin         string
	// NominatedNode is where the scheduler means to run it once the node has room.
	NominatedNode string
}

func (q *Queue) info(i int32) PodInfo { return q.infoOf(q.entries.At(i), q.backoffOf(i)) }

// infoOf returns what is known of the pod e, whose backoff and flushes are those of entity.
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
		GatingPlugin:            q.sets.Only(e.gatingPlugin),
		NominatedNode:           q.nominated.Node(e.pod.UID),
	}
}

// entryOf returns the entry of a pod of which p is known, which is nowhere.
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
		gatingPlugin:         q.sets.OfOne(p.GatingPlugin),
	}
}

// Get returns what the queue knows of the named pod. If one of that name is queued while an older one
// is in flight, it is the queued one.
func (q *Queue) Get(namespace, name string) (PodInfo, bool) {
	if i := q.byName.Get(&q.entries, namespace, name); i != none {
		return q.info(i), true
	}
	return PodInfo{}, false
}

// Pods yields the pods in the tiers that in says yes to, such as Tier.Queued, in no particular order. The queue must not be
// changed meanwhile.
func (q *Queue) Pods(in func(Tier) bool) iter.Seq[PodInfo] {
	return func(yield func(PodInfo) bool) {
		for i, e := range q.entries.All() {
			if e.pod != nil && in(e.tier) && !yield(q.info(i)) {
				return
			}
		}
	}
}

// Upcoming yields the pods that Pop would take, in the order in which it would; pods that are queued with
// their pod group are left out. Its cost is that of the pods which are asked for. The queue must not be changed
// meanwhile.
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

// InFlight yields the pods in flight in the order of their popping.
func (q *Queue) InFlight() iter.Seq[PodInfo] {
	return func(yield func(PodInfo) bool) {
		for i := q.inFlight.first; i != none; i = q.entries.At(i).next {
			if !yield(q.info(i)) {
				return
			}
		}
	}
}

// EventsInFlight returns the cluster events that came since the pod in flight with that UID was popped, in their order: those
// that the hints of its rejectors are asked about if its attempt fails. (active_queue.go, clusterEventsForPod.)
func (q *Queue) EventsInFlight(uid types.UID) []fwk.ClusterEvent {
	i := q.inFlight.with(&q.entries, uid)
	if i == none {
		return nil
	}
	var events []fwk.ClusterEvent
	for _, ev := range q.inFlight.since(q.entries.At(i).eventsFrom) {
		events = append(events, ev.event)
	}
	return events
}

// Clone returns a copy that shares nothing mutable with q, asks plugins and reports to observer, which
// are as for New. Its cost is that of a few large copies.
func (q *Queue) Clone(plugins Plugins, observer Observer) *Queue {
	if plugins == nil {
		plugins = EveryEvent{}
	}
	if observer == nil {
		observer = discard{}
	}
	c := *q
	c.plugins, c.observer = plugins, observer
	c.entries = q.entries.Clone()
	c.byName = q.byName.Clone()
	c.sets = q.sets.Clone()
	c.activeQ, c.backoffQ, c.errorBackoffQ = q.activeQ.clone(), q.backoffQ.clone(), q.errorBackoffQ.clone()
	c.unschedulable = slices.Clone(q.unschedulable)
	c.groups, c.byGroup = make([]*group, len(q.groups)), q.byGroup.Clone()
	for i := range q.groups {
		if q.groups[i] != nil {
			c.groups[i] = q.groups[i].clone()
		}
	}
	c.freeGroups, c.scratch, c.isDeaf, c.spareUIDs = slices.Clone(q.freeGroups), nil, nil, nil
	c.inFlight = q.inFlight.clone()
	c.nominated = q.nominated.Clone()
	c.incoming = q.incoming.clone()
	return &c
}
