package files

import (
	"context"
	"iter"
	"runtime/debug"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/joined"
	"github.com/schedq/schedq/sources/trace"
)

// A trace or a ring without other files can be played while it is read. Then it need not be kept.

// streams reports whether the files are one trace or ring that is too long to keep.
func streams(files []*file, opts Options) bool {
	return opts.Summary != nil && opts.Beside == nil && len(opts.Seeds) == 0 && len(files) == 1 && files[0].format.name == trace.Format &&
		(areLong(files, opts) || isLongRing(files[0], opts))
}

// streamMemory limits the memory, in bytes, of the objects of one moment in a small compressed trace
// that is too large to keep.
const streamMemory = 80 << 20

// streamTrace opens a trace that is too large to keep. It returns nil if the files are something else,
// or if even the objects of one moment are too large.
func streamTrace(ctx context.Context, paths []string, opts Options) *sources.Recording {
	debug.FreeOSMemory() // of the data kept until now
	files, err := detectAll(ctx, paths, opts)
	if err != nil {
		return nil
	}
	closeAll(files)
	opts.LongFrom = 1
	if !streams(files, opts) || files[0].ring != nil {
		return nil
	}
	if opts.Memory == 0 {
		files[0].memory = streamMemory
	}
	rec, err := (&reading{name: name(paths), files: files, opts: opts}).read(ctx)
	if err != nil || rec.Reread == nil {
		return nil
	}
	return rec
}

// readTrace reads a trace or a ring. If it is not kept, readTrace selects a summary; it is read again later, up to its
// present end. A trace is kept anyway if its times go back, or if its moves can be known only from all of it.
func readTrace(ctx context.Context, f *file) (err error) {
	if !f.keeps {
		if f.keeps, err = f.surveyTrace(ctx); err != nil || !f.keeps {
			return err
		}
		f.selected = nil
	}
	if f.ring != nil {
		f.part, err = f.ring.read(ctx)
		return err
	}
	return partBy(trace.Read)(ctx, f)
}

// surveyTrace reads a trace or a ring that is not kept, and reports whether it must be.
func (f *file) surveyTrace(ctx context.Context) (keep bool, err error) {
	part := &sources.Part{Format: trace.Format}
	f.selected = f.summary()
	begun := *f // a copy: f changes while a ring is read
	if f.ring != nil {
		f.ring.reading.Budget = nil
		ring := *f.ring
		begun.ring = &ring
	}
	for ev, err := range f.traced(ctx, part) {
		if err != nil {
			return false, err
		}
		if f.ring == nil && (isFact[*sources.Logged](ev) || isFact[*sources.Dumped](ev) || ev.Time.Before(part.Last)) {
			return true, nil
		}
		f.selected.Add(ev)
		part.Saw(ev.Time)
		if f.events++; f.events == atFirstEvents && f.atFirst != nil {
			f.atFirst(&sources.Recording{Formats: []string{trace.Format}, Events: f.selected.Events(), End: part.Last, Unread: true,
				Reread: func(ctx context.Context) iter.Seq2[sources.Event, error] { return begun.traced(ctx, nil) }})
		}
	}
	f.part = part
	if f.ring != nil {
		f.ring.reading.To = part.Last
		part.Saw(f.ring.end(part.Last))
	}
	return f.ring == nil && f.events == 0, nil
}

// tracedAgain yields the events of a trace or a ring that is not kept, up to where it ended when it was first read.
func (f *file) tracedAgain(ctx context.Context) joined.Events {
	return func(yield func(sources.Event, error) bool) {
		left := f.events
		for ev, err := range f.traced(ctx, nil) {
			if left--; !yield(ev, err) || left == 0 {
				return
			}
		}
	}
}

// traced yields the events of a trace or a ring from its beginning. At the end it sets the notices and the last time of
// part, unless that is nil. Each reading limits the memory for the objects of one moment.
func (f *file) traced(ctx context.Context, part *sources.Part) joined.Events {
	if f.ring != nil {
		return f.ring.events(ctx, part)
	}
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
				standing.Add(ev, cost)
			}
			cost = 0
			if !yield(ev, err) || err != nil {
				return
			}
		}
		if part != nil {
			ended()
			part.Notices = t.Notices()
			part.Saw(t.Last())
		}
	}
}
