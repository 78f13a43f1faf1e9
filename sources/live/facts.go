package live

import (
	"cmp"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// What the cluster tells of its scheduler besides the objects that the scheduler reads.
const (
	events = "events"
	leases = "leases"
)

// leaseName is the lease that the schedulers' leader holds.
type leaseName struct{ namespace, name string }

// trim is sources.Trim, and the like for the two kinds that tell of the scheduler.
func trim(obj runtime.Object) (runtime.Object, error) {
	switch o := obj.(type) {
	case *eventsv1.Event:
		return trimEvent(o), nil
	case *coordinationv1.Lease:
		out := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name, UID: o.UID, ResourceVersion: o.ResourceVersion}}
		out.Spec.HolderIdentity, out.Spec.AcquireTime, out.Spec.LeaseDurationSeconds = o.Spec.HolderIdentity, o.Spec.AcquireTime, o.Spec.LeaseDurationSeconds
		return out, nil
	}
	return sources.Trim(obj)
}

func trimEvent(e *eventsv1.Event) *eventsv1.Event {
	out := &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: e.Name, UID: e.UID, ResourceVersion: e.ResourceVersion},
		EventTime:  e.EventTime, Reason: e.Reason, Note: string(sources.Sanitize(e.Note)),
		ReportingController:      reporter(e),
		Regarding:                corev1.ObjectReference{Kind: e.Regarding.Kind, Namespace: e.Regarding.Namespace, Name: e.Regarding.Name, UID: e.Regarding.UID, ResourceVersion: e.Regarding.ResourceVersion},
		DeprecatedFirstTimestamp: e.DeprecatedFirstTimestamp, DeprecatedLastTimestamp: e.DeprecatedLastTimestamp, DeprecatedCount: e.DeprecatedCount,
	}
	if e.Series != nil {
		out.Series = &eventsv1.EventSeries{Count: e.Series.Count, LastObservedTime: e.Series.LastObservedTime}
	}
	return out
}

// reporter returns who made the Event; a recorder of core/v1 Events may say it in another place.
func reporter(e *eventsv1.Event) string {
	return string(sources.Sanitize(cmp.Or(e.ReportingController, e.DeprecatedSource.Component)))
}

// bySchedulerOf reports whether the scheduler that pod asks for made the Event about it, as far as e tells: kube-scheduler
// gives the profile's name (profile/profile.go, NewRecorder). Karpenter and Volcano make Events of the same reason.
func bySchedulerOf(pod *corev1.Pod, e *eventsv1.Event) bool {
	return e.ReportingController == "" || e.ReportingController == pod.Spec.SchedulerName
}

// failed is what a FailedScheduling Event tells: see sources/audit.
type failed struct {
	pod         types.NamespacedName
	uid         types.UID
	first, last time.Time
	count       int
	message     sources.SafeText
	recorded    sources.Recorded
}

// readEvent returns what e tells, and false if it is about nothing that has to do with a pod's attempt.
func readEvent(e *eventsv1.Event) (failed, bool) {
	f := failed{
		pod: types.NamespacedName{Namespace: e.Regarding.Namespace, Name: e.Regarding.Name},
		uid: types.UID(sources.Sanitize(string(e.Regarding.UID))), message: sources.SafeText(e.Note),
		first: e.EventTime.Time, last: e.EventTime.Time, count: max(1, int(e.DeprecatedCount)),
	}
	if f.first.IsZero() { // by a recorder of core/v1 Events
		f.first, f.last = e.DeprecatedFirstTimestamp.Time, e.DeprecatedLastTimestamp.Time
	}
	if e.Series != nil {
		f.count = max(f.count, int(e.Series.Count))
		if t := e.Series.LastObservedTime.Time; t.After(f.last) {
			f.last = t
		}
	}
	if !e.EventTime.IsZero() {
		f.recorded = sources.NewRecorded(e.Regarding.ResourceVersion, f.count)
	}
	if e.Reason != "FailedScheduling" || e.Regarding.Kind != "Pod" || f.last.IsZero() || f.first.IsZero() ||
		sources.CheckTime(f.first) != nil || sources.CheckTime(f.last) != nil ||
		sources.CheckName(f.pod.Name) != nil || sources.CheckName(f.pod.Namespace) != nil {
		return failed{}, false
	}
	return f, true
}

// farAhead is how far the scheduler's clock may be ahead of this machine's for its times to be taken.
const farAhead = time.Minute

// failedAttempt returns the attempt that a new or changed Event tells of, or nil.
func failedAttempt(now time.Time, old, e *eventsv1.Event) *sources.Event {
	f, ok := readEvent(e)
	if !ok || f.last.Sub(now) > farAhead {
		return nil
	}
	if old != nil {
		if before, ok := readEvent(old); ok && before.last.Equal(f.last) {
			return nil // written again, as it was
		}
	}
	at := f.last
	if coarse := e.EventTime.IsZero(); at.After(now) || coarse && now.Sub(at) < 2*time.Second {
		at = now // an Event of core/v1 tells the second only
	}
	return &sources.Event{Time: at.UTC(), Fact: &sources.FailedAttempt{Pod: f.pod, UID: f.uid, Message: f.message, Recorded: f.recorded}}
}

// sumUpAttempts sums up what Events tell of attempts that are past, for those of pods that wait for a node.
func sumUpAttempts(all, pods map[types.NamespacedName]runtime.Object) []*sources.Tried {
	byPod := map[types.UID]*sources.Tried{}
	for _, obj := range all {
		e := obj.(*eventsv1.Event)
		f, ok := readEvent(e)
		if !ok {
			continue
		}
		pod, _ := pods[f.pod].(*corev1.Pod)
		if pod == nil || pod.UID != f.uid || pod.Spec.NodeName != "" || !bySchedulerOf(pod, e) {
			continue
		}
		t := byPod[f.uid]
		if t == nil {
			t = &sources.Tried{Pod: f.pod, UID: f.uid, First: f.first.UTC()}
			byPod[f.uid] = t
		}
		t.Attempts += f.count
		if f.first.Before(t.First) {
			t.First = f.first.UTC()
		}
		if f.last.After(t.Failed) {
			t.Failed, t.Message = f.last.UTC(), f.message
			t.Recorded = f.recorded
		}
	}
	var list []*sources.Tried
	for _, t := range byPod {
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *sources.Tried) int {
		return cmp.Or(a.Failed.Compare(b.Failed), cmp.Compare(a.UID, b.UID))
	})
	return list
}

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
