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

// Resources that contain facts about the scheduler; the scheduler does not read them.
const (
	events = sources.EventsWatch
	leases = sources.LeasesWatch
)

// leaseName is the name of the schedulers' leader election lease.
type leaseName struct{ namespace, name string }

// trim is sources.Trim, extended to Events and leases.
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

// failedAttempt returns the failed attempt of a new or changed Event, with the scheduler's time. It returns false if
// there is none.
func failedAttempt(old, e *eventsv1.Event) (attempts.Failed, bool) {
	f, ok := attempts.Read(e)
	if !ok {
		return f, false
	}
	if old != nil {
		if before, ok := attempts.Read(old); ok && before.Last.Equal(f.Last) {
			return f, false // unchanged
		}
	}
	return f, true
}

// observeDelay records the arrival at now of an action of the scheduler at at, by its clock, and emits the clocks'
// offset if it has changed. The lock is held.
func (s *Source) observeDelay(now, at time.Time, renewal bool) {
	s.delays.Heard(now, at, renewal)
	if found := s.delays.Offset(now); (found - s.offset).Abs() >= apart {
		s.offset = found
		s.emit(now, &sources.Clocks{Ahead: found})
	}
}

// apart is the change of the offset from which it is emitted again. Chosen: the backoff of one pod in two hundred
// ends so close to the end of a second.
const apart = 5 * time.Millisecond

// onAttempt emits the failed attempt of an Event. The lock is held.
func (s *Source) onAttempt(now time.Time, f attempts.Failed, coarse bool) {
	if !coarse && s.watches.Delivers(now, events) { // otherwise its arrival shows only when a watch resumed
		s.observeDelay(now, f.Last, false)
	}
	at := f.Last.Add(s.delays.Offset(now))
	switch {
	case at.Sub(now) > farAhead:
		return
	case at.After(now), coarse && now.Sub(at) < 2*time.Second: // an Event of core/v1 has only seconds
		at = now
	}
	s.emit(at, &sources.FailedAttempt{Pod: f.Pod, UID: f.UID, Message: f.Message, Recorded: f.Recorded})
}

// farAhead is how far in the future the attempt of an accepted Event may be.
const farAhead = time.Minute

// patched reports whether the change from old to pod is the patch of a failed attempt. The scheduler sends no patch
// that changes nothing (schedule_one.go, updatePod). A patch that only nominates a node is that of a slow binding
// (NominatedNodeNameForExpectation).
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

// unscheduled returns the pod's PodScheduled condition if it is false, or nil.
func unscheduled(pod *corev1.Pod) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason != corev1.PodReasonSchedulingGated {
			return c
		}
	}
	return nil
}
