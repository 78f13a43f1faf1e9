package session

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
)

// What the scheduler's event recorder tells by what it leaves out (k8s.io/client-go v0.37,
// tools/events/event_broadcaster.go). It is told of every failed attempt. Of those of one pod at one
// resourceVersion it writes the first as an Event and the second as its series; the third and those that
// follow are only counted. So a pod's attempt that would have been a first or a second one, and is not
// among the Events, was not made.

// record takes in what the recorder wrote last of a pod. It is empty of a pod of which it wrote nothing yet.
func (s *shadow) record(uid types.UID, last sources.Recorded) {
	s.recorder[uid] = last
	s.records = s.records || last.Version != ""
}

// mustShow reports whether the next failed attempt of pod is one that the recorder writes.
func (s *shadow) mustShow(pod *v1.Pod) bool {
	last, known := s.recorder[pod.UID]
	return known && s.records && !s.grouped(pod) && (last.Count < 2 || last.Version != pod.ResourceVersion)
}

// writeTime is how long after an attempt its Event is written at the latest, unless the client's rate limit
// holds it up.
const writeTime = 100 * time.Millisecond

// foresight is how far the shadow looks for the next attempt of a pod: no further than a live session can.
const foresight = Lag - writeTime

// heldUntil reports whether the loop does not take pod now, though it could, and until when at least: an
// attempt of it would show, and does not.
func (s *shadow) heldUntil(now time.Time, pod *v1.Pod) (time.Time, bool) {
	horizon := s.horizon(now)
	if !horizon.After(now) || !s.mustShow(pod) || s.saturated(now) {
		return time.Time{}, false
	}
	if seen, ok := s.attemptOf(pod.UID, now, horizon); ok {
		return seen.by.Add(-2 * attemptTime), seen.by.Sub(now) > 2*attemptTime
	}
	if bindsLate(pod) {
		if seen, ok := s.attemptOf(pod.UID, now, now.Add(bindPatience)); ok && seen.bound {
			return time.Time{}, false
		}
	}
	return horizon, true
}

// untried reports whether the loop is not seen to take pod, as far as the shadow looks, though an attempt would
// show.
func (s *shadow) untried(now time.Time, pod *v1.Pod) bool {
	horizon := s.horizon(now)
	_, ok := s.attemptOf(pod.UID, now, horizon)
	return !ok && horizon.After(now) && s.mustShow(pod)
}

// horizon is up to when the shadow looks at now.
func (s *shadow) horizon(now time.Time) time.Time {
	return earlier(now.Add(foresight), s.knows.Add(-writeTime))
}

// attemptOf returns the sign of the first attempt of the pod with that UID that shows from now to horizon. A patch
// without an Event is one too: the recorder may have known an older version of the pod.
func (s *shadow) attemptOf(uid types.UID, now, horizon time.Time) (sign, bool) {
	for _, ev := range s.ahead {
		if ev.Time.After(horizon) {
			break
		}
		if seen, ok := s.signOf(ev); ok && seen.uid == uid && !seen.by.Before(now) {
			return seen, true
		}
	}
	return sign{}, false
}

// bindPatience is how long others may take before a pod that was placed is bound.
const bindPatience = 10 * time.Second

// bindsLate reports whether others may have to do something before pod is bound: provide its volumes, or its
// devices.
func bindsLate(pod *v1.Pod) bool {
	return len(pod.Spec.ResourceClaims) > 0 || slices.ContainsFunc(pod.Spec.Volumes, func(v v1.Volume) bool {
		return v.PersistentVolumeClaim != nil || v.Ephemeral != nil
	})
}

// upcomingLimit is how many pods the shadow looks at to find the one that the loop takes.
const upcomingLimit = 100

// upcoming tells which pod the loop takes now in place of the first, if an attempt of that would show and
// does not; or until when it takes none. A pod that it would have taken by then was woken by the model alone, and
// is put back.
func (s *shadow) upcoming(now time.Time) (*v1.Pod, time.Time) {
	for {
		pod, until, asleep := s.choose(now)
		if asleep == nil {
			return pod, until
		}
		s.driver.queue.Observe(now, queue.Observation{Pod: asleep, To: queue.Unschedulable, Inferred: true})
		s.settled(now, nil)
	}
}

func (s *shadow) choose(now time.Time) (pod *v1.Pod, until time.Time, asleep *v1.Pod) {
	n := 0
	for pod := range s.driver.queue.Upcoming() {
		at, held := s.heldUntil(now, pod)
		switch {
		case !held && n == 0:
			return nil, time.Time{}, nil
		case !held:
			return pod, time.Time{}, nil
		case at.Sub(now) == foresight && s.idles(now) && s.failedBefore(pod) && !bindsLate(pod):
			return nil, time.Time{}, pod
		case n == 0 || at.Before(until):
			until = at
		}
		// An attempt that is as near as that is the next one: the loop was held up. So it was if nothing can have woken
		// the pod only now.
		if n++; n == upcomingLimit || at.Sub(now) < lookahead || at.Before(s.horizon(now)) && !s.stirs(at) {
			break
		}
	}
	s.holds = n > 0
	return nil, until, nil
}

// stirs reports whether the scheduler hears until then of a change that may wake pods.
func (s *shadow) stirs(until time.Time) bool {
	if slices.ContainsFunc(s.heard, func(h heard) bool { return mayWake(h.change) }) {
		return true
	}
	for _, ev := range s.ahead {
		if ev.Time.After(until) {
			break
		}
		if c, ok := ev.Fact.(*sources.ObjectChange); ok && mayWake(c) {
			return true
		}
	}
	return false
}

// mayWake reports whether c may wake pods that wait. Bindings and other changes of pods can, but seldom do.
func mayWake(c *sources.ObjectChange) bool {
	pod, ok := c.Object.(*v1.Pod)
	return !ok || c.Verb == sources.Deleted && pod.Spec.NodeName != ""
}

// relief is for how long after its client's rate limit held the scheduler up pods may still wait for the loop.
const relief = 5 * time.Second

// idles reports whether the loop takes what there is to take at once.
func (s *shadow) idles(now time.Time) bool { return now.Sub(s.strained) > relief }

func (s *shadow) failedBefore(pod *v1.Pod) bool {
	info, ok := s.driver.queue.Get(pod.Namespace, pod.Name)
	return ok && info.Attempts > 0
}

// release ends the loop's wait for a pod of which an attempt will show.
func (s *shadow) release(now time.Time) {
	if s.holds {
		s.holds, s.driver.free = false, now
	}
}
