package files

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/audit"
	"github.com/schedq/schedq/sources/earlier"
	"github.com/schedq/schedq/sources/joined"
	"github.com/schedq/schedq/sources/lines"
	"github.com/schedq/schedq/sources/marks"
	"github.com/schedq/schedq/sources/metrics"
	"github.com/schedq/schedq/sources/schedlog"
)

// isLongJoined reports whether files are so long that they are not kept, where opts allow that: logs of schedulers, alone or with the
// audit logs of their clusters, each of which can be read again. Counts and marks beside them are kept. Those that are compared with a
// recording are alone.
func isLongJoined(files []*file, opts Options) bool {
	if opts.Gist == nil {
		return false
	}
	formats := map[string]bool{}
	for _, f := range files {
		switch f.format {
		case audit.Format, schedlog.Format, metrics.Format, marks.Format:
		default:
			return false
		}
		if f.both {
			return false
		}
		formats[f.format] = true
	}
	return formats[schedlog.Format] && !(opts.Beside != nil && formats[audit.Format]) && areLong(files, opts)
}

// openLongJoined reads schedulers' logs, and audit logs if there are some, once, and returns a recording that reads them again whenever it is played. It
// returns nil if they have to be kept: something is wrong with them, which is found and said then.
func openLongJoined(ctx context.Context, name sources.SafeText, files []*file, opts Options) (*sources.Recording, error) {
	closeAll(files)
	seeds, said, err := readSeeds(ctx, opts)
	if err != nil {
		return nil, err
	}
	l := longJoined{name: name, files: files, seeds: seeds, opts: opts}
	l.tried = earlier.NewAttempts(slices.Concat(objectsOf(seeds)...))
	rec, err := l.read(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil || rec == nil || opts.Beside != nil && sameRunAs(ctx, opts.Beside, files, l.named()) != nil:
		return nil, ctx.Err()
	}
	l.names = namesakes{} // nobody asks for them any more
	rec.Notices = slices.Concat(aboutFolders(files), said, rec.Notices)
	return rec, nil
}

// longJoined is what a recording of schedulers' logs is made of, and of audit logs if there are some.
type longJoined struct {
	name  sources.SafeText
	files []*file
	seeds []seedList
	opts  Options

	run      joined.Recording
	logs     []*longLog
	audited  bool                   // there are audit logs
	surveyed bool                   // all were read once
	audits   *audit.Long            // nil until then, or if there are none
	visit    func(ev sources.Event) // is shown what they tell
	names    namesakes
	tried    *earlier.Attempts // what the logs contain about the objects of seeds
	mixed    atomic.Bool       // a file has lines of both kinds
}

// read reads the logs once. It returns nil if it can't be told so that they are of one run.
func (l *longJoined) read(ctx context.Context) (*sources.Recording, error) {
	show, err := l.readLogs(ctx)
	if err != nil || l.mixed.Load() || l.audited && l.names.areStrangers() {
		return nil, err
	}
	for i, log := range l.logs {
		log.of.part.Events = l.names.first(i)
	}
	rec, audits := &sources.Recording{Name: l.name}, 0
	for _, f := range l.files {
		if f.format == audit.Format {
			f.log = l.audits.Logs[audits]
			audits++
		}
		describe(rec, f)
	}
	if err := sameRun(l.files); err != nil {
		return nil, err
	}
	begin, end := spanOf(l.files)
	seed, said := sow(l.seeds, begin, end)
	rec.Notices = append(append(rec.Notices, said...), l.begin(seed, begin, end, show)...)
	if show == nil {
		if err := l.showAll(ctx); err != nil {
			return nil, err
		}
	}
	rec.Again = func(ctx context.Context) iter.Seq2[sources.Event, error] { return l.run.Events(ctx) }
	return rec, nil
}

// readLogs finds out what must be known of the logs as a whole, and how they are put together. It returns to what it has shown nearly
// all that they tell, or nil if what it has shown is something else.
func (l *longJoined) readLogs(ctx context.Context) (show func(sources.Event), err error) {
	counts := map[string][][]sources.Event{}
	for _, f := range l.files {
		switch f.format {
		case audit.Format:
			l.audited = true
		case schedlog.Format:
			l.logs = append(l.logs, &longLog{of: f, other: l})
		default:
			if err := f.readAgain(ctx); err != nil {
				return nil, err
			}
			counts[f.format] = append(counts[f.format], f.part.Events)
		}
	}
	l.run.Memory = l.memory()
	telling := tellMoves(ctx, l.logs) // then all is read at the same time
	if !telling {
		if err := surveyAll(ctx, l.logs); err != nil {
			return nil, err
		}
	}
	l.join()
	if show, err = l.survey(ctx); err != nil {
		return nil, err
	}
	if telling {
		l.join()
		if !l.tellsMoves() {
			show = nil
		}
	}
	whileLogged(counts[metrics.Format], l.files)
	l.run.After = listsOf(counts, metrics.Format, marks.Format)
	for _, list := range l.run.After {
		joined.Sort(list)
		for _, ev := range list {
			if show != nil {
				show(ev)
			}
		}
	}
	return show, nil
}

// tellsMoves reports whether the logs that are known tell all moves.
func (l *longJoined) tellsMoves() bool {
	return slices.ContainsFunc(l.logs, (*longLog).tellsMoves) && !slices.ContainsFunc(l.logs, (*longLog).isPartly)
}

// named returns the pods that each file names, and no audit log does: the first of them, if they are very many.
func (l *longJoined) named() [][]types.NamespacedName {
	named := make([][]types.NamespacedName, len(l.files))
	for i, log := range l.logs {
		at := slices.Index(l.files, log.of)
		named[at] = slices.Collect(maps.Keys(l.names.logs[i].strange))
	}
	return named
}

// readAgain reads a file that is no log and was closed.
func (f *file) readAgain(ctx context.Context) error {
	r, _, err := f.again(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	f.reader = r
	return f.readAs(f.format)
}

// Write implements io.Writer: it is told of lines that are not of their file's kind.
func (l *longJoined) Write(text []byte) (int, error) {
	l.mixed.Store(true)
	return len(text), nil
}

// join has the schedulers' logs be part of the recording, as far as they are known.
func (l *longJoined) join() {
	l.run.Logs = nil
	for i, log := range l.logs {
		j := log.joined()
		read := j.Events
		j.Events = func(ctx context.Context) joined.Events {
			if !l.surveyed {
				return l.names.noteAll(i, read(ctx))
			}
			return read(ctx)
		}
		l.run.Logs = append(l.run.Logs, j)
	}
	l.run.Prepare()
}

// survey finds out what must be known of the audit logs as a whole, and shows what they and the others tell together, nearly as it
// is told later, to what it returns; begin shows it the rest. It returns nil if what was shown was out of order.
func (l *longJoined) survey(ctx context.Context) (show func(sources.Event), err error) {
	var all []audit.Source
	run := l.run
	for _, f := range l.files {
		if f.format != audit.Format {
			continue
		}
		if all = append(all, audit.Source{Begins: f.hint, Open: l.opener(f)}); len(all) == 1 || f.hint.Before(run.Begins) {
			run.Begins = f.hint
		}
	}
	l.names = newNamesakes(len(l.logs), l.audited || l.opts.Beside != nil)
	rounds := 0
	if l.audited {
		run.Changes = func(ctx context.Context) joined.Events { return l.surveyAudits(ctx, all, &rounds) }
	}
	show = l.opts.Gist()
	for ev, err := range run.Events(ctx) {
		if err != nil {
			return nil, err
		}
		l.tried.Note(ev)
		if _, is := ev.Fact.(*sources.SchedulerStarted); !is {
			show(ev)
		}
	}
	if l.surveyed = true; l.audited {
		l.run.Begins, l.run.Changes = l.audits.First(), l.audits.Events
	}
	if rounds > 1 {
		return nil, nil
	}
	return show, nil
}

// surveyAudits yields nearly what audit logs tell, while it finds out what must be known of them as a whole. It counts how often they
// have to be read for it, and yields what the first of these readings tells.
func (l *longJoined) surveyAudits(ctx context.Context, all []audit.Source, rounds *int) joined.Events {
	return func(yield func(sources.Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		wanted := true
		l.visit = func(ev sources.Event) {
			l.names.noteChange(ev)
			if wanted = wanted && yield(ev, nil); !wanted {
				cancel()
			}
		}
		var err error
		l.audits, err = audit.Survey(ctx, all, len(l.seeds) > 0, l.memory(), func() func(sources.Event) {
			if *rounds++; *rounds > 1 {
				l.visit = func(sources.Event) {}
			}
			return func(ev sources.Event) { l.visit(ev) }
		})
		if err != nil && wanted {
			yield(sources.Event{}, err)
		}
	}
}

// begin takes a seed, and shows what is told of the beginning. It returns what a person should know of the seed.
func (l *longJoined) begin(seed earlier.Seed, at, end time.Time, show func(sources.Event)) (notices []string) {
	if show == nil {
		show = func(sources.Event) {}
	}
	var starts []sources.Event
	switch {
	case l.audited:
		l.visit = func(ev sources.Event) {
			if _, is := ev.Fact.(*sources.SchedulerStarted); is {
				starts = append(starts, ev)
			} else if l.run.Tells(ev) {
				show(ev)
			}
		}
		notices = aboutFit(l.audits.Begin(seed), l.seeds, l.audits.BeginAtWork())
	case len(seed.Objects) > 0:
		there, fit := seed.Beside(l.tried, at, end)
		notices = aboutFit(fit, l.seeds, false)
		l.run.Before = [][]sources.Event{there}
		for _, ev := range there {
			show(ev)
		}
	}
	for _, ev := range l.run.Describe(starts) {
		show(ev)
	}
	return notices
}

// showAll shows all that the recording tells.
func (l *longJoined) showAll(ctx context.Context) error {
	show := l.opts.Gist()
	for ev, err := range l.run.Events(ctx) {
		if err != nil {
			return err
		}
		show(ev)
	}
	return nil
}

// opener returns what opens an audit log at its beginning, and notes lines of the other kind.
func (l *longJoined) opener(f *file) func(context.Context) (*lines.Reader, func() []string, error) {
	return func(ctx context.Context) (*lines.Reader, func() []string, error) {
		r, ended, err := f.again(ctx)
		if err == nil && !l.surveyed {
			r.Divert(newScheduler(), l)
		}
		return r, ended, err
	}
}

func (l *longJoined) memory() int {
	if l.opts.Memory > 0 {
		return int(l.opts.Memory)
	}
	return lines.DefaultMemory
}
