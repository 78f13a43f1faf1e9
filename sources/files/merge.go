package files

import (
	"fmt"
	"slices"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/audit"
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
	var logged time.Time // up to when the scheduler's log tells what it did
	for _, f := range files {
		if f.format == schedlog.Format && f.part.Last.After(logged) {
			logged = f.part.Last
		}
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
			logs = append(logs, f.log)
			rec.Notices = append(rec.Notices, f.log.Notices...)
			continue
		}
		if f.format == schedlog.Format {
			schedulers = append(schedulers, f.part)
		} else {
			parts[f.format] = append(parts[f.format], f.part.Events)
		}
		rec.Notices = append(rec.Notices, f.part.Notices...)
	}
	partly := slices.ContainsFunc(schedulers, func(p *sources.Part) bool { return !tellsAll(p) })
	if partly {
		markTold(schedulers)
	}
	events, said := eventsOfObjects(files, logs, schedulers, seeds)
	rec.Notices = append(rec.Notices, said...)
	if events != nil {
		parts[audit.Format] = [][]sources.Event{events}
	}
	for _, log := range schedulers {
		parts[schedlog.Format] = append(parts[schedlog.Format], log.Events)
	}
	if !logged.IsZero() {
		for i, counts := range parts[metrics.Format] {
			parts[metrics.Format][i] = until(counts, logged)
		}
	}
	var all [][]sources.Event
	for _, format := range []string{audit.Format, trace.Format, watched.Format, watched.KwokFormat, watched.SharkFormat, schedlog.Format, metrics.Format, marks.Format} {
		all = append(all, parts[format]...)
	}
	rec.Events = merge(all)
	if partly {
		nameUIDs(rec.Events)
	}
	return rec, nil
}

// torn says why the lines end before what holds them does, if they do.
func (f *file) torn() []string {
	if f.unwrapped == nil || f.unwrapped.torn == nil {
		return nil
	}
	return []string{fmt.Sprintf("%s: %v: what comes then is left out", f.reader.Name(), f.unwrapped.torn)}
}

// eventsOfObjects returns what audit logs and seeds tell, as far as schedulers' logs do not tell it more exactly, and what a
// person should know of it. It returns nil if there are none.
func eventsOfObjects(files []*file, logs []*audit.Log, schedulers []*sources.Part, seeds []seedList) (changes []sources.Event, notices []string) {
	begin, end := spanOf(files)
	seed, notices := sow(seeds, begin, end)
	if len(logs) == 0 {
		if len(seed.Objects) == 0 {
			return nil, notices
		}
		return seed.Events(begin), notices
	}
	changes, fit := audit.OrderSeeded(seed, logs...)
	notices = append(notices, aboutFit(fit, seeds, slices.ContainsFunc(changes, isFact[*sources.Attached]))...)
	switch {
	case !slices.ContainsFunc(schedulers, func(p *sources.Part) bool {
		return slices.ContainsFunc(p.Events, isFact[*sources.Move]) || !tellsAll(p)
	}):
	case slices.ContainsFunc(schedulers, func(p *sources.Part) bool { return !tellsAll(p) }):
		changes = joinEvidence(changes, schedulers)
		deliver(changes, schedulers)
	default: // the scheduler's log tells what it did more exactly
		changes = slices.DeleteFunc(changes, func(e sources.Event) bool {
			return !isFact[*sources.ObjectChange](e) && !isFact[*sources.Attached](e)
		})
	}
	for _, log := range schedulers {
		precede(changes, log.Events)
	}
	return changes, notices
}

// lastTime is the last time in a file.
func (f *file) lastTime() time.Time {
	if f.log != nil {
		return f.log.Last
	}
	return f.part.Last
}

// until returns the events that are not after last. Counts from after the scheduler's log ended are of a
// scheduler that has stopped, or of which nothing else is known.
func until(events []sources.Event, last time.Time) []sources.Event {
	return slices.DeleteFunc(events, func(e sources.Event) bool { return e.Time.After(last) })
}

// merge merges lists that are each in the order of time, or nearly. Of equal times the earlier list's
// event comes first.
func merge(lists [][]sources.Event) []sources.Event {
	total := 0
	byTime := func(a, b sources.Event) int { return a.Time.Compare(b.Time) }
	for _, l := range lists {
		total += len(l)
		if !slices.IsSortedFunc(l, byTime) {
			slices.SortStableFunc(l, byTime)
		}
	}
	if len(lists) == 1 {
		return lists[0]
	}
	out := make([]sources.Event, 0, total)
	for len(out) < total {
		first := -1
		for i, l := range lists {
			if len(l) > 0 && (first < 0 || l[0].Time.Before(lists[first][0].Time)) {
				first = i
			}
		}
		out = append(out, lists[first][0])
		lists[first] = lists[first][1:]
	}
	return out
}
