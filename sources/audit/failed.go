package audit

import (
	"bytes"
	"encoding/json"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// failedScheduling reports whether with the event kube-scheduler wrote an Event object.
func (e *event) failedScheduling() bool {
	return e.resource == "events" && e.responseObject != nil && e.writes() && string(e.stage) == "ResponseComplete" &&
		e.byScheduler()
}

// failedAttempt returns what a FailedScheduling Event tells: its eventTime, and once it is a series the
// time when that was last observed, are the moment at which an attempt failed.
func (e *event) failedAttempt() (sources.Event, bool) {
	var o struct {
		Reason    string
		Note      string
		Message   string // of core/v1
		EventTime time.Time
		Series    *struct {
			LastObservedTime time.Time
			Count            int
		}
		Regarding, InvolvedObject struct {
			Kind, Namespace, Name, ResourceVersion string
			UID                                    types.UID
		}
	}
	if !bytes.Contains(e.responseObject, []byte("FailedScheduling")) || json.Unmarshal(e.responseObject, &o) != nil || o.Reason != "FailedScheduling" {
		return sources.Event{}, false // an answer that is no Event, or of another reason
	}
	about := o.Regarding
	if about.Name == "" {
		about = o.InvolvedObject
	}
	at := o.EventTime
	count := 1
	if o.Series != nil && o.Series.LastObservedTime.After(at) && string(e.verb) != "create" {
		at, count = o.Series.LastObservedTime, o.Series.Count
	}
	heard := parse(string(e.stamp))
	if at.Sub(heard) > time.Minute {
		return sources.Event{}, false // no clock is so far ahead of the API server's
	}
	if at.IsZero() || about.Kind != "Pod" || sources.CheckTime(at) != nil || sources.CheckName(about.Name) != nil || sources.CheckName(about.Namespace) != nil {
		return sources.Event{}, false
	}
	if o.Note == "" {
		o.Note = o.Message
	}
	return sources.Event{Time: at.UTC(), Fact: &sources.FailedAttempt{
		Pod: types.NamespacedName{Namespace: about.Namespace, Name: about.Name},
		UID: types.UID(sources.Sanitize(string(about.UID))), Message: sources.Sanitize(o.Note),
		Recorded: sources.NewRecorded(o.Regarding.ResourceVersion, count), Heard: heard,
	}}, true
}
