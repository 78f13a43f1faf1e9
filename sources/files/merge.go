package files

import (
	"fmt"
	"slices"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/audit"
	"github.com/schedq/schedq/sources/earlier"
	"github.com/schedq/schedq/sources/joined"
	"github.com/schedq/schedq/sources/marks"
	"github.com/schedq/schedq/sources/metrics"
	"github.com/schedq/schedq/sources/schedlog"
	"github.com/schedq/schedq/sources/trace"
	"github.com/schedq/schedq/sources/watched"
)

// assemble makes one recording of the files that were read.
func assemble(name sources.SafeText, files []*file, seeds []seedList) (*sources.Recording, error) {
	if rec, err := scenarioOf(name, files); rec != nil || err != nil {
		if rec != nil && len(seeds) > 0 {
			err = fmt.Errorf("%s is a scenario, which tells of all its objects: a seed is for logs", rec.Name)
		}
		return rec, err
	}
	if rec, err := workloadOf(name, files, seeds); rec != nil || err != nil {
		return rec, err
	}
	if err := sameRun(files); err != nil {
		return nil, err
	}
	rec := &sources.Recording{Name: name}
	var logs []*audit.Log
	var schedulers []*sources.Part
	parts := map[string][][]sources.Event{}
	for _, f := range files {
		describe(rec, f)
		switch {
		case f.log != nil:
			logs = append(logs, f.log)
		case f.format == schedlog.Format:
			schedulers = append(schedulers, f.part)
		default:
			parts[f.format] = append(parts[f.format], f.part.Events)
		}
	}
	events, said := eventsOfObjects(files, logs, seeds)
	rec.Notices = append(rec.Notices, said...)
	whileLogged(parts[metrics.Format], files)
	run := &joined.Recording{After: listsOf(parts, metrics.Format, marks.Format)}
	switch {
	case len(logs) > 0 && len(schedulers) > 0:
		run.Keep(events)
	case events != nil:
		run.Before = [][]sources.Event{events}
	}
	run.Before = append(run.Before, listsOf(parts, trace.Format, watched.Format, watched.KwokFormat, watched.SharkFormat)...)
	for _, log := range schedulers {
		run.Add(log)
	}
	rec.Events = run.All()
	return rec, nil
}

// describe has rec say what is known of a file as a whole.
func describe(rec *sources.Recording, f *file) {
	if !slices.Contains(rec.Formats, f.format) {
		rec.Formats = append(rec.Formats, f.format)
	}
	if last := f.lastTime(); last.After(rec.End) {
		rec.End = last
	}
	rec.Notices = append(rec.Notices, f.torn()...)
	if f.besides != "" {
		rec.Notices = append(rec.Notices, f.besides)
	}
	if f.log != nil {
		rec.Notices = append(rec.Notices, f.log.Notices...)
	} else {
		rec.Notices = append(rec.Notices, f.part.Notices...)
	}
}

// listsOf returns the lists of events of those formats, in their order.
func listsOf(parts map[string][][]sources.Event, formats ...string) (lists [][]sources.Event) {
	for _, format := range formats {
		lists = append(lists, parts[format]...)
	}
	return lists
}

func isFact[F sources.Fact](e sources.Event) bool {
	_, is := e.Fact.(F)
	return is
}

// torn says why the lines end before what holds them does, if they do.
func (f *file) torn() []string {
	if f.unwrapped == nil || f.unwrapped.torn == nil {
		return nil
	}
	return []string{fmt.Sprintf("%s: %v: what comes then is left out", f.reader.Name(), f.unwrapped.torn)}
}

// eventsOfObjects returns what audit logs and seeds tell, and what a person should know of it. It returns no events if there are none.
func eventsOfObjects(files []*file, logs []*audit.Log, seeds []seedList) (events []sources.Event, notices []string) {
	begin, end := spanOf(files)
	seed, notices := sow(seeds, begin, end)
	if len(logs) == 0 {
		if len(seed.Objects) == 0 {
			return nil, notices
		}
		tried := earlier.NewAttempts(seed.Objects)
		for _, f := range files {
			for _, ev := range f.part.Events {
				tried.Note(ev)
			}
		}
		events, fit := seed.Beside(tried, begin, end)
		return events, append(notices, aboutFit(fit, seeds, false)...)
	}
	events, fit := audit.OrderSeeded(seed, logs...)
	return events, append(notices, aboutFit(fit, seeds, slices.ContainsFunc(events, isFact[*sources.Attached]))...)
}

// lastTime is the last time in a file.
func (f *file) lastTime() time.Time {
	if f.log != nil {
		return f.log.Last
	}
	return f.part.Last
}

// whileLogged leaves out counts from after the scheduler's log ended, if there is one: they are of a scheduler that has stopped, or
// of which nothing else is known.
func whileLogged(counts [][]sources.Event, files []*file) {
	var logged time.Time // up to when the scheduler's log tells what it did
	for _, f := range files {
		if f.format == schedlog.Format && f.part.Last.After(logged) {
			logged = f.part.Last
		}
	}
	for i := range counts {
		if !logged.IsZero() {
			counts[i] = slices.DeleteFunc(counts[i], func(e sources.Event) bool { return e.Time.After(logged) })
		}
	}
}
