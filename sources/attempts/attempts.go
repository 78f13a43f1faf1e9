// Package attempts reads past attempts from the FailedScheduling Events that an API server stores.
package attempts

import (
	"cmp"
	"iter"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// Trim returns a copy of e with what Read takes, every text in it made safe to show.
func Trim(e *eventsv1.Event) *eventsv1.Event {
	out := &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: e.Name, UID: e.UID, ResourceVersion: e.ResourceVersion},
		EventTime:  e.EventTime, Reason: e.Reason, Note: string(sources.Sanitize(e.Note)),
		ReportingController:      reporterOf(e),
		Regarding:                corev1.ObjectReference{Kind: e.Regarding.Kind, Namespace: e.Regarding.Namespace, Name: e.Regarding.Name, UID: e.Regarding.UID, ResourceVersion: e.Regarding.ResourceVersion},
		DeprecatedFirstTimestamp: e.DeprecatedFirstTimestamp, DeprecatedLastTimestamp: e.DeprecatedLastTimestamp, DeprecatedCount: e.DeprecatedCount,
	}
	if e.Series != nil {
		out.Series = &eventsv1.EventSeries{Count: e.Series.Count, LastObservedTime: e.Series.LastObservedTime}
	}
	return out
}

// reporterOf returns who made the Event; a recorder of core/v1 Events may say it in another place.
func reporterOf(e *eventsv1.Event) string {
	return string(sources.Sanitize(cmp.Or(e.ReportingController, e.DeprecatedSource.Component)))
}

// BySchedulerOf reports whether the Event is from the scheduler that pod requests, as far as e shows: kube-scheduler
// gives the profile's name (profile/profile.go, NewRecorder). Karpenter and Volcano make Events of the same reason.
func BySchedulerOf(pod *corev1.Pod, e *eventsv1.Event) bool {
	return e.ReportingController == "" || e.ReportingController == pod.Spec.SchedulerName
}

// Failed is the content of a FailedScheduling Event: the number of failed attempts of a pod, and the times of the first
// and the last one.
type Failed struct {
	Pod         types.NamespacedName
	UID         types.UID
	First, Last time.Time
	Count       int
	Message     sources.SafeText
	Recorded    sources.Recorded
}

// Read returns the content of e, and false if e is not about a pod's attempt.
func Read(e *eventsv1.Event) (Failed, bool) {
	f := Failed{
		Pod: types.NamespacedName{Namespace: e.Regarding.Namespace, Name: e.Regarding.Name},
		UID: types.UID(sources.Sanitize(string(e.Regarding.UID))), Message: sources.SafeText(e.Note),
		First: e.EventTime.Time, Last: e.EventTime.Time, Count: max(1, int(e.DeprecatedCount)),
	}
	if f.First.IsZero() { // by a recorder of core/v1 Events
		f.First, f.Last = e.DeprecatedFirstTimestamp.Time, e.DeprecatedLastTimestamp.Time
	}
	if e.Series != nil {
		f.Count = max(f.Count, int(e.Series.Count))
		if t := e.Series.LastObservedTime.Time; t.After(f.Last) {
			f.Last = t
		}
	}
	if !e.EventTime.IsZero() {
		f.Recorded = sources.NewRecorded(e.Regarding.ResourceVersion, f.Count)
	}
	if e.Reason != "FailedScheduling" || e.Regarding.Kind != "Pod" || f.Last.IsZero() || f.First.IsZero() ||
		sources.CheckTime(f.First) != nil || sources.CheckTime(f.Last) != nil ||
		sources.CheckName(f.Pod.Name) != nil || sources.CheckName(f.Pod.Namespace) != nil {
		return Failed{}, false
	}
	return f, true
}

// SumUp returns the past attempts in Events of pods that wait for a node. podNamed returns the pod
// of that name, or nil if there is none.
func SumUp(all iter.Seq[*eventsv1.Event], podNamed func(types.NamespacedName) *corev1.Pod) []*sources.Tried {
	byPod := map[types.UID]*sources.Tried{}
	for e := range all {
		f, ok := Read(e)
		if !ok {
			continue
		}
		pod := podNamed(f.Pod)
		if pod == nil || pod.UID != f.UID || pod.Spec.NodeName != "" || !BySchedulerOf(pod, e) {
			continue
		}
		t := byPod[f.UID]
		if t == nil {
			t = &sources.Tried{Pod: f.Pod, UID: f.UID, First: f.First.UTC()}
			byPod[f.UID] = t
		}
		t.Attempts += f.Count
		if f.First.Before(t.First) {
			t.First = f.First.UTC()
		}
		if f.Last.After(t.Failed) {
			t.Failed, t.Message = f.Last.UTC(), f.Message
			t.Recorded = f.Recorded
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
