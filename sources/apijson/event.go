package apijson

import (
	"cmp"
	"encoding/json"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Event contains the fields that schedq reads of an Event of events.k8s.io/v1 or core/v1, which name them differently.
type Event struct {
	Reason, Note string
	EventTime    time.Time
	// LastObserved and Count are those of its series, or zero.
	LastObserved time.Time
	Count        int
	// Regarding is the object of the Event. Its version is set only for events.k8s.io/v1: a recorder of core/v1 Events
	// combines several.
	Regarding Reference
}

// Reference is an object that an Event is about.
type Reference struct {
	Kind, Namespace, Name, ResourceVersion string
	UID                                    types.UID
}

// Event decodes an Event into e, which must be empty.
func (d *Decoder) Event(raw []byte, e *Event) bool {
	return d.run(raw, func() {
		d.members(func(name []byte) {
			switch string(name) {
			case "reason":
				e.Reason = word[string](d)
			case "note", "message":
				e.Note = d.text()
			case "eventTime":
				e.EventTime = d.time().Time
			case "series":
				d.series(e)
			case "regarding":
				e.Regarding = d.reference()
			case "involvedObject":
				e.Regarding = d.reference()
				e.Regarding.ResourceVersion = ""
			default:
				d.value()
			}
		})
	})
}

func (d *Decoder) series(e *Event) {
	d.members(func(name []byte) {
		switch string(name) {
		case "lastObservedTime":
			e.LastObserved = d.time().Time
		case "count":
			e.Count = int(d.number32())
		default:
			d.value()
		}
	})
}

func (d *Decoder) reference() (r Reference) {
	d.members(func(name []byte) {
		switch string(name) {
		case "kind":
			r.Kind = word[string](d)
		case "namespace":
			r.Namespace = word[string](d)
		case "name":
			r.Name = d.text()
		case "resourceVersion":
			r.ResourceVersion = d.text()
		case "uid":
			r.UID = types.UID(d.text())
		default:
			d.value()
		}
	})
	return r
}

// AnyEvent decodes an Event in an unusual format into e, and reports whether it could.
func AnyEvent(raw []byte, e *Event) bool {
	var o struct {
		Reason    string
		Note      string
		Message   string // of core/v1
		EventTime time.Time
		Series    struct {
			LastObservedTime time.Time
			Count            int
		}
		Regarding, InvolvedObject Reference
	}
	if json.Unmarshal(raw, &o) != nil {
		return false
	}
	*e = Event{Reason: o.Reason, Note: cmp.Or(o.Note, o.Message), EventTime: o.EventTime,
		LastObserved: o.Series.LastObservedTime, Count: o.Series.Count, Regarding: o.Regarding}
	if e.Regarding.Name == "" {
		e.Regarding = o.InvolvedObject
		e.Regarding.ResourceVersion = ""
	}
	return true
}
