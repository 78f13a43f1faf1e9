package queue

import (
	"time"

	"github.com/schedq/schedq/queue/labels"
	v1 "k8s.io/api/core/v1"
)

// Observation is a move that was seen in the real scheduler.
type Observation struct {
	// Pod is the pod's object. Where a source knows only the name, whoever observes makes up a UID.
	Pod *v1.Pod
	To  Tier
	// Event is upstream's label of the cause. ScheduleAttemptFailure means that an attempt ended.
	Event string
	// UnschedulablePlugins rejected the attempt that ended. None: an error, or no nodes.
	UnschedulablePlugins []string
	// GatingPlugin keeps the pod gated. Only if To is Gated.
	GatingPlugin string
	// BackoffExpiry is when the backoff ends, if that is known otherwise than by the pod's own failures: a pod
	// group's pods back off together.
	BackoffExpiry time.Time
	// Inferred means that the move itself was not seen, but something that follows from it.
	Inferred bool
	// Restated means that the scheduler said again where the pod is, and nothing moved.
	Restated bool
}

// Observe makes the queue follow what the real scheduler did, whether the model would have done it or
// not. Attempts, backoff and counts are kept as if it had. No hint and no plugin is asked.
func (q *Queue) Observe(now time.Time, o Observation) {
	t := now.UnixNano()
	if o.Restated {
		q.restate(now, o)
		return
	}
	i, from := q.detachObserved(t, o)
	e := q.entries.at(i)
	switch o.To {
	case InFlight:
		e.attempts++
		q.inFlight.push(&q.entries, i)
		e.tier = InFlight
		q.schedulingCycle++
		e.cycle = q.schedulingCycle
		if from == Backoff {
			q.count(e, Active, PopFromBackoffQ)
		}
	case Scheduled, Deleted:
		q.nominated.delete(e.pod.UID)
	default:
		if o.Event == ScheduleAttemptFailure && from != Pending { // its group's attempt ended, and its own before
			q.fail(t, i, Rejection{UnschedulablePlugins: o.UnschedulablePlugins})
		}
		q.settle(t, i, o)
	}
	q.tellObserver(t, i, Transition{From: from, To: o.To, Event: o.Event, Observed: !o.Inferred})
	if o.To == Scheduled || o.To == Deleted {
		q.entries.release(i)
	}
}

// detachObserved finds the entry that o speaks of and takes it out of its tier; a pod that is not known gets one.
func (q *Queue) detachObserved(now int64, o Observation) (int32, Tier) {
	name, namespace := o.Pod.Name, o.Pod.Namespace
	queued, flying := q.byName.get(&q.entries, namespace, name), q.inFlightNamed(namespace, name)
	if flying != none && labels.IsPodAdd(o.Event) {
		q.inFlight.remove(&q.entries, flying) // a new pod of the same name: the old one's end was not seen
		q.entries.release(flying)
		flying = none
	}
	endsAttempt := o.Event == ScheduleAttemptFailure || o.To == Scheduled
	var i int32
	var from Tier
	switch {
	case flying != none && (queued == none || endsAttempt):
		i, from = flying, InFlight
		if q.entries.at(i).group != 0 {
			q.standAlone(i)
		}
		q.inFlight.remove(&q.entries, i)
	case queued != none && q.entries.at(queued).group != 0:
		i, from = queued, q.standAlone(queued)
		q.byName.remove(&q.entries, namespace, name)
	case queued != none:
		i, from = queued, q.detach(queued)
		q.byName.remove(&q.entries, namespace, name)
	default:
		i, from = q.newEntry(now, o.Pod), None
	}
	if labels.IsPodAdd(o.Event) && from != None && from != Incomplete && from != Pending {
		q.entries.release(i) // this too is a new pod of the same name
		i = q.newEntry(now, o.Pod)
	}
	q.setPod(i, o.Pod)
	if old, ok := q.inFlight.byUID[o.Pod.UID]; ok && o.To == InFlight {
		q.inFlight.remove(&q.entries, old) // its end was not seen
		q.entries.release(old)
	}
	return i, from
}

// settle puts the taken entry i into the queued tier that o names.
func (q *Queue) settle(now int64, i int32, o Observation) {
	if old := q.byName.get(&q.entries, o.Pod.Namespace, o.Pod.Name); old != none {
		if q.entries.at(old).group != 0 {
			q.standAlone(old)
		}
		q.detach(old)
		q.byName.remove(&q.entries, o.Pod.Namespace, o.Pod.Name)
		q.entries.release(old)
	}
	e := q.entries.at(i)
	e.gatingPlugin = 0
	if o.To == Gated && o.GatingPlugin != "" {
		e.gatingPlugin = q.sets.idOf(o.GatingPlugin)
		e.unschedulablePlugins = q.sets.withName(e.unschedulablePlugins, o.GatingPlugin)
	}
	if o.Event == UnschedulableTimeout {
		e.flushed = now
	}
	if o.To == Active && e.initialAttempt == unset {
		e.initialAttempt = now
	}
	q.backingOff(now, e) // works out the expiry
	if !o.BackoffExpiry.IsZero() {
		e.backoffExpiry = o.BackoffExpiry.UnixNano()
	}
	q.attach(i, o.To)
	if o.To.Queued() {
		q.count(e, min(o.To, Unschedulable), o.Event)
	}
}

// restate passes on a move that the scheduler reported twice.
func (q *Queue) restate(now time.Time, o Observation) {
	t := Transition{From: o.To, To: o.To, Event: o.Event, Observed: true}
	if i := q.byName.get(&q.entries, o.Pod.Namespace, o.Pod.Name); i != none {
		q.tellObserver(now.UnixNano(), i, t)
		return
	}
	t.Pod, t.Time = o.Pod, now
	q.observer.Moved(t)
}

// Refresh replaces the object of a pod wherever it is, without asking what the change means. It reports
// whether the queue knows the pod.
func (q *Queue) Refresh(pod *v1.Pod) bool {
	if i := q.byName.get(&q.entries, pod.Namespace, pod.Name); i != none {
		q.nominated.update(q.entries.at(i).pod, pod)
		q.setPod(i, pod)
		if e := q.entries.at(i); e.group == 0 && (e.tier == Active || e.tier == Backoff) {
			q.heapOf(e).fix(&q.entries, int(e.pos))
		}
		return true
	}
	if i := q.inFlightNamed(pod.Namespace, pod.Name); i != none {
		q.nominated.update(q.entries.at(i).pod, pod)
		delete(q.inFlight.byUID, q.entries.at(i).pod.UID)
		q.setPod(i, pod)
		q.inFlight.byUID[pod.UID] = i
		return true
	}
	return false
}
