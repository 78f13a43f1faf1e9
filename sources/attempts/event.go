package attempts

import (
	"bytes"
	"cmp"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// event is an Event as events.k8s.io/v1 and as v1 spell it.
type event struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metav1.ObjectMeta
	EventTime       metav1.MicroTime
	Reason          string
	Note, Message   string
	Series          *eventsv1.EventSeries

	Regarding, InvolvedObject                corev1.ObjectReference
	ReportingController, ReportingComponent  string
	DeprecatedSource, Source                 corev1.EventSource
	DeprecatedFirstTimestamp, FirstTimestamp metav1.Time
	DeprecatedLastTimestamp, LastTimestamp   metav1.Time
	DeprecatedCount, Count                   int32
}

// Decode returns the Event of a failed attempt that raw is in JSON, trimmed, or nil if it is something else.
func Decode(raw []byte) *eventsv1.Event {
	var e event
	if !bytes.Contains(raw, []byte("FailedScheduling")) || json.Unmarshal(raw, &e) != nil || e.Kind != "Event" || e.Reason != "FailedScheduling" {
		return nil
	}
	either := func(a, b metav1.Time) metav1.Time {
		if a.IsZero() {
			return b
		}
		return a
	}
	out := &eventsv1.Event{ObjectMeta: e.Metadata, EventTime: e.EventTime, Reason: e.Reason, Series: e.Series, Note: cmp.Or(e.Note, e.Message),
		Regarding: e.Regarding, ReportingController: cmp.Or(e.ReportingController, e.ReportingComponent),
		DeprecatedSource:         corev1.EventSource{Component: cmp.Or(e.DeprecatedSource.Component, e.Source.Component)},
		DeprecatedFirstTimestamp: either(e.DeprecatedFirstTimestamp, e.FirstTimestamp),
		DeprecatedLastTimestamp:  either(e.DeprecatedLastTimestamp, e.LastTimestamp), DeprecatedCount: cmp.Or(e.DeprecatedCount, e.Count)}
	if out.Regarding.Name == "" {
		out.Regarding = e.InvolvedObject
	}
	out = Trim(out)
	if _, ok := Read(out); !ok {
		return nil
	}
	return out
}
