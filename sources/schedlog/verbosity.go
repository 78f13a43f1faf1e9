package schedlog

import (
	"slices"
	"time"

	"github.com/schedq/schedq/sources"
)

// verbosity finds out of which verbosity a log is, attempt by attempt: a running scheduler's can be changed (PUT
// /debug/flags/v). klog does not write it, but each message has one (v1.37: schedule_one.go, scheduling_queue.go). That an
// attempt failed or bound its pod is told at 2, that it began and where its pod went to at 3, and at 5 what put the pod
// where the loop took it from. So an attempt of which the end is told and none of the latter is one of a log below 5.
type verbosity struct {
	spans []sources.Event // *sources.Logged
	facts []sources.Event // of the stretches below 5

	deep    time.Time       // of the last line of those that only come at 5
	before  stretch         // since then, up to the last run
	run     stretch         // the last attempts in a row of all of which the beginning was told, or of none of which
	alike   alike           // what they are
	pending *failedEnd      // whose verbosity the next lines tell
	keep    func(bytes int) // see sources.Part

	// unplaced is called for a failed attempt of a log of 5 that no line follows on where its pod went. Nil where that does
	// not matter.
	unplaced func(*failedEnd)

	streams bool     // facts are told at once, and none is kept
	ended   int      // attempts so far
	settled int      // those up to here are of a stretch that is over
	told    ordinals // those of them that are told
	known   bool     // spans and told are those of the whole log
}

// stretch are attempts whose ends were told, and no line that only comes at 5.
type stretch struct {
	n      int
	began  int       // of so many also the beginning was told
	errors int       // so many failed by an error: klog writes that at any verbosity
	from   time.Time // of the first
	events []sources.Event
}

// add adds an attempt, and keeps it or only counts it.
func (s *stretch) add(ev sources.Event, keep bool) {
	if s.n == 0 {
		s.from = ev.Time
	}
	s.n++
	if !beginning(ev.Fact).IsZero() {
		s.began++
	}
	if isError(ev.Fact) {
		s.errors++
	}
	if keep {
		s.events = append(s.events, ev)
	}
}

// with returns the stretch with the one behind it.
func (s stretch) with(next stretch) stretch {
	if s.n == 0 {
		return next
	}
	return stretch{s.n + next.n, s.began + next.began, s.errors + next.errors, s.from, append(s.events, next.events...)}
}

// beginning is when the attempt began whose end f tells, or zero.
func beginning(f sources.Fact) time.Time {
	switch f := f.(type) {
	case *sources.FailedAttempt:
		return f.Began
	case *sources.Bound:
		return f.Began
	}
	return time.Time{}
}

func isError(f sources.Fact) bool {
	failed, is := f.(*sources.FailedAttempt)
	return is && failed.Error
}

// alike says of how many attempts in a row the beginning was told, or was not. Errors are not counted.
type alike struct {
	began bool
	n     int
}

// failedEnd is an attempt that was just told to have failed.
type failedEnd struct {
	at   time.Time
	pod  *pod
	fact *sources.FailedAttempt
}

// fewest is how many attempts must be told as those of a log below 5 before it is one, once lines of 5 were seen: what
// fails in a binding cycle is told between the lines of other attempts.
const fewest = 3

// isBelow reports whether between two lines of 5 it is a stretch of a log below 5. Errors do not say so: those of binding
// cycles whose pods are gone are told alike at any verbosity.
func (s stretch) isBelow() bool { return s.n-s.errors >= fewest }

// lastWords is how long after the last line that only comes at 5 what was told with it may be told.
const lastWords = 10 * time.Millisecond

// sawDeep notes a line about pod that only comes at 5.
func (v *verbosity) sawDeep(at time.Time, pod *pod) {
	since := at
	if f := v.pending; f != nil && f.pod == pod {
		v.pending, since = nil, f.at // it is told as one of 5
		if !f.fact.Began.IsZero() {
			since = f.fact.Began
		}
	}
	if v.known {
		return
	}
	if v.quiet().isBelow() {
		v.commitQuiet()
	}
	v.forgetQuiet()
	if len(v.spans) > 0 && v.level() < sources.MovesVerbosity {
		v.enter(since, sources.MovesVerbosity)
	}
	v.deep = at
}

// level is the verbosity of the last span.
func (v *verbosity) level() int { return v.spans[len(v.spans)-1].Fact.(*sources.Logged).Verbosity }

func (v *verbosity) enter(at time.Time, level int) {
	logged := &sources.Logged{Verbosity: level}
	if v.spans = append(v.spans, sources.Event{Time: at, Fact: logged}); v.keep != nil {
		v.keep(sources.Cost(logged))
	}
}

// quiet is the stretch since the last line of 5.
func (v *verbosity) quiet() stretch { return v.before.with(v.run) }

// commitQuiet takes all of it as attempts of a log below 5.
func (v *verbosity) commitQuiet() {
	all := v.quiet()
	v.before, v.run = stretch{}, stretch{}
	v.commit(all)
}

// forgetQuiet takes it as attempts of a log of 5.
func (v *verbosity) forgetQuiet() {
	v.before, v.run, v.alike, v.settled = stretch{}, stretch{}, alike{}, v.ended
}

// commit takes the first attempts of the stretch since the last line of 5 as those of a log below 5.
func (v *verbosity) commit(part stretch) {
	level := sources.AttemptsVerbosity
	if part.errors == part.n {
		level = 0
	} else if 2*part.began > part.n {
		level = 3
	}
	from := part.from
	if soon := v.deep.Add(lastWords); !v.deep.IsZero() && soon.Before(from) {
		from = soon
	}
	if len(v.spans) == 0 && !v.deep.IsZero() {
		v.enter(time.Time{}, sources.MovesVerbosity) // up to here
	}
	turnedDown := level == sources.AttemptsVerbosity && (part.n-part.errors >= fewest || v.alike.n >= fewest && !v.alike.began)
	if len(v.spans) > 0 && v.level() < sources.MovesVerbosity && !turnedDown {
		level = max(level, v.level()) // few attempts at a time, of a log that is followed: they need not show all of it
	}
	if len(v.spans) == 0 || v.level() != level {
		v.enter(from, level)
	}
	v.facts = append(v.facts, part.events...)
	if v.streams {
		v.told.add(v.settled, v.settled+part.n)
	}
	v.settled += part.n
}

// settle takes the failure of which no line has told more as one of a log below 5.
func (v *verbosity) settle() {
	f := v.pending
	v.pending = nil
	if f != nil {
		f.fact.Message = f.pod.message
		if f.fact.To == "" && (v.known || !v.deep.IsZero()) && v.unplaced != nil {
			v.unplaced(f)
		}
		v.end(f.at, f.fact)
	}
}

// end notes the end of an attempt that was told as in a log below 5. Once a few in a row tell their beginning where those
// before them do not, or the other way round, those before are a stretch of their own.
func (v *verbosity) end(at time.Time, f sources.Fact) {
	ev := sources.Event{Time: at, Fact: f}
	v.ended++
	if v.streams && (!v.known || v.told.has(v.ended-1)) {
		v.facts = append(v.facts, ev)
	}
	if v.known {
		return
	}
	if v.keep != nil && !v.streams {
		v.keep(sources.Cost(f))
	}
	if isError(f) {
		v.run.add(ev, !v.streams)
		return
	}
	if began := !beginning(f).IsZero(); v.alike.n == 0 || began != v.alike.began {
		v.before, v.run = v.quiet(), stretch{}
		v.alike = alike{began: began}
	}
	v.run.add(ev, !v.streams)
	v.alike.n++
	if v.alike.n == fewest && (v.before.isBelow() || v.before.n > 0 && v.deep.IsZero()) {
		part := v.before
		v.before = stretch{}
		v.commit(part)
	}
}

// conclude takes in that the log has ended, which told of the scheduler's work from begin on.
func (v *verbosity) conclude(begin time.Time) {
	v.settle()
	if quiet := v.quiet(); quiet.n > 0 && (quiet.isBelow() || v.deep.IsZero()) {
		v.commitQuiet()
	}
	if len(v.spans) > 0 {
		v.spans[0].Time = begin
	}
}

// ending says that a log that does not tell all moves ends at that time.
func ending(at time.Time) sources.Event {
	return sources.Event{Time: at, Fact: &sources.Logged{Verbosity: unknown}}
}

// tells reports whether an event of the log is delivered. A log with all moves delivers no evidence for
// them; another log delivers no moves of stretches below -v=5.
func (v *verbosity) tells(ev sources.Event) bool {
	if len(v.spans) == 0 {
		return !isFact[*sources.Delivered](ev)
	}
	return !isFact[*sources.Move](ev) || v.at(ev.Time) >= sources.MovesVerbosity
}

// takeBy takes what is to be told up to due of a log that is followed, out of part and of v: where the verbosity changes,
// and what it lets the log tell. Of attempts by then no later line tells more. There must be a span.
func (v *verbosity) takeBy(due time.Time, part *sources.Part) []sources.Event {
	if v.pending != nil && !v.pending.at.After(due) {
		v.settle()
	}
	if q := v.quiet(); q.n > 0 && !q.from.After(due) && (v.level() < sources.MovesVerbosity || q.isBelow()) {
		v.commitQuiet()
	}
	isDue := func(ev sources.Event) bool { return !ev.Time.After(due) }
	told := 1 // the first was told
	for told < len(v.spans) && isDue(v.spans[told]) {
		told++
	}
	events := slices.Clone(v.spans[1:told])
	for len(part.Events) > 0 && isDue(part.Events[0]) {
		if v.tells(part.Events[0]) {
			events = append(events, part.Events[0])
		}
		part.Events = part.Events[1:]
	}
	for len(v.facts) > 0 && isDue(v.facts[0]) {
		events = append(events, v.facts[0])
		v.facts = v.facts[1:]
	}
	v.spans = slices.Clone(v.spans[told-1:])
	slices.SortStableFunc(events, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	return events
}

func isFact[F sources.Fact](ev sources.Event) bool {
	_, is := ev.Fact.(F)
	return is
}

// at returns the verbosity at that time.
func (v *verbosity) at(at time.Time) int {
	level := v.spans[0].Fact.(*sources.Logged).Verbosity
	for _, s := range v.spans[1:] {
		if s.Time.After(at) {
			break
		}
		level = s.Fact.(*sources.Logged).Verbosity
	}
	return level
}

// failed notes that an attempt of pod failed.
func (v *verbosity) failed(at time.Time, pod *pod) {
	v.settle()
	v.pending = &failedEnd{at, pod, &sources.FailedAttempt{Pod: pod.name, Log: true, Began: pod.began}}
	pod.entered, pod.began = false, time.Time{}
}

// bound notes that pod was bound.
func (v *verbosity) bound(at time.Time, pod *pod, node string) {
	v.settle()
	if !pod.entered {
		v.end(at, &sources.Bound{Pod: pod.name, Node: node, Began: pod.began})
	}
}

// wentTo notes where the pod went whose attempt failed, as a log of 3 says it.
func (v *verbosity) wentTo(pod *pod, m *sources.Move) {
	if f := v.pending; f != nil && f.pod == pod {
		f.fact.To, f.fact.Plugins = m.To, m.Plugins
		v.settle()
	}
}

// sawMove notes that pod moved, as only a log of 5 says it.
func (v *verbosity) sawMove(at time.Time, pod *pod, to sources.Tier) {
	if to == sources.TierActive || to == sources.TierBackoff {
		pod.entered = true
	}
	v.sawDeep(at, pod)
}
