package live

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/attempts"
)

// What the cluster tells of its scheduler besides the objects that the scheduler reads.
const (
	events = sources.EventsWatch
	leases = sources.LeasesWatch
)

// leaseName is the lease that the schedulers' leader holds.
type leaseName struct{ namespace, name string }

// trim is sources.Trim, and the like for the two kinds that tell of the scheduler.
func trim(obj runtime.Object) (runtime.Object, error) {
	switch o := obj.(type) {
	case *eventsv1.Event:
		return attempts.Trim(o), nil
	case *coordinationv1.Lease:
		out := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name, UID: o.UID, ResourceVersion: o.ResourceVersion}}
		out.Spec.HolderIdentity, out.Spec.LeaseDurationSeconds = o.Spec.HolderIdentity, o.Spec.LeaseDurationSeconds
		out.Spec.AcquireTime, out.Spec.RenewTime = o.Spec.AcquireTime, o.Spec.RenewTime
		return out, nil
	}
	return sources.Trim(obj)
}

// failedAttempt returns the attempt that a new or changed Event tells of, and false if it tells of none. Its time is the scheduler's.
func failedAttempt(old, e *eventsv1.Event) (attempts.Failed, bool) {
	f, ok := attempts.Read(e)
	if !ok {
		return f, false
	}
	if old != nil {
		if before, ok := attempts.Read(old); ok && before.Last.Equal(f.Last) {
			return f, false // written again, as it was
		}
	}
	return f, true
}

// heard takes in that the scheduler did something at that time by its clock, and tells how the clocks go together where that shows it. The lock is held.
func (s *Source) heard(now, at time.Time, renewal bool) {
	s.delays.Heard(now, at, renewal)
	if found := s.delays.Offset(now); (found - s.offset).Abs() >= apart {
		s.offset = found
		s.emit(now, &sources.Clocks{Ahead: found})
	}
}

// apart is by how much clocks must be further apart, or nearer, than was told last to be told of again. Chosen: pods whose backoff ends so
// near the end of a second are one in two hundred.
const apart = 5 * time.Millisecond

// attempted tells of an attempt that an Event tells of. The lock is held.
func (s *Source) attempted(now time.Time, f attempts.Failed, coarse bool) {
	if !coarse && s.watches.Hears(now, events) { // or it says when a watch went on
		s.heard(now, f.Last, false)
	}
	at := f.Last.Add(s.delays.Offset(now))
	switch {
	case at.Sub(now) > farAhead:
		return
	case at.After(now), coarse && now.Sub(at) < 2*time.Second: // an Event of core/v1 tells the second only
		at = now
	}
	s.emit(at, &sources.FailedAttempt{Pod: f.Pod, UID: f.UID, Message: f.Message, Recorded: f.Recorded})
}

// farAhead is how far in the future an attempt may be that an Event tells of, for the Event to be taken.
const farAhead = time.Minute

// patched reports whether the change from old to pod shows that the scheduler wrote the outcome of a
// failed attempt. It does not write what is there already (schedule_one.go, updatePod). A node that is nominated
// without another word is that of a binding that takes its time (NominatedNodeNameForExpectation).
func patched(old, pod *corev1.Pod) bool {
	if old == nil || old.Spec.NodeName != "" || pod.Spec.NodeName != "" {
		return false
	}
	c, before := unscheduled(pod), unscheduled(old)
	switch {
	case c == nil:
		return false
	case before == nil, before.Message != c.Message, before.Reason != c.Reason:
		return true
	}
	return old.Status.NominatedNodeName != "" && pod.Status.NominatedNodeName == ""
}

// unscheduled returns the condition by which the scheduler says that pod could not be scheduled, or nil.
func unscheduled(pod *corev1.Pod) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason != corev1.PodReasonSchedulingGated {
			return c
		}
	}
	return nil
}
