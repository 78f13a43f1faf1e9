package sources

import (
	"context"
	"iter"
	"slices"
	"time"
)

// Recording is a finished source: what replay plays.
type Recording struct {
	// Name is what to call it: a file's base name, or the name of an embedded recording.
	Name SafeText
	// Formats names the formats of the files it was read from: "audit", "schedlog", "trace".
	Formats []string
	// Events are the events in the order of time; of equal times, in the order of their sources. Of a long recording, which is not kept
	// (Reread is set), they are a summary: events that show which facts it tells of which kinds of objects, which schedulers there
	// are, when it begins and ends, and when nothing happens for long. All yields all events of any recording.
	Events []Event
	// Reread, if it is set, reads a long recording from its beginning and yields its events. An error is the last that it yields.
	Reread func(context.Context) iter.Seq2[Event, error]
	// Begin is the first time in any of its files, also without an event. Zero if not known.
	Begin time.Time
	// End is the last time that any of its files tells, also without an event. Zero if not known.
	End time.Time
	// Unread is true of a long recording that was not read to its end yet: Events and End tell of its beginning alone, and Reread yields
	// all there is, by what that told of it.
	Unread bool
	// Rerun is true if what the recorded scheduler did is left out, and another is to decide in its place.
	Rerun bool
	// Release is the release by whose rules that one's queue runs, if a person does not choose another.
	// Empty is the newest.
	Release string
	// Notices are sentences for the person: where a cut-off file ended, how many lines were not
	// understood.
	Notices []string
}

// Live reports whether the events are a live cluster's, which a person watches now.
func (r *Recording) Live() bool { return slices.Contains(r.Formats, "live") }

// All yields all events in the order of time. An error is the last that it yields.
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

// Without returns the recording without the events that left is true of.
func (r *Recording) Without(left func(Event) bool) *Recording {
	of := *r
	of.Events = slices.DeleteFunc(slices.Clone(r.Events), left)
	if r.Reread != nil {
		of.Reread = func(ctx context.Context) iter.Seq2[Event, error] {
			return func(yield func(Event, error) bool) {
				for ev, err := range r.Reread(ctx) {
					if (err != nil || !left(ev)) && !yield(ev, err) {
						return
					}
				}
			}
		}
	}
	return &of
}

// Ahead yields what events yields, which it has read ahead meanwhile, in a goroutine of its own: whoever plays events and who reads
// them each have a core. Nothing of that goroutine is left when the iteration ends.
func Ahead(ctx context.Context, events func(context.Context) iter.Seq2[Event, error]) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		read := make(chan stretch, stretchesAhead)
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

// stretchesAhead is how many stretches are read ahead, and mostEvents how many events one has: enough for it not to matter what it
// takes to hand one over.
const stretchesAhead, mostEvents = 4, 128

// stretch is some events, and what went wrong behind them.
type stretch struct {
	events []Event
	err    error
}

// readAhead sends events to read, which it closes at the end, until ctx ends.
func readAhead(ctx context.Context, events iter.Seq2[Event, error], read chan<- stretch) {
	defer close(read)
	var s stretch
	send := func() bool {
		select {
		case read <- s:
			s = stretch{events: make([]Event, 0, mostEvents)}
			return true
		case <-ctx.Done():
			return false
		}
	}
	for ev, err := range events {
		if s.err = err; err == nil {
			s.events = append(s.events, ev)
		}
		if err != nil || len(s.events) == mostEvents {
			if !send() || err != nil {
				return
			}
		}
	}
	send()
}
