package sources

import (
	"context"
	"iter"
	"slices"
	"time"
)

// Recording is a finished source, which can be replayed.
type Recording struct {
	// Name is the base name of a file, or the name of an embedded recording.
	Name SafeText
	// Formats are the formats of its files: "audit", "schedlog", "trace".
	Formats []string
	// Events are the events in order of time; events of the same time are in the order of their sources. For a long
	// recording, which is not kept (Reread is set), they are a summary: events that show which facts and kinds of objects
	// it contains, which schedulers there are, when it begins and ends, and long pauses. All yields all events of any
	// recording.
	Events []Event
	// Reread, if set, reads a long recording from its beginning and yields its events. After an error it ends.
	Reread func(context.Context) iter.Seq2[Event, error]
	// Begin is the first time in any of its files, also without an event. Zero if unknown.
	Begin time.Time
	// End is the last time in any of its files, also without an event. Zero if unknown.
	End time.Time
	// Unread is true for a long recording that was not read to its end yet: Events and End describe its beginning only, and
	// Reread yields all events.
	Unread bool
	// Rerun is true if the recorded scheduler's activity is removed, so that a local scheduler decides in its place.
	Rerun bool
	// Release is the default release of that scheduler's queue. Empty is the newest.
	Release string
	// Notices are sentences for the user: where a cut-off file ended, how many lines are unreadable.
	Notices []string
}

// Live reports whether the events are those of a live cluster.
func (r *Recording) Live() bool { return slices.Contains(r.Formats, "live") }

// All yields all events in order of time. After an error it ends.
func (r *Recording) All(ctx context.Context) iter.Seq2[Event, error] {
	if r.Reread != nil {
		return r.Reread(ctx)
	}
	return func(yield func(Event, error) bool) {
		for _, ev := range r.Events {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// Without returns the recording without the events for which drop returns true.
func (r *Recording) Without(drop func(Event) bool) *Recording {
	of := *r
	of.Events = slices.DeleteFunc(slices.Clone(r.Events), drop)
	if r.Reread != nil {
		of.Reread = func(ctx context.Context) iter.Seq2[Event, error] {
			return func(yield func(Event, error) bool) {
				for ev, err := range r.Reread(ctx) {
					if (err != nil || !drop(ev)) && !yield(ev, err) {
						return
					}
				}
			}
		}
	}
	return &of
}

// Ahead yields what events yields, and reads ahead in a goroutine, so that reading and playing use two cores. The
// goroutine has ended when the iteration ends.
func Ahead(ctx context.Context, events func(context.Context) iter.Seq2[Event, error]) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		read := make(chan batch, batchesAhead)
		go readAhead(ctx, events(ctx), read)
		defer func() {
			cancel()
			for range read { // until the goroutine has ended
			}
		}()
		for s := range read {
			for _, ev := range s.events {
				if !yield(ev, nil) {
					return
				}
			}
			if s.err != nil {
				yield(Event{}, s.err)
				return
			}
		}
	}
}

// batchesAhead is the number of batches read ahead, and batchLen the number of events in one: enough for the cost of
// passing one on not to matter.
const batchesAhead, batchLen = 4, 128

// batch is some events, and the error after them.
type batch struct {
	events []Event
	err    error
}

// readAhead sends events to read, which it closes at the end, until ctx ends.
func readAhead(ctx context.Context, events iter.Seq2[Event, error], read chan<- batch) {
	defer close(read)
	var s batch
	send := func() bool {
		select {
		case read <- s:
			s = batch{events: make([]Event, 0, batchLen)}
			return true
		case <-ctx.Done():
			return false
		}
	}
	for ev, err := range events {
		if s.err = err; err == nil {
			s.events = append(s.events, ev)
		}
		if err != nil || len(s.events) == batchLen {
			if !send() || err != nil {
				return
			}
		}
	}
	send()
}
