package audit

import (
	"github.com/schedq/schedq/sources"
)

// Order returns the changes in all the logs as *sources.ObjectChange, in the order in which they were
// made, and between them what they tell of kube-schedulers: their starts, releases and failed attempts. The logs are used up.
//
// What was there before the first of them is told as added when the logs begin.
func Order(logs ...*Log) []sources.Event {
	events, _ := OrderSeeded(Seed{}, logs...)
	return events
}

// OrderSeeded is Order of logs beside which a seed tells of the objects at one moment near their beginning.
func OrderSeeded(seed Seed, logs ...*Log) ([]sources.Event, Fit) {
	const however = -1
	looking := newSurveyor(however, false)
	beside(logs, looking.take)
	found := looking.finish(logs)
	fit := found.begin.addSeed(seed.Objects)
	var events []sources.Event
	t := found.newTeller(seed, however, func(ev sources.Event) { events = append(events, ev) })
	beside(logs, t.take)
	for _, l := range logs {
		l.items = nil
	}
	t.finish()
	return events, fit
}

// beside has take take the items of all the logs, side by side.
func beside(logs []*Log, take func(*item)) {
	cursors := make([]*cursor, len(logs))
	for i, l := range logs {
		cursors[i] = &cursor{items: l.items}
	}
	for {
		c := earliest(cursors)
		if c == nil {
			return
		}
		take(&c.items[0])
		c.items = c.items[1:]
	}
}
