// Package joined puts together what audit logs and the logs of their schedulers tell, event by event: what a scheduler's log
// tells more exactly is taken from it, and what it proves of the order of changes is followed. What is remembered is what was
// told within seconds, and the pods that are there.
package joined

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/schedq/schedq/sources"
)

// Events are events in the order of time. An error is the last that they yield.
type Events = iter.Seq2[sources.Event, error]

// Log is a scheduler's log.
type Log struct {
	// First and Last are its first and last times.
	First, Last time.Time
	// Moves is true if it tells moves.
	Moves bool
	// Spans are its *sources.Logged. A log that tells all moves has none.
	Spans []sources.Event
	// Starts are its *sources.SchedulerStarted, in the order in which Events yields them.
	Starts []sources.Event
	// Events reads the log once more, and yields also its *sources.Delivered. Each reading has facts of its own.
	Events func(context.Context) Events

	described []bool // those of Starts that changes tell of, too
}

// markAll marks a log that tells all moves, where others do not.
func (l *Log) markAll() {
	begin := sources.Event{Time: l.First, Fact: &sources.Logged{Verbosity: sources.MovesVerbosity}}
	end := sources.Event{Time: l.Last, Fact: &sources.Logged{Verbosity: -1}}
	l.Spans = []sources.Event{begin, end}
	all := l.Events
	l.Events = func(ctx context.Context) Events {
		return func(yield func(sources.Event, error) bool) {
			if !yield(begin, nil) {
				return
			}
			for ev, err := range all(ctx) {
				if !yield(ev, err) || err != nil {
					return
				}
			}
			yield(end, nil)
		}
	}
}

// Kept returns a function that yields events that are at hand, which it sorts.
func Kept(events []sources.Event) func(context.Context) Events {
	byTime := func(a, b sources.Event) int { return a.Time.Compare(b.Time) }
	if !slices.IsSortedFunc(events, byTime) {
		slices.SortStableFunc(events, byTime)
	}
	return func(context.Context) Events {
		return func(yield func(sources.Event, error) bool) {
			for _, ev := range events {
				if !yield(ev, nil) {
					return
				}
			}
		}
	}
}

// tellsAll reports whether the log tells all moves, from its first line to its last.
func (l *Log) tellsAll() bool { return len(l.Spans) == 0 }

// Recording is what is told of one run.
type Recording struct {
	// Changes reads what audit logs tell. Nil: there are none.
	Changes func(context.Context) Events
	// Begins is when the changes begin. Zero if that is not known.
	Begins time.Time
	// Logs are those of the schedulers, of which one follows upon another.
	Logs []*Log
	// Before and After read other sources. Of equal times their events come behind the changes and behind the logs.
	Before, After []func(context.Context) Events
	// Memory is how many bytes may be taken by what waits. 0: as many as need be.
	Memory int

	joins join
}

// join is how changes and logs are put together.
type join int8

const (
	asTheyAre  join = iota // the logs tell nothing of pods
	movesAlone             // the logs tell what schedulers did, and the changes the rest
	asEvidence             // logs that do not tell all moves are evidence beside that of the changes
)

// Prepare finds out how what r tells is put together. It must be called before Events, and
// again if the logs are others.
func (r *Recording) Prepare() {
	r.joins = asTheyAre
	switch {
	case slices.ContainsFunc(r.Logs, func(l *Log) bool { return !l.tellsAll() }):
		r.joins = asEvidence
		for _, l := range r.Logs {
			if l.tellsAll() && l.Moves {
				l.markAll()
			}
		}
	case slices.ContainsFunc(r.Logs, func(l *Log) bool { return l.Moves }):
		r.joins = movesAlone
	}
}

// Describe takes what logs tell of schedulers that started for what is to be known of those *sources.SchedulerStarted among the changes
// that are the same, which are given in the order of time, and are the same facts whenever they are read. It returns those starts that
// are told. It may be called once, between Prepare and Events.
func (r *Recording) Describe(starts []sources.Event) (told []sources.Event) {
	for _, l := range r.Logs {
		if r.joins == asEvidence {
			l.describeStarts(starts)
		}
		for i, ev := range l.Starts {
			if !l.describes(i) {
				told = append(told, ev)
			}
		}
	}
	for _, ev := range starts {
		if r.Tells(ev) {
			told = append(told, ev)
		}
	}
	return told
}

// Events reads all once and yields it in the order of time.
func (r *Recording) Events(ctx context.Context) Events {
	return func(yield func(sources.Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		room := &room{most: r.Memory}
		from := r.Begins
		if !from.IsZero() {
			from = from.Add(-behind)
		}
		var logs []*window
		for _, l := range r.Logs {
			w := newWindow(l, l.Events(ctx), from, room)
			w.alone = r.Changes == nil && len(r.Before) == 0
			defer w.stop()
			logs = append(logs, w)
		}
		var all []*head
		add := func(events Events, from time.Time) { all = append(all, &head{events: events, from: from}) }
		if r.Changes != nil {
			add(r.changes(ctx, logs, room), from)
		}
		for _, read := range r.Before {
			add(read(ctx), time.Time{})
		}
		for _, w := range logs {
			add(w.events(), time.Time{})
		}
		for _, read := range r.After {
			add(read(ctx), time.Time{})
		}
		events := merge(all)
		if r.joins == asEvidence {
			events = nameUIDs(events)
		}
		events(yield)
	}
}

// Tells reports whether an event of the changes is told, and not by a log more exactly. It must be called after Prepare.
func (r *Recording) Tells(ev sources.Event) bool {
	switch r.joins {
	case movesAlone:
		return isFact[*sources.ObjectChange](ev) || isFact[*sources.Attached](ev)
	case asEvidence:
		return !isFact[*sources.FailedAttempt](ev) || !tellAttempts(r.Logs, ev.Time) && !tellAttempts(r.Logs, ev.Time.Add(-untilEvent))
	}
	return true
}

// changes yields the changes as the logs have them become so.
func (r *Recording) changes(ctx context.Context, logs []*window, room *room) Events {
	if len(logs) == 0 {
		return r.Changes(ctx)
	}
	changes := r.fromChanges(r.Changes(ctx), logs)
	if r.joins == asEvidence {
		changes = earlier(changes, newDeliveries(logs).deliver, room)
	}
	for _, log := range logs {
		if log.of.Moves {
			changes = earlier(changes, newCausality(log).precede, room)
		}
	}
	return func(yield func(sources.Event, error) bool) {
		changes(yield)
		for _, log := range logs {
			log.seen = nil // there is nothing that it could be evidence of
		}
	}
}

// fromChanges yields of changes what is told. A failed attempt that is not may have something to say to the line that is.
func (r *Recording) fromChanges(changes Events, logs []*window) Events {
	failures := newFailures(logs)
	return func(yield func(sources.Event, error) bool) {
		for ev, err := range changes {
			failures.told.forget(ev.Time.Add(-heldUp))
			if err == nil && !r.Tells(ev) {
				if f, is := ev.Fact.(*sources.FailedAttempt); is && r.joins == asEvidence {
					failures.record(ev.Time, f)
				}
				continue
			}
			if !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

func isFact[F sources.Fact](e sources.Event) bool {
	_, is := e.Fact.(F)
	return is
}

// head is the next event of some, which are read as they are needed.
type head struct {
	sources.Event
	err    error
	events Events
	from   time.Time // none of them is earlier
	opened bool
	some   bool
	next   func() (sources.Event, error, bool)
}

func (h *head) advance() {
	h.opened = true
	h.Event, h.err, h.some = h.next()
}

// merge yields all events. Of equal times that of the earlier of all comes first.
func merge(all []*head) Events {
	if len(all) == 1 {
		return all[0].events
	}
	return func(yield func(sources.Event, error) bool) {
		for _, h := range all {
			var stop func()
			h.next, stop = iter.Pull2(h.events)
			defer stop()
			if h.from.IsZero() {
				h.advance()
			}
		}
		for {
			first := firstOf(all)
			if first == nil || !yield(first.Event, first.err) || first.err != nil {
				return
			}
			first.advance()
		}
	}
}

// firstOf returns the head that is the next, or nil if there is none. One is opened when the others have come to where it begins.
func firstOf(all []*head) (first *head) {
	for _, h := range all {
		switch {
		case h.err != nil:
			return h
		case h.some && (first == nil || h.Time.Before(first.Time)):
			first = h
		}
	}
	for _, h := range all {
		if !h.opened && (first == nil || !first.Time.Before(h.from)) {
			h.advance()
			return firstOf(all)
		}
	}
	return first
}

// maxAhead is how far a scheduler's log can be ahead of the audit log: the API server tells watchers of
// a change before it has finished the answer to the request, by some milliseconds.
const maxAhead = time.Second
