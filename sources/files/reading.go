package files

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/audit"
	"github.com/schedq/schedq/sources/earlier"
	"github.com/schedq/schedq/sources/joined"
	"github.com/schedq/schedq/sources/lines"
)

// Files are read twice: first for facts about each file and about the audit logs as a whole, then event by event. Small
// files are kept in memory between the two, and their events afterwards; long logs are read again from their files.

// Summary selects the events of a source that show which facts it contains.
type Summary interface {
	Add(sources.Event)
	Events() []sources.Event
}

// reading turns files into a recording.
type reading struct {
	name  sources.SafeText
	files []*file
	opts  Options

	seeded      bool // the seeds are read
	seeds       []seedList
	seedNotices []string
	run         joined.Recording
	audits      *audit.Logs // nil if there are none
	shown       Summary     // of the audit logs if a file is not kept
}

// read reads the files until the recording's first event is known, and returns the recording.
func (r *reading) read(ctx context.Context) (*sources.Recording, error) {
	if err := loadAll(ctx, r.files); err != nil {
		return nil, err
	}
	if err := alignZones(ctx, withOthers(r.files)); err != nil {
		return nil, err
	}
	if err := trimRepeated(withOthers(r.files)); err != nil {
		return nil, err
	}
	if err := r.survey(ctx); err != nil {
		return nil, err
	}
	files, notices, err := withoutLeftOut(withOthers(r.files))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		f.known = true
	}
	if r.opts.Beside != nil {
		if err := sameRunAs(ctx, r.opts.Beside, files); err != nil {
			return nil, err
		}
	}
	if rec, err := played(r.name, files, r.seeds); rec != nil || err != nil {
		if err == nil {
			rec.Notices = slices.Concat(notices, r.seedNotices, rec.Notices)
		}
		return rec, err
	}
	if err := sameRun(files); err != nil {
		return nil, err
	}
	rec := &sources.Recording{Name: r.name, Notices: slices.Concat(notices, r.seedNotices)}
	for _, f := range files {
		describe(rec, f)
	}
	fromBegin, facts, err := r.begin(ctx, files)
	if err != nil {
		return nil, err
	}
	rec.Notices = append(rec.Notices, fromBegin...)
	return rec, r.finish(ctx, rec, files, facts)
}

// survey surveys the audit logs as a whole and prepares merging them with the other files.
func (r *reading) survey(ctx context.Context) error {
	if err := r.readSeeds(ctx); err != nil {
		return err
	}
	for {
		var logs []*audit.Log
		of := map[*audit.Log]*file{}
		r.join(withOthers(r.files))
		for _, f := range withOthers(r.files) {
			if f.log != nil && f.leftOut == nil {
				logs, of[f.log] = append(logs, f.log), f
			}
		}
		if len(logs) == 0 {
			return nil
		}
		audits, err := audit.Survey(ctx, logs, len(r.seeds) > 0, int(memoryOf(r.opts)), r.visitor())
		var one *audit.LogError
		if errors.As(err, &one) && ctx.Err() == nil {
			if err = r.leaveOut(of[one.Log], one.Err); err == nil {
				continue
			}
		}
		if err != nil {
			return err
		}
		r.audits, r.run.Begins, r.run.Changes = audits, audits.First(), audits.Events
		mixed := false
		for _, log := range logs {
			f := of[log]
			f.part = &sources.Part{Format: audit.Format, First: log.First, Last: log.Last, Notices: log.Notices}
			if log.Repeated > 0 {
				if err := f.repeats("them", "%s: %d of its changes and requests are also in other files", log.Name, log.Repeated); err != nil {
					return err
				}
			}
			before := f.other
			if err := f.loadOther(ctx, nil); err != nil {
				return err
			}
			mixed = mixed || f.other != before
		}
		if !mixed {
			return nil
		}
	}
}

// leaveOut leaves out an unreadable log, or returns the cause if the log was named.
func (r *reading) leaveOut(f *file, cause error) error {
	switch i := slices.IndexFunc(r.files, func(first *file) bool { return first.other == f }); {
	case i >= 0:
		return r.files[i].leaveOutOther(cause)
	case f.found:
		f.leftOut = cause
		return nil
	}
	return cause
}

// readSeeds reads the seeds, once.
func (r *reading) readSeeds(ctx context.Context) (err error) {
	if !r.seeded {
		r.seeds, r.seedNotices, err = readSeeds(ctx, r.opts)
		r.seeded = err == nil
	}
	return err
}

// isLong reports whether a file is not kept, and so is read again whenever the recording is played.
func (r *reading) isLong() bool {
	return slices.ContainsFunc(r.files, func(f *file) bool { return !f.keeps })
}

// join merges all files but the audit logs.
func (r *reading) join(files []*file) {
	r.audits, r.run = nil, joined.Recording{}
	if r.isLong() {
		r.run.Memory = int(memoryOf(r.opts))
	}
	logged := loggedUntil(files)
	for _, format := range formats() {
		for _, f := range files {
			if f.format.name != format.name || f.leftOut != nil {
				continue
			}
			switch format.role {
			case before:
				read := f.tracedAgain
				if f.keeps {
					read = joined.Kept(f.part.Events)
				}
				r.run.Before = append(r.run.Before, read)
			case moves:
				r.run.Logs = append(r.run.Logs, f.joined())
			case after:
				if format.withLog && !logged.IsZero() {
					f.part.Events = slices.DeleteFunc(f.part.Events, func(ev sources.Event) bool { return ev.Time.After(logged) })
				}
				r.run.After = append(r.run.After, joined.Kept(f.part.Events))
			}
		}
	}
	r.run.Prepare()
}

// loggedUntil returns the last time in schedulers' logs, or zero if there are none.
func loggedUntil(files []*file) (last time.Time) {
	for _, f := range files {
		if f.sched != nil && f.sched.Last.After(last) {
			last = f.sched.Last
		}
	}
	return last
}

// visitor returns a constructor of visitors that select the audit logs' events that no scheduler's log has more
// exactly. It returns nil if all files are kept.
func (r *reading) visitor() func() func(sources.Event) {
	if !r.isLong() {
		return nil
	}
	return func() func(sources.Event) {
		shown := r.opts.Summary()
		r.shown = shown
		return func(ev sources.Event) {
			if _, is := ev.Fact.(*sources.SchedulerStarted); !is && r.run.Has(ev) {
				shown.Add(ev)
			}
		}
	}
}

// begin applies the seeds. It returns notices about them and the events that precede the files' events: the objects
// that existed and the schedulers that started.
func (r *reading) begin(ctx context.Context, files []*file) (notices []string, facts []sources.Event, err error) {
	at, end := spanOf(files)
	seed, notices := applySeeds(r.seeds, at, end)
	var starts []sources.Event
	switch {
	case r.audits != nil:
		fit := r.audits.Begin(seed)
		notices = append(notices, aboutFit(fit, r.seeds, r.audits.BeginAtWork())...)
		starts = r.audits.Starts()
	case len(seed.Objects) > 0:
		tried := earlier.NewAttempts(seed.Objects)
		for ev, err := range r.run.Events(ctx) {
			if err != nil {
				return nil, nil, err
			}
			tried.Note(ev)
		}
		var fit earlier.Fit
		facts, fit = seed.Beside(tried, at, end)
		notices = append(notices, aboutFit(fit, r.seeds, false)...)
		r.run.Before = slices.Insert(r.run.Before, 0, joined.Kept(slices.Clone(facts)))
	}
	return notices, append(facts, r.run.Describe(starts)...), nil
}

// finish sets rec's events, or its Reread if a file is not kept.
func (r *reading) finish(ctx context.Context, rec *sources.Recording, files []*file, facts []sources.Event) error {
	switch {
	case r.isLong():
		rec.Reread = func(ctx context.Context) iter.Seq2[sources.Event, error] { return r.run.Events(ctx) }
		rec.Events = r.summary(files, facts)
		r.forget()
	case len(files) == 1 && len(r.seeds) == 0 && files[0].part.Events != nil:
		rec.Events = files[0].part.Events
	default:
		for ev, err := range r.run.Events(ctx) {
			if err != nil {
				return err
			}
			rec.Events = append(rec.Events, ev)
		}
	}
	return nil
}

// summary returns events that show which facts the files contain, in the order of time.
func (r *reading) summary(files []*file, facts []sources.Event) []sources.Event {
	if r.shown != nil {
		facts = append(facts, r.shown.Events()...)
	}
	for _, l := range r.run.Logs {
		facts = append(facts, l.Spans...)
		if n := len(l.Spans); n > 0 && l.Spans[n-1].Fact.(*sources.Logged).Verbosity >= 0 {
			facts = append(facts, sources.Event{Time: l.Last, Fact: &sources.Logged{Verbosity: -1}})
		}
	}
	for _, f := range files {
		if f.shown != nil {
			facts = append(facts, f.shown.events(f.sched)...)
		}
		if f.selected != nil {
			facts = append(facts, f.selected.Events()...)
		}
		shown := r.opts.Summary()
		for _, ev := range f.part.Events {
			shown.Add(ev)
		}
		facts = append(facts, shown.Events()...)
	}
	slices.SortStableFunc(facts, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	return facts
}

// forget releases data that is not needed once the recording is complete.
func (r *reading) forget() {
	r.shown, r.seeds = nil, nil
	for _, f := range withOthers(r.files) {
		if f.shown, f.selected = nil, nil; f.log != nil {
			f.log.Pods = sources.PodNames{}
		}
		if f.sched != nil {
			f.sched.Pods = sources.PodNames{}
		}
	}
}

// begun reads the beginnings of audit logs and passes a recording to AtFirst. Playing it reads the logs to their ends.
// It ignores errors: reading all of the files reports them.
func (r *reading) begun(ctx context.Context) {
	b := *r
	b.files = nil
	whole := lines.NewBeginning(atFirst)
	for _, f := range r.files {
		own := *f
		own.begins = whole
		b.files = append(b.files, &own)
	}
	rec, err := b.read(ctx)
	mixed := false
	for _, f := range b.files {
		f.begins, mixed = nil, mixed || f.mixed
	}
	if err == nil && !mixed && len(rec.Events) > 0 {
		rec.Unread = true
		r.opts.AtFirst(rec)
	}
}

// describe adds a file's format, end and notices to rec.
func describe(rec *sources.Recording, f *file) {
	if !slices.Contains(rec.Formats, f.format.name) {
		rec.Formats = append(rec.Formats, f.format.name)
	}
	if first := f.part.First; rec.Begin.IsZero() || !first.IsZero() && first.Before(rec.Begin) {
		rec.Begin = first
	}
	if f.part.Last.After(rec.End) {
		rec.End = f.part.Last
	}
	for _, notice := range []string{f.torn, f.besides} {
		if notice != "" {
			rec.Notices = append(rec.Notices, notice)
		}
	}
	rec.Notices = append(rec.Notices, f.part.Notices...)
}

func memoryOf(opts Options) int64 {
	if opts.Memory > 0 {
		return opts.Memory
	}
	return lines.DefaultMemory
}

func isFact[F sources.Fact](e sources.Event) bool {
	_, is := e.Fact.(F)
	return is
}
