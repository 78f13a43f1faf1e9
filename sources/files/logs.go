package files

import (
	"context"
	"iter"
	"slices"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/audit"
	"github.com/schedq/schedq/sources/joined"
	"github.com/schedq/schedq/sources/lines"
	"github.com/schedq/schedq/sources/schedlog"
)

// readAudit reads an audit log that is kept. The survey of all audit logs finds out the rest.
func readAudit(ctx context.Context, f *file) error {
	f.log = audit.NewLog(f.hint, f.open)
	if !f.keeps {
		return nil
	}
	return f.log.Keep(ctx)
}

// readScheduler reads a scheduler's log once.
func readScheduler(ctx context.Context, f *file) error {
	var show func(sources.Event)
	if !f.keeps {
		f.shown = &shown{moves: f.summary(), ends: f.summary()}
		show = f.shown.add
	}
	return f.readWith(ctx, func(r *lines.Reader) error {
		log, err := schedlog.Survey(r, f.year, f.keeps, show)
		if err == nil {
			f.sched, f.part = log, &sources.Part{Format: schedlog.Format, First: log.First, Last: log.Last, Notices: log.Notices}
		}
		return err
	})
}

// joined returns a scheduler's log for merging.
func (f *file) joined() *joined.Log {
	log := f.sched
	events := func(context.Context) joined.Events { return log.Events(nil) }
	if !f.keeps {
		events = func(ctx context.Context) joined.Events { return sources.Ahead(ctx, f.readAgain) }
	}
	all := &joined.Log{First: log.First, Last: log.Last, Moves: log.Moves, Spans: log.Spans, Starts: log.Starts, Events: events}
	if !f.repeated.IsZero() {
		return laterPart(f.repeated, all)
	}
	return all
}

// readAgain reads a scheduler's log that is not kept.
func (f *file) readAgain(ctx context.Context) iter.Seq2[sources.Event, error] {
	return func(yield func(sources.Event, error) bool) {
		r, _, err := f.open(ctx)
		if err != nil {
			yield(sources.Event{}, err)
			return
		}
		defer r.Close()
		f.sched.Events(r)(yield)
	}
}

// shown selects events of a scheduler's log. Which of the two summaries applies is known at the log's end.
type shown struct{ moves, ends Summary }

func (s *shown) add(ev sources.Event) {
	switch ev.Fact.(type) {
	case *sources.Delivered, *sources.SchedulerStarted:
	case *sources.FailedAttempt, *sources.Bound:
		s.ends.Add(ev)
	case *sources.Dumped, *sources.Discarded: // at any verbosity
		s.ends.Add(ev)
		s.moves.Add(ev)
	default:
		s.moves.Add(ev)
	}
}

// events returns the selected events.
func (s *shown) events(log *schedlog.Log) []sources.Event {
	switch {
	case len(log.Spans) == 0:
		return s.moves.Events()
	case !log.Moves:
		return s.ends.Events()
	}
	return append(s.moves.Events(), slices.DeleteFunc(s.ends.Events(), func(ev sources.Event) bool {
		return isFact[*sources.Dumped](ev) || isFact[*sources.Discarded](ev)
	})...)
}

// otherLines returns a predicate for lines of the other kind: a scheduler's in an audit log, audit events in a
// scheduler's log. It returns nil if the format is not a log's.
func otherLines(format string) func(line []byte) bool {
	switch format {
	case audit.Format:
		return newScheduler()
	case schedlog.Format:
		return isAudit
	}
	return nil
}

func isAudit(line []byte) bool {
	if len(line) == 0 || line[0] != '{' {
		return false
	}
	_, is := audit.Sniff(line)
	return is
}

// newScheduler returns a predicate that must see every line of an audit log: a line that klog indented belongs to the
// line before it.
func newScheduler() func(line []byte) bool {
	within := false
	return func(line []byte) bool {
		if len(line) == 0 || line[0] == '{' {
			within = false
			return false
		}
		within = within && (line[0] == '\t' || line[0] == ' ') || schedlog.Sniff(line)
		return within
	}
}
