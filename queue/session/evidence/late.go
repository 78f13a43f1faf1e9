package evidence

import (
	"cmp"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/sources"
)

// maxWatchDelay is how long after its attempt a patch may be delivered to be moved. Later patches were held
// up by the client's rate limit. It bounds the search.
const maxWatchDelay = time.Second

// MoveLatePatches moves each status patch that a watch delivered late, and the change of the pod that it
// made, to the latest time at which the API server can have answered it. The scheduling loop waits for the
// answer before it makes the next attempt, which takes attemptTime (schedule_one.go, v1.33,
// handleSchedulingFailure). Events have the time of a failure to the microsecond, so the answer came at
// least attemptTime before the next failure.
//
// It checks the observations added since the last call. It must not be called if the loop does not wait
// for answers, or if the source records requests.
func (f *Future) MoveLatePatches(attemptTime time.Duration) {
	if f.latePatchesFrom.IsZero() {
		return
	}
	from, _ := slices.BinarySearchFunc(f.failures, f.latePatchesFrom, func(s *Observation, at time.Time) int {
		return cmp.Or(s.Time.Compare(at), 1) // the first of that time
	})
	f.latePatchesFrom = time.Time{}
	for _, s := range slices.Clone(f.failures[from:]) {
		if s.Kind == Patched && !s.Used {
			f.moveLatePatch(s, attemptTime)
		}
	}
}

func (f *Future) moveLatePatch(patch *Observation, attemptTime time.Duration) {
	// A watch delivers the change of the pod just before the patch that made it.
	i := slices.IndexFunc(f.changes, func(s *Observation) bool { return s.seq == patch.seq-1 && s.UID == patch.UID })
	if i < 0 {
		return
	}
	own, next := f.attemptOf(patch, f.changes[i].Change.Object.(*v1.Pod))
	if own == nil || next == nil {
		return
	}
	at := later(own.Time, next.Time.Add(-attemptTime))
	for _, s := range slices.Backward(f.changes[:i]) { // an earlier change of the pod stays before it
		if s.UID == patch.UID {
			at = later(at, s.Time)
		}
		if !s.Time.After(at) {
			break
		}
	}
	if !at.Before(patch.Time) {
		return
	}
	f.move(f.changes[i], at)
	f.move(patch, at)
	f.removePatch(patch)
	patch.EndedBy, patch.FailedAt = later(own.Time, at.Add(-f.requestTime)), own.Time
	f.addPatch(patch)
}

// attemptOf returns the Event of the attempt that sent the patch, whose result is pod, and the Event of the
// next failure, if it is earlier than the patch. Each is nil if unknown.
func (f *Future) attemptOf(patch *Observation, pod *v1.Pod) (own, next *Observation) {
	for _, s := range slices.Backward(f.failures[:slices.Index(f.failures, patch)]) {
		switch {
		case patch.Time.Sub(s.Time) > maxWatchDelay:
			return nil, nil
		case s.UID == patch.UID && s.Kind == Failed && sameMessage(s, pod):
			return s, next
		case s.UID == patch.UID:
			return nil, nil
		case s.Kind == Failed:
			next = s
		}
	}
	return nil, nil
}

// sameMessage reports whether failed has the message of pod's condition. An attempt with the outcome of the
// one before sends no patch, and need not have an Event, so a patch may belong to an attempt before failed.
func sameMessage(failed *Observation, pod *v1.Pod) bool {
	c := cluster.Unscheduled(pod)
	return c != nil && string(sources.Sanitize(c.Message)) == failed.Message()
}

// move changes the time of s.
func (f *Future) move(s *Observation, at time.Time) {
	for _, l := range f.lists(s) {
		i := slices.Index(*l, s)
		*l = slices.Delete(*l, i, i+1)
	}
	s.Time = at
	for _, l := range f.lists(s) {
		l.add(s)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
