package files

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/audit"
	"github.com/schedq/schedq/sources/joined"
	"github.com/schedq/schedq/sources/schedlog"
)

// splitStreams splits a file with the lines of several schedulers into one file each, by the prefixes of
// `kubectl logs --prefix` or stern or by the streams of an export. It returns the additional files.
func (f *file) splitStreams(ctx context.Context) (others []*file, err error) {
	if f.wrapper == nil {
		return nil, nil
	}
	r, err := f.place.open(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	streams, err := f.wrapper.Streams(r.Rest())
	schedulers := slices.DeleteFunc(slices.Clone(streams), func(s string) bool { return s == "" })
	if err != nil || len(schedulers) < 2 {
		return nil, nil // reading the file reports the error
	}
	f.reader.Close()
	f.reader, f.unwrapped = nil, nil
	for i, stream := range streams {
		one := f
		if i > 0 {
			copied := *f
			one = &copied
			others = append(others, one)
		}
		one.stream = &stream
		one.name, one.format = fmt.Sprintf("%s (%s)", f.place.name(), sources.Sanitize(stream)), formatNamed(schedlog.Format)
		if stream == "" {
			one.name, one.format = f.place.name(), formatNamed(audit.Format)
		}
	}
	return others, nil
}

// name returns the name of the file at a place.
func (p place) name() string { return string(sources.Sanitize(p.path)) }

// zoneSlack limits how far apart a scheduler's log and an audit log may record the same binding.
const zoneSlack = 5 * time.Second

// alignZones compares the bindings that schedulers' logs and audit logs share, and rereads those schedulers' logs
// whose times turn out to be in another zone.
func alignZones(ctx context.Context, files []*file) error {
	for _, f := range files {
		if f.sched == nil || f.sched.ZoneKnown || len(f.sched.Placed) == 0 {
			continue
		}
		votes, total := map[time.Duration]int{}, 0
		for _, other := range files {
			if other.log == nil {
				continue
			}
			for pod, at := range other.log.Bindings(func(pod types.NamespacedName) bool { _, has := f.sched.Placed[pod]; return has }) {
				total++
				ahead := f.sched.Placed[pod].Sub(at)
				if offset := ahead.Round(15 * time.Minute); (ahead-offset).Abs() < zoneSlack && schedlog.IsZone(offset) {
					votes[offset]++
				}
			}
		}
		for offset, n := range votes {
			if offset == 0 || 2*n <= total {
				continue
			}
			f.year.Zone = time.FixedZone("", int(offset.Seconds()))
			if err := f.format.read(ctx, f); err != nil {
				return err
			}
			f.part.Notices = append(f.part.Notices, fmt.Sprintf("%s: its times are %s ahead of the audit log's, according to the bindings in both: schedq converts them to UTC", f.name, offset))
		}
	}
	return nil
}

// trimRepeated finds parts that several logs of one scheduler repeat, such as copies of rotated logs and overlapping
// exports, so that they are read once.
func trimRepeated(files []*file) error {
	var logs []*file
	for _, f := range files {
		if f.sched != nil && f.leftOut == nil && !f.sched.WorkedFrom.IsZero() {
			logs = append(logs, f)
		}
	}
	slices.SortStableFunc(logs, func(a, b *file) int { return a.sched.WorkedFrom.Compare(b.sched.WorkedFrom) })
	for i, f := range logs {
		for _, before := range logs[:i] {
			if before.sched.WorkedTo.After(f.repeated) && !f.sched.WorkedFrom.After(before.sched.WorkedTo) && f.sched.Repeats(before.sched) {
				f.repeated = before.sched.WorkedTo
				if err := f.repeats("the common part", "%s repeats %s up to %s", f.name, before.name, f.repeated.UTC().Format(time.DateTime)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// repeats adds a notice that the file has a part of others, which is counted once. In strict mode it is an error.
func (f *file) repeats(once, format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	if f.strict {
		return errors.New(what)
	}
	f.part.Notices = append(f.part.Notices, what+": schedq counts "+once+" once")
	return nil
}

// laterPart returns the part of a log after that time.
func laterPart(at time.Time, l *joined.Log) *joined.Log {
	later := func(ev sources.Event) bool { return ev.Time.After(at) }
	all := *l
	if all.First.Before(at) {
		all.First = at
	}
	all.Spans = slices.Clone(l.Spans)
	for i := range all.Spans {
		if !later(all.Spans[i]) {
			all.Spans[i].Time = at
		}
	}
	all.Starts = slices.DeleteFunc(slices.Clone(l.Starts), func(ev sources.Event) bool { return !later(ev) })
	all.Events = func(ctx context.Context) joined.Events {
		return func(yield func(sources.Event, error) bool) {
			for ev, err := range l.Events(ctx) {
				if _, span := ev.Fact.(*sources.Logged); err == nil && !later(ev) {
					if !span {
						continue
					}
					ev.Time = at
				}
				if !yield(ev, err) || err != nil {
					return
				}
			}
		}
	}
	return &all
}

// after returns the part of a span that is after a time.
func (s span) after(at time.Time) span {
	if s.first.Before(at) {
		s.first = at
	}
	if s.last.Before(at) {
		s.last = at
	}
	return s
}
