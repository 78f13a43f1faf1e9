package audit

import (
	"bytes"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/apijson"
	"github.com/schedq/schedq/sources/jsonscan"
	"github.com/schedq/schedq/sources/objects"
)

// failedScheduling reports whether kube-scheduler wrote an Event object in the event.
func (e *event) failedScheduling() bool {
	return e.resource == "events" && e.responseObject != nil && e.writes() && string(e.stage) == "ResponseComplete" &&
		e.byScheduler()
}

// failedAttempt returns the attempt of a FailedScheduling Event. It failed at the Event's eventTime or, in a series, when
// that was last observed. An error is about that time.
func (e *event) failedAttempt() (sources.Event, bool, error) {
	var o apijson.Event
	if !bytes.Contains(e.responseObject, []byte("FailedScheduling")) || !e.texts.Event(e.responseObject, &o) && !apijson.AnyEvent(e.responseObject, &o) || o.Reason != "FailedScheduling" {
		return sources.Event{}, false, nil // not an Event, or one with another reason
	}
	at, count := o.EventTime, 1
	if o.LastObserved.After(at) && string(e.verb) != "create" {
		at, count = o.LastObserved, o.Count
	}
	received := parse(string(e.stamp))
	about := o.Regarding
	if at.IsZero() || about.Kind != "Pod" || sources.CheckName(about.Name) != nil || sources.CheckName(about.Namespace) != nil {
		return sources.Event{}, false, nil
	}
	if late := received.Sub(at); late < -aheadBy || late > latestEvent {
		return sources.Event{}, false, fmt.Errorf("the Event about the pod \"%s\" is of %s and was written at %s",
			sources.Sanitize(about.Name), at.UTC().Format(time.RFC3339), received.Format(time.RFC3339))
	}
	return sources.Event{Time: at.UTC(), Fact: &sources.FailedAttempt{
		Pod: types.NamespacedName{Namespace: about.Namespace, Name: about.Name},
		UID: types.UID(sources.Sanitize(string(about.UID))), Message: sources.Sanitize(o.Note),
		Recorded: sources.NewRecorded(about.ResourceVersion, count), Received: received,
	}}, true, nil
}

const (
	// aheadBy limits how far a scheduler's clock is ahead of the API server's.
	aheadBy = time.Minute
	// latestEvent limits how late an Event is written. A scheduler tries each for two minutes while the API server is away,
	// one after another.
	latestEvent = time.Hour
)

// refusal returns a refused request that kube-scheduler made after an attempt: to write a pod's condition, or to bind it.
// A request that it may retry, because the server was busy, does not count.
func (e *event) refusal() (sources.Event, bool) {
	binds := e.subresource == "binding" && string(e.verb) == "create"
	writes := e.subresource == "status" && string(e.verb) == "patch"
	code := e.code()
	if !e.kind.IsPod() || !binds && !writes || string(e.stage) != "ResponseComplete" || !e.byScheduler() || len(code) != 3 || code[0] != '4' || code == "429" {
		return sources.Event{}, false
	}
	if one, none := objects.Nominates(e.requestObject); one || none {
		return sources.Event{}, false
	}
	at, f := parse(string(e.stamp)), &sources.Refused{Pod: types.NamespacedName{Namespace: e.namespace, Name: e.name}, UID: types.UID(sources.Sanitize(string(e.uid))), Sent: parse(string(e.received)), Binding: binds}
	if binds {
		f.Node = bindsTo(e.requestObject)
	}
	is := sources.CheckTime(at) == nil && sources.CheckName(e.name) == nil && sources.CheckName(e.namespace) == nil
	return sources.Event{Time: at.UTC(), Fact: f}, is
}

// bindsTo returns the name of a Binding's node. Empty if it has none.
func bindsTo(binding []byte) (node string) {
	_ = jsonscan.Members(binding, func(name, target []byte) bool {
		if string(name) != "target" {
			return true
		}
		_ = jsonscan.Members(target, func(name, value []byte) bool {
			if string(name) != "name" {
				return true
			}
			if text := string(jsonscan.Text(value)); sources.CheckName(text) == nil {
				node = text
			}
			return false
		})
		return false
	})
	return node
}
