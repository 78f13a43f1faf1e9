package queue

// Package follow makes a queue follow a real scheduler: pods are put where it was seen to have them, whatever the queue itself
// would do.

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
)

// Observation is a move that was seen in the real scheduler.
type Observation struct {
	// Pod is the pod's object. Where a source knows only the name, whoever observes makes up a UID.
	Pod *v1.Pod
	To  Tier
	// Event is upstream's label of the cause. queue.ScheduleAttemptFailure means that an attempt ended.
	Event string
	// UnschedulablePlugins rejected the attempt that ended. None: an error, or no nodes.
	UnschedulablePlugins []string
	// GatingPlugin keeps the pod gated. Only if To is queue.Gated.
	GatingPlugin string
	// BackoffExpiry is when the backoff ends, if that is known otherwise than by the pod's own failures: a pod
	// group's pods back off together.
	BackoffExpiry time.Time
	// Inferred means that the move itself was not seen, but something that follows from it.
	Inferred bool
}

// Observe makes q follow what the real scheduler did, whether the queue would have done it or not. Attempts, backoff and counts are
// kept as if it had. No hint and no plugin is asked. A pod that is followed is queued alone.
func Observe(q *Queue, now time.Time, o Observation) {
	p, from := withdraw(q, o)
	p.Pod, p.Tier = o.Pod, o.To
	switch o.To {
	case InFlight:
		p.Attempts++
	case Scheduled, Deleted:
		q.DeleteNominatedPodIfExists(o.Pod)
	default:
		if o.Event == ScheduleAttemptFailure && from != Pending { // its group's attempt ended, and its own before
			p = q.Failed(now, p, Rejection{UnschedulablePlugins: o.UnschedulablePlugins})
			p.Tier = o.To
		}
		settle(&p, now, o)
	}
	q.Put(now, p, Transition{From: from, Event: o.Event, Observed: !o.Inferred})
}

// withdraw takes the pod that o speaks of out of wherever it is, and returns what is known of it, and where it was. An attempt that ends
// is that of the pod in flight, if another of its name waits.
func withdraw(q *Queue, o Observation) (PodInfo, Tier) {
	isNew := IsPodAdd(o.Event)
	if isNew {
		q.Withdraw(o.Pod, true) // a new pod of the same name: the old one's end was not seen
	}
	ends := o.Event == ScheduleAttemptFailure || o.To == Scheduled
	p, ok := q.Withdraw(o.Pod, ends)
	if !ok {
		p, ok = q.Withdraw(o.Pod, !ends)
	}
	from := p.Tier
	if !ok || isNew && from != Incomplete && from != Pending { // this too is a new pod of the same name
		p = PodInfo{}
	}
	return p, from
}

// settle sets what is known of the pod p where it waits from now on.
func settle(p *PodInfo, now time.Time, o Observation) {
	p.GatingPlugin = ""
	if o.To == Gated && o.GatingPlugin != "" {
		p.GatingPlugin = o.GatingPlugin
		p.UnschedulablePlugins = append(slices.Clip(p.UnschedulablePlugins), o.GatingPlugin)
	}
	if o.Event == UnschedulableTimeout {
		p.FlushTimestamp = now
	}
	if o.To == Active && p.InitialAttemptTimestamp.IsZero() {
		p.InitialAttemptTimestamp = now
	}
	if !o.BackoffExpiry.IsZero() {
		p.BackoffExpiry = o.BackoffExpiry
	}
}

// Restated returns what q's Observer is to be told where the scheduler said again where a pod is, and nothing moved.
func Restated(q *Queue, now time.Time, o Observation) Transition {
	t := Transition{Pod: o.Pod, Time: now, From: o.To, To: o.To, Event: o.Event, Observed: true}
	if p, ok := q.Get(o.Pod.Namespace, o.Pod.Name); ok && p.Tier != InFlight {
		t.Pod, t.Attempts, t.BackoffExpiry = p.Pod, p.Attempts, p.BackoffExpiry
		t.UnschedulablePlugins, t.PendingPlugins, t.GatingPlugin = p.UnschedulablePlugins, p.PendingPlugins, p.GatingPlugin
	}
	return t
}

// Restore puts a pod that is not queued into p.Tier, as one that has been there before: what is not known of p is its zero value. No
// plugin and no hint is asked, and the Observer is told of a move from no tier, without an event.
func Restore(q *Queue, now time.Time, p PodInfo) {
	q.AddNominatedPod(p.Pod, p.Pod.Status.NominatedNodeName)
	if p.Timestamp.IsZero() {
		p.Timestamp = now
	}
	if p.InitialAttemptTimestamp.IsZero() {
		p.InitialAttemptTimestamp = p.Timestamp
	}
	q.Put(now, p, Transition{})
}
