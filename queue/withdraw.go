package queue

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A pod that is taken out of wherever it is, and put somewhere else, whatever the queue itself would do. Package follow makes the queue
// follow a real scheduler by that. What is known of the pod is a value meanwhile.

// Withdraw takes the pod of that name which waits, or if flying the first one in flight, out of wherever it is, alone: what is
// left of its group stays. It returns all that was known of it; Put takes that. The Observer is not told.
func (q *Queue) Withdraw(pod *v1.Pod, flying bool) (PodInfo, bool) {
	i := q.waiting(pod)
	if flying {
		i = q.flying(pod)
	}
	if i == none {
		return PodInfo{}, false
	}
	q.seize(i)
	p := q.info(i)
	q.release(i)
	return p, true
}

// Put puts a pod that is nowhere into p.Tier, with all that p says; what is not known of it is its zero value, but that a time of
// none is now, and that the backoff is worked out. No plugin and no hint is asked. A pod of the name or UID that is there already
// is let go. To be in flight is to be popped, and counted as that; else it counts by the label t.Event, if that is not "". The
// Observer is told t, filled in.
func (q *Queue) Put(now time.Time, p PodInfo, t Transition) {
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
	q.put(i, p.Tier)
	t.To = p.Tier
	q.tell(now.UnixNano(), i, t)
	if !stays {
		q.release(i)
	}
}

// Failed returns p after one more failed attempt, which ended at now.
func (q *Queue) Failed(now time.Time, p PodInfo, why Rejection) PodInfo {
	e := q.entryOf(&p)
	q.fail(now.UnixNano(), &e, why)
	return q.infoOf(&e, &e)
}

// Unpop takes the last Pop of the pod in flight with that UID back, as if it had not been: the pod is in
// tier again, where it was popped from. The Observer is not told. Unknown UIDs are ignored.
func (q *Queue) Unpop(uid types.UID, tier Tier) {
	i := q.inFlight.with(&q.entries, uid)
	if i == none || tier != Active && tier != Backoff || q.entries.At(i).group != 0 {
		return
	}
	q.seize(i)
	q.entries.At(i).attempts--
	q.schedulingCycle--
	if tier == Backoff {
		q.incoming.add(Incoming{Active, PopFromBackoffQ}, -1)
	}
	q.put(i, tier)
}

// seize takes the pod i out of wherever it is, alone: what is left of its group stays where it is. It is found by nobody then.
func (q *Queue) seize(i int32) {
	e := q.entries.At(i)
	if e.tier == InFlight {
		q.inFlight.remove(&q.entries, i)
		q.unname(i)
		return
	}
	q.unname(i)
	entity, tier := q.entityOf(i), e.tier
	if entity != none {
		q.remove(entity)
	}
	q.takeOut(i)
	if e.group != 0 {
		g := q.groups[e.group-1]
		if entity != none && !q.dropIfEmpty(g) {
			q.insert(entity, tier)
		}
		q.freeGroup(g)
		e.group = 0
	}
}

// put puts the pod i, which was seized or is new, into tier. What had its name or UID there is let go: its end was not seen.
func (q *Queue) put(i int32, tier Tier) {
	e := q.entries.At(i)
	switch tier {
	case None, Scheduled, Deleted:
	case InFlight:
		q.letGo(e.pod.UID)
		q.inFlight.push(&q.entries, i)
		q.nameFlying(i)
	default:
		if old := q.waiting(e.pod); old != none {
			q.seize(old)
			q.release(old)
		}
		q.nameWaiting(i)
		q.insert(i, tier)
	}
	q.setTier(e, tier)
}

// letGo drops the pod in flight with that UID, the end of whose attempt was not seen.
func (q *Queue) letGo(uid types.UID) {
	if i := q.inFlight.with(&q.entries, uid); i != none {
		q.seize(i)
		q.release(i)
	}
}

// Refresh replaces the object of a pod wherever it is, without asking what the change means. It reports
// whether the queue knows the pod.
func (q *Queue) Refresh(pod *v1.Pod) bool {
	i := q.waiting(pod)
	if i == none {
		if i = q.flying(pod); i == none {
			return false
		}
	}
	e := q.entries.At(i)
	q.nominated.Update(e.pod, pod)
	if e.tier == InFlight && e.pod.UID != pod.UID {
		q.letGo(pod.UID)
		q.inFlight.byUID.Remove(&q.entries, i)
		defer q.inFlight.byUID.Put(&q.entries, i) // as the new one
	}
	q.setPod(i, pod)
	if h := q.heapAt(e.place); h != nil {
		h.fix(&q.entries, int(e.pos))
	}
	return true
}
