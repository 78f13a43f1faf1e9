package audit

import (
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/earlier"
)

// Order returns the changes in all the logs as *sources.ObjectChange, in the order in which they were
// made, and between them what they tell of kube-schedulers: their starts, releases and failed attempts. The logs are used up.
//
// What was there before the first of them is told as added when the logs begin.
func Order(logs ...*Log) []sources.Event {
	events, _ := OrderSeeded(earlier.Seed{}, logs...)
	return events
}

// OrderSeeded is Order of logs beside which a seed tells of the objects at one moment near their beginning.
func OrderSeeded(seed earlier.Seed, logs ...*Log) ([]sources.Event, earlier.Fit) {
	const however = -1
	looking := newSurveyor(however, false, nil)
	beside(cursors(logs), looking.takeItem)
	found := looking.finish(logs)
	fit := found.begin.AddSeed(seed.Objects)
	var events []sources.Event
	t := found.newTeller(seed, however, func(ev sources.Event) { events = append(events, ev) })
	beside(cursors(logs), t.takeItem)
	for _, l := range logs {
		l.items = nil
	}
	t.finish()
	return events, fit
}

// cursors are the logs that were read, at their beginnings.
func cursors(logs []*Log) []*cursor {
	var all []*cursor
	for _, l := range logs {
		all = append(all, &cursor{items: l.items})
	}
	return all
}
