package sources

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Part is what one file gave: events in the order of time, and what is worth knowing of the file.
type Part struct {
	// Format names the file's format, such as "audit".
	Format string
	Events []Event
	// First and Last are the file's first and last times, also of lines that gave no event. Zero if no
	// line has a time.
	First, Last time.Time
	// Deliveries are what a scheduler's log that does not tell all moves says to have heard of by its watches, in the order of time.
	Deliveries []Delivery
	// Notices are sentences for the person.
	Notices []string
	// Keep is told about how many bytes of memory an event takes that is added, if it is set.
	Keep func(bytes int)
}

// Add appends an event.
func (p *Part) Add(t time.Time, f Fact) {
	p.Events = append(p.Events, Event{Time: t, Fact: f})
	p.Saw(t)
	if p.Keep != nil {
		p.Keep(Cost(f))
	}
}

// Saw widens the part's range to t.
func (p *Part) Saw(t time.Time) {
	if p.First.IsZero() || t.Before(p.First) {
		p.First = t
	}
	if t.After(p.Last) {
		p.Last = t
	}
}

// Delivery says that kube-scheduler's watch told it at that time of a pod or a node that came or went: Verb is Added or Deleted. A pod
// that is bound comes as one that is assigned.
type Delivery struct {
	Time time.Time
	Delivered
}

// Delivered is what a Delivery is of.
type Delivered struct {
	Verb     Verb
	Node     bool // not a pod
	Assigned bool // a pod that has a node
	Name     types.NamespacedName
}
