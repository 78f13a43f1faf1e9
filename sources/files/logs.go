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

// readAudit keeps an audit log that is to be kept. All else is found out of all of them together.
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

// joined is a scheduler's log as it is put together with others.
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

// shown selects of what the lines of a scheduler's log say. What of that it tells is known at its end.
type shown struct{ moves, ends Summary }

func (s *shown) add(ev sources.Event) {
	switch ev.Fact.(type) {
	case *sources.Delivered, *sources.SchedulerStarted:
	case *sources.FailedAttempt, *sources.Bound:
		s.ends.Add(ev)
	case *sources.Dumped:
		s.ends.Add(ev)
		s.moves.Add(ev)
	default:
		s.moves.Add(ev)
	}
}

// events returns what was selected of what the log tells.
func (s *shown) events(log *schedlog.Log) []sources.Event {
	switch {
	case len(log.Spans) == 0:
		return s.moves.Events()
	case !log.Moves:
		return s.ends.Events()
	}
	return append(s.moves.Events(), slices.DeleteFunc(s.ends.Events(), isFact[*sources.Dumped])...)
}

// otherLines returns what reports whether a line of a log is of the other kind: of a scheduler's in an audit log, and of an audit
// log's in a scheduler's log. It returns nil if the file is no log.
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

// newScheduler returns a function that is shown each line of an audit log. What klog indents goes with the line before it.
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
