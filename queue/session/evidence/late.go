package evidence

import (
	"cmp"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/sources"
)

// mostLate is how long after its attempt a watch may tell of a patch for it to be put right. A bound on the work: others wait for the
// client's rate limit.
const mostLate = time.Second

// CausesFirst puts each patch of a pod's status that a watch told of late before what can't have been before its answer, with the change
// of the pod that it made. The scheduler's loop waits for the answer, and only then makes an attempt, which takes so long (schedule_one.go,
// v1.33, handleSchedulingFailure). So what fails next, as Events say to the microsecond, failed that long after the answer, or longer. It
// looks at what was added since it was called last. Where the loop does not wait, or a source tells its requests, it must not be called.
func (f *Future) CausesFirst(took time.Duration) {
	if f.unsettled.IsZero() {
		return
	}
	from, _ := slices.BinarySearchFunc(f.failures, f.unsettled, func(s *Sighting, at time.Time) int {
		return cmp.Or(s.Time.Compare(at), 1) // the first of that time
	})
	f.unsettled = time.Time{}
	for _, s := range slices.Clone(f.failures[from:]) {
		if s.Kind == Patched && !s.Used {
			f.causeFirst(s, took)
		}
	}
}

// causeFirst is CausesFirst for one patch.
func (f *Future) causeFirst(patch *Sighting, took time.Duration) {
	// A watch tells of a change, and next of the patch that made it.
	i := slices.IndexFunc(f.changes, func(s *Sighting) bool { return s.nth == patch.nth-1 && s.UID == patch.UID })
	if i < 0 {
		return
	}
	own, next := f.followed(patch, f.changes[i].Change.Object.(*v1.Pod))
	if own == nil || next == nil {
		return
	}
	at := later(own.Time, next.Time.Add(-took))
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
	f.put(f.changes[i], at)
	f.put(patch, at)
	f.removePatch(patch)
	patch.By, patch.FailedAt = later(own.Time, at.Add(-f.requesting)), own.Time
	f.addPatch(patch)
}

// followed returns the Event of the attempt that patch followed, which made pod so, and that of the first one that failed next and was told
// earlier than the patch. Nil if that is not known, or none was.
func (f *Future) followed(patch *Sighting, pod *v1.Pod) (own, next *Sighting) {
	for _, s := range slices.Backward(f.failures[:slices.Index(f.failures, patch)]) {
		switch {
		case patch.Time.Sub(s.Time) > mostLate:
			return nil, nil
		case s.UID == patch.UID && s.Kind == Failed && writes(s, pod):
			return s, next
		case s.UID == patch.UID:
			return nil, nil
		case s.Kind == Failed:
			next = s
		}
	}
	return nil, nil
}

// writes reports whether failed says why in the words of pod's condition. An attempt with the same outcome as the one before writes none,
// and may have no Event either: one that has other words followed.
func writes(failed *Sighting, pod *v1.Pod) bool {
	c := cluster.Unscheduled(pod)
	return c != nil && string(sources.Sanitize(c.Message)) == failed.Message()
}

// put puts s, which was told at another time, where it belongs at that one.
func (f *Future) put(s *Sighting, at time.Time) {
	for _, l := range f.lists(s) {
		i := slices.Index(*l, s)
		*l = slices.Delete(*l, i, i+1)
	}
	s.Time = at
	for _, l := range f.lists(s) {
		l.add(s)
	}
}
