package files

import (
	"context"
	"iter"
	"runtime/debug"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/trace"
)

// A trace, or a ring, that is read alone can be told event by event as it is read: nothing must be known of it as a whole.

// isAlone reports whether files are one trace or ring and nothing is beside it.
func isAlone(files []*file, opts Options) bool {
	return opts.Beside == nil && len(opts.Seeds) == 0 && len(files) == 1 && files[0].format.name == trace.Format
}

// streamMemory limits the memory, in bytes, of the objects of one moment in a small compressed trace
// that is too large to keep.
const streamMemory = 80 << 20

// streamTrace opens a trace that is too large to keep. It returns nil if the files are something else,
// or if the objects of one moment are too large, too.
func streamTrace(ctx context.Context, paths []string, opts Options) *sources.Recording {
	debug.FreeOSMemory() // what was kept until now
	files, err := detectAll(ctx, paths, opts)
	if err != nil {
		return nil
	}
	closeAll(files)
	opts.LongFrom = 1
	if opts.Summary == nil || !isAlone(files, opts) || files[0].ring != nil || !areLong(files, opts) {
		return nil
	}
	if opts.Memory == 0 {
		files[0].memory = streamMemory
	}
	rec, err := openAlone(ctx, name(paths), files[0], opts)
	if err != nil {
		return nil
	}
	return rec
}

// openAlone reads a trace or a ring once, and returns a recording that reads it again whenever it is played, as far as it was written
// then. What a trace takes at any moment is bounded like what is kept of another. It returns nil if the trace has to be kept: its times
// go back, or it tells moves in a way that all of it is needed for.
func openAlone(ctx context.Context, name sources.SafeText, f *file, opts Options) (*sources.Recording, error) {
	read := f.readTrace
	if f.ring != nil {
		f.ring.reading.Budget = nil
		read = f.ring.events
	}
	begun := read
	if f.ring != nil {
		ring := *f.ring // which reads on whatever is found out of it meanwhile
		begun = ring.events
	}
	shown, part, count := opts.Summary(), &sources.Part{}, 0
	for ev, err := range read(ctx, part) {
		if err != nil {
			return nil, err
		}
		if f.ring == nil && (isFact[*sources.Logged](ev) || isFact[*sources.Dumped](ev) || ev.Time.Before(part.Last)) {
			return nil, nil
		}
		shown.Add(ev)
		part.Saw(ev.Time)
		if count++; count == atFirstEvents && opts.AtFirst != nil {
			opts.AtFirst(&sources.Recording{Name: name, Formats: []string{trace.Format}, Events: shown.Events(), End: part.Last, Unread: true,
				Reread: func(ctx context.Context) iter.Seq2[sources.Event, error] { return begun(ctx, nil) }})
		}
	}
	end := part.Last
	if f.ring != nil {
		end = f.ring.end(end)
		f.ring.reading.To = part.Last
	} else if count == 0 {
		return nil, nil
	}
	return &sources.Recording{Name: name, Formats: []string{trace.Format}, Events: shown.Events(), End: end, Notices: part.Notices,
		Reread: func(ctx context.Context) iter.Seq2[sources.Event, error] {
			if f.ring != nil {
				return read(ctx, nil)
			}
			return first(count, read(ctx, nil))
		}}, nil
}

// readTrace yields the events of a trace from its beginning. At the end, part, unless it is nil, gets its notices and its last
// time. What stands at any moment is bounded, each time that it is read.
func (f *file) readTrace(ctx context.Context, part *sources.Part) iter.Seq2[sources.Event, error] {
	return func(yield func(sources.Event, error) bool) {
		r, ended, err := f.open(ctx)
		if err != nil {
			yield(sources.Event{}, err)
			return
		}
		defer r.Close()
		var cost int
		t, standing := trace.NewReader(r, func(bytes int) { cost += bytes }), sources.NewStanding(r.Keep)
		for ev, err := range t.All() {
			if err == nil {
				standing.Tell(ev, cost)
			}
			cost = 0
			if !yield(ev, err) || err != nil {
				return
			}
		}
		if part != nil {
			ended()
			if f.torn != "" {
				part.Notices = append(part.Notices, f.torn)
			}
			part.Notices = append(part.Notices, t.Notices()...)
			part.Saw(t.Last())
		}
	}
}

// first yields the first n of events, and what may go wrong with them.
func first(n int, events iter.Seq2[sources.Event, error]) iter.Seq2[sources.Event, error] {
	return func(yield func(sources.Event, error) bool) {
		for ev, err := range events {
			if n--; !yield(ev, err) || n == 0 {
				return
			}
		}
	}
}
