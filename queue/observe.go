package queue

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Observation is a move that was observed in a real scheduler.
type Observation struct {
	// Pod is the pod's object. If a source knows only the name, the caller makes up a UID.
	Pod *v1.Pod
	To  Tier
	// Event is upstream's label of the cause. ScheduleAttemptFailure ends an attempt.
	Event string
	// UnschedulablePlugins rejected the attempt that ended. If empty, an error failed it, or the
	// cluster had no nodes.
	UnschedulablePlugins []string
	// GatingPlugin gates the pod. It is set only if To is Gated.
	GatingPlugin string
	// BackoffExpiry is when the backoff ends, if it does not follow from the pod's own failures: the
	// pods of a pod group back off together.
	BackoffExpiry time.Time
	// Inferred is true if the move follows from another observation.
	Inferred bool
}

// Observe moves a pod as the real scheduler did. It updates attempts, backoff and metrics, but asks no
// plugin and no hint. Until Regroup, an observed pod is queued alone and not with its pod group.
func (q *Queue) Observe(now time.Time, o Observation) {
	p, from := q.extractObserved(o)
	known := p.Pod // o.Pod is a stand-in without a UID if the object is gone by now
	p.Pod, p.Tier = o.Pod, o.To
	switch o.To {
	case InFlight:
		p.Attempts++
	case Scheduled, Deleted:
		q.DeleteNominatedPodIfExists(o.Pod)
		if known != nil {
			q.DeleteNominatedPodIfExists(known)
		}
	default:
		if o.Event == ScheduleAttemptFailure && from != Pending { // a pending pod's own attempt failed earlier
			p = q.failed(now, p, Rejection{UnschedulablePlugins: o.UnschedulablePlugins})
			p.Tier = o.To
		}
		applyObservation(&p, now, o)
	}
	q.put(now, p, Transition{From: from, Event: o.Event, Observed: !o.Inferred})
}

// extractObserved extracts the pod of o and returns its state and its tier. If one pod of the name
// waits and another one is in flight, the end of an attempt concerns the latter.
func (q *Queue) extractObserved(o Observation) (PodInfo, Tier) {
	isNew := IsPodAdd(o.Event)
	if isNew {
		q.extract(o.Pod, true) // the end of an older pod with this name was missed
	}
	ends := o.Event == ScheduleAttemptFailure || o.To == Scheduled
	p, ok := q.extract(o.Pod, ends)
	if !ok {
		p, ok = q.extract(o.Pod, !ends)
	}
	from := p.Tier
	if !ok || isNew && from != Incomplete && from != Pending { // the same, for an older pod that waited
		p = PodInfo{}
	}
	return p, from
}

// applyObservation updates the state p of a waiting pod from o.
func applyObservation(p *PodInfo, now time.Time, o Observation) {
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

// Restated returns the transition to report when the scheduler repeats where a pod is and nothing
// moved.
func (q *Queue) Restated(now time.Time, o Observation) Transition {
	t := Transition{Pod: o.Pod, Time: now, From: o.To, To: o.To, Event: o.Event, Observed: true}
	if p, ok := q.Get(o.Pod.Namespace, o.Pod.Name); ok && p.Tier != InFlight {
		t.Pod, t.Attempts, t.BackoffExpiry = p.Pod, p.Attempts, p.BackoffExpiry
		t.UnschedulablePlugins, t.PendingPlugins, t.GatingPlugin = p.UnschedulablePlugins, p.PendingPlugins, p.GatingPlugin
	}
	return t
}

// Restore puts a pod that is not in the queue into p.Tier, as if it had been there before. Zero fields of
// p get defaults. Restore asks no plugin and no hint, and the Observer receives a transition from None
// without an event.
func (q *Queue) Restore(now time.Time, p PodInfo) {
	q.AddNominatedPod(p.Pod, p.Pod.Status.NominatedNodeName)
	if p.Timestamp.IsZero() {
		p.Timestamp = now
	}
	if p.InitialAttemptTimestamp.IsZero() {
		p.InitialAttemptTimestamp = p.Timestamp
	}
	q.put(now, p, Transition{})
}

// Unpop undoes the last Pop of the pod in flight with that UID and returns it to tier, where it was popped
// from. It does not call the Observer, and ignores unknown UIDs.
func (q *Queue) Unpop(uid types.UID, tier Tier) {
	i := q.inFlight.Get(&q.entries, uid)
	if i == none || tier != Active && tier != Backoff || q.entries.At(i).group != 0 {
		return
	}
	q.detach(i)
	q.entries.At(i).attempts--
	q.schedulingCycle--
	if tier == Backoff {
		q.incoming.add(Incoming{Active, PopFromBackoffQ}, -1)
	}
	q.attach(i, tier)
}

// Refresh replaces the object of a pod, wherever the pod is, and asks no hint about the change. It
// reports whether the queue knows the pod.
func (q *Queue) Refresh(pod *v1.Pod) bool {
	i := q.waitingPod(pod)
	if i == none {
		if i = q.inFlightPod(pod); i == none {
			return false
		}
	}
	e := q.entries.At(i)
	q.nominated.Update(e.pod, pod)
	if e.tier == InFlight && e.pod.UID != pod.UID {
		q.dropInFlight(pod.UID)
		q.inFlight.byUID.Remove(&q.entries, i)
		defer q.inFlight.byUID.Put(&q.entries, i) // under the new UID
	}
	q.setPod(i, pod)
	if h := q.heapAt(e.place); h != nil {
		h.fix(&q.entries, int(e.pos))
	}
	return true
}

// extract removes the waiting pod of that name, or the oldest one in flight, and returns its state. The
// rest of its group stays. It does not call the Observer.
func (q *Queue) extract(pod *v1.Pod, inFlight bool) (PodInfo, bool) {
	i := q.waitingPod(pod)
	if inFlight {
		i = q.inFlightPod(pod)
	}
	if i == none {
		return PodInfo{}, false
	}
	q.detach(i)
	p := q.info(i)
	q.release(i)
	return p, true
}

// put puts a pod that is not in the queue into p.Tier. A zero timestamp becomes now, and a zero backoff
// expiry is computed. It replaces a pod with the same name or UID. A pod put in flight counts as popped;
// another one counts in the metrics under t.Event, unless that is empty. The Observer receives t,
// completed from the pod's state.
func (q *Queue) put(now time.Time, p PodInfo, t Transition) {
	if p.Timestamp.IsZero() {
		p.Timestamp = now
	}
	i := q.newEntry(q.entryOf(&p))
	stays := true
	switch p.Tier {
	case InFlight:
		q.schedulingCycle++
		q.entries.At(i).cycle = q.schedulingCycle
		if t.From == Backoff {
			q.count(i, Active, PopFromBackoffQ)
		}
	case None, Scheduled, Deleted:
		stays = false
	default:
		q.setExpiry(i)
		if p.Tier.Queued() && t.Event != "" {
			q.count(i, min(p.Tier, Unschedulable), t.Event)
		}
	}
	q.attach(i, p.Tier)
	t.To = p.Tier
	q.report(now.UnixNano(), i, t)
	if !stays {
		q.release(i)
	}
}

// failed returns p after another failed attempt that ended at now.
func (q *Queue) failed(now time.Time, p PodInfo, why Rejection) PodInfo {
	e := q.entryOf(&p)
	q.fail(now.UnixNano(), &e, why)
	return q.infoOf(&e, &e)
}

// detach removes pod i from its place and from the indexes. The rest of its group stays.
func (q *Queue) detach(i int32) {
	e := q.entries.At(i)
	if e.tier == InFlight {
		q.inFlight.remove(&q.entries, i)
		q.unindex(i)
		return
	}
	q.unindex(i)
	entity, tier := q.entityOf(i), e.tier
	if entity != none {
		q.remove(entity)
	}
	q.leave(i)
	if e.group != 0 {
		g := q.groups[e.group-1]
		if entity != none && !q.dropIfEmpty(g) {
			q.insert(entity, tier)
		}
		q.freeGroup(g)
		e.group = 0
	}
}

// attach puts pod i, which is new or detached, into tier and the indexes. A pod with the same name or UID
// is dropped: its end was missed.
func (q *Queue) attach(i int32, tier Tier) {
	e := q.entries.At(i)
	switch tier {
	case None, Scheduled, Deleted:
	case InFlight:
		q.dropInFlight(e.pod.UID)
		q.inFlight.push(&q.entries, i)
		q.indexInFlight(i)
	default:
		if old := q.waitingPod(e.pod); old != none {
			q.detach(old)
			q.release(old)
		}
		q.indexWaiting(i)
		q.insert(i, tier)
	}
	q.setTier(e, tier)
}

// dropInFlight drops the pod in flight with that UID, if any.
func (q *Queue) dropInFlight(uid types.UID) {
	if i := q.inFlight.Get(&q.entries, uid); i != none {
		q.detach(i)
		q.release(i)
	}
}
