package files

import (
	"context"
	"iter"
	"runtime/debug"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/trace"
)

// isLongTrace reports whether files are one trace that is so long that it is not kept, where opts allow that.
func isLongTrace(files []*file, opts Options) bool {
	return opts.Gist != nil && opts.Beside == nil && len(opts.Seeds) == 0 && len(files) == 1 &&
		files[0].format == trace.Format && files[0].ring == nil && areLong(files, opts)
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
	defer closeAll(files)
	opts.LongFrom = 1
	if !isLongTrace(files, opts) {
		return nil
	}
	if opts.Memory == 0 {
		files[0].memory = streamMemory
	}
	rec, err := openLongTrace(ctx, name(paths), files[0], opts)
	if err != nil {
		return nil
	}
	return rec
}

// openLongTrace reads a trace once, and returns a recording that reads it again whenever it is played, as far as it was written
// then. What it takes at any moment is bounded like what is kept of another. It returns nil if the trace has to be kept: its times
// go back, or it tells moves in a way that all of it is needed for.
func openLongTrace(ctx context.Context, name sources.SafeText, f *file, opts Options) (*sources.Recording, error) {
	f.reader.Close()
	show, part, count := opts.Gist(), &sources.Part{}, 0
	for ev, err := range f.traced(ctx, part) {
		if err != nil {
			return nil, err
		}
		switch ev.Fact.(type) {
		case *sources.Logged, *sources.Dumped:
			return nil, nil
		}
		if ev.Time.Before(part.Last) {
			return nil, nil
		}
		show(ev)
		part.Saw(ev.Time)
		if count++; count == atFirstEvents && opts.AtFirst != nil {
			opts.AtFirst(&sources.Recording{Name: name, Formats: []string{trace.Format}, End: part.Last, Unread: true,
				Again: func(ctx context.Context) iter.Seq2[sources.Event, error] { return f.traced(ctx, nil) }})
		}
	}
	if count == 0 {
		return nil, nil
	}
	return &sources.Recording{Name: name, Formats: []string{trace.Format}, End: part.Last, Notices: part.Notices,
		Again: func(ctx context.Context) iter.Seq2[sources.Event, error] { return first(count, f.traced(ctx, nil)) }}, nil
}

// traced yields the events of a trace from its beginning. At the end, part, unless it is nil, gets its notices and its last
// time. What stands at any moment is bounded, each time that it is read.
func (f *file) traced(ctx context.Context, part *sources.Part) iter.Seq2[sources.Event, error] {
	return func(yield func(sources.Event, error) bool) {
		r, ended, err := f.again(ctx)
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
			part.Notices = append(ended(), t.Notices()...)
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
