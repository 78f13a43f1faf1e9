// Package joined merges audit logs with the logs of their schedulers, event by event. It takes from a scheduler's log the
// facts that it has more exactly, and corrects the order of changes where the log proves it. It remembers the last few
// seconds, and the pods that exist.
package joined

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/schedq/schedq/sources"
)

// Events yields events in the order of time. An error is the last.
type Events = iter.Seq2[sources.Event, error]

// Log is a scheduler's log.
type Log struct {
	// First and Last are its first and last times.
	First, Last time.Time
	// Moves is true if it contains moves.
	Moves bool
	// Spans are its *sources.Logged. A log that contains all moves has none.
	Spans []sources.Event
	// Starts are its *sources.SchedulerStarted, in the order in which Events yields them.
	Starts []sources.Event
	// Events reads the log again. It also yields *sources.Delivered. No two readings share facts.
	Events func(context.Context) Events

	described []bool // the Starts that are also among the changes
}

// markAll marks a log that contains all moves when others do not.
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

// Kept returns a function that yields the given events, sorted in place.
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

// hasAll reports whether the log contains all moves, from its first line to its last.
func (l *Log) hasAll() bool { return len(l.Spans) == 0 }

// Recording is the sources of one run.
type Recording struct {
	// Changes reads the audit logs. Nil if there are none.
	Changes func(context.Context) Events
	// Begins is when the changes begin. Zero if not known.
	Begins time.Time
	// Logs are the schedulers' logs, one after another.
	Logs []*Log
	// Before and After read other sources. Of equal times, events are in the order changes, Before, logs, After.
	Before, After []func(context.Context) Events
	// Memory limits the bytes of the events that wait. 0 means no limit.
	Memory int

	joins join
}

// join is how changes and logs are merged.
type join int8

const (
	asTheyAre  join = iota // the logs contain nothing about pods
	movesAlone             // the schedulers' work is taken from the logs alone, and the rest from the changes
	asEvidence             // logs without all moves are evidence, as are the changes
)

// Prepare decides how changes and logs are merged. It must be called before Events, and again when Logs change.
func (r *Recording) Prepare() {
	r.joins = asTheyAre
	switch {
	case slices.ContainsFunc(r.Logs, func(l *Log) bool { return !l.hasAll() }):
		r.joins = asEvidence
		for _, l := range r.Logs {
			if l.hasAll() && l.Moves {
				l.markAll()
			}
		}
	case slices.ContainsFunc(r.Logs, func(l *Log) bool { return l.Moves }):
		r.joins = movesAlone
	}
}

// Describe fills in the changes' scheduler starts, in the order of time, from the same starts in the logs: every
// reading of the changes must yield these facts. It returns the starts that the recording has. It may be called once,
// between Prepare and Events.
func (r *Recording) Describe(starts []sources.Event) (all []sources.Event) {
	for _, l := range r.Logs {
		if r.joins == asEvidence {
			l.describeStarts(starts)
		}
		for i, ev := range l.Starts {
			if !l.describes(i) {
				all = append(all, ev)
			}
		}
	}
	for _, ev := range starts {
		if r.Has(ev) {
			all = append(all, ev)
		}
	}
	return all
}

// Events reads all sources once and yields their events in the order of time.
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

// Has reports whether the recording has an event of the changes: no log has it more exactly. It must be called after
// Prepare.
func (r *Recording) Has(ev sources.Event) bool {
	switch r.joins {
	case movesAlone:
		return isFact[*sources.ObjectChange](ev) || isFact[*sources.Attached](ev)
	case asEvidence:
		return !isFact[*sources.FailedAttempt](ev) || !haveAttempts(r.Logs, ev.Time) && !haveAttempts(r.Logs, ev.Time.Add(-untilEvent))
	}
	return true
}

// changes yields the changes at the times that the logs prove.
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
			log.seen = nil // no change is left to compare
		}
	}
}

// fromChanges yields the changes that the recording has. A failed attempt that a log has more exactly completes the
// log's line.
func (r *Recording) fromChanges(changes Events, logs []*window) Events {
	failures := newFailures(logs)
	return func(yield func(sources.Event, error) bool) {
		for ev, err := range changes {
			failures.attempts.forget(ev.Time.Add(-heldUp))
			if err == nil && !r.Has(ev) {
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

// head is the next event of one source.
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

// merge yields all events. Events of equal times are in the order of all.
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

// firstOf returns the head with the next event, or nil if there is none. It opens a head when the others have reached
// its beginning.
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

// maxAhead limits how far a scheduler's log can be ahead of the audit log: the API server sends a change to watchers
// some milliseconds before it has finished the response to the request.
const maxAhead = time.Second
