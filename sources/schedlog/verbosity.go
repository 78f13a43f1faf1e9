package schedlog

import (
	"slices"
	"time"

	"github.com/schedq/schedq/sources"
)

// verbosity finds out a log's verbosity, attempt by attempt: a running scheduler's can be changed (PUT /debug/flags/v). klog
// does not write it, but each message has one (v1.37: schedule_one.go, scheduling_queue.go). At 2 the log contains that an
// attempt failed or bound its pod; at 3 when it began and where its pod went; at 5 the move that put the pod where the loop
// took it from. So an attempt with an end and none of the latter is from a log below 5.
type verbosity struct {
	spans []sources.Event // *sources.Logged
	facts []sources.Event // of stretches below 5

	deep    time.Time       // of the last line that only a log of 5 has
	before  stretch         // from there to the last run
	run     stretch         // the last attempts in a row that are alike
	alike   alike           // whether their beginnings were logged
	pending *failedEnd      // a failure whose verbosity the next lines show
	keep    func(bytes int) // see sources.Part

	// unplaced is called for a failed attempt in a log of 5 if no later line shows where its pod went. It may be nil.
	unplaced func(*failedEnd)

	streams bool     // facts are emitted at once and not kept
	ended   int      // attempts so far
	settled int      // attempts up to here are of a completed stretch
	emitted ordinals // those of them whose ends are events
	known   bool     // spans and emitted are those of the whole log
}

// stretch is a sequence of attempts whose ends were logged, without a line that only a log of 5 has.
type stretch struct {
	n      int
	began  int       // how many have a logged beginning
	errors int       // how many failed with an error, which klog writes at any verbosity
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

// with returns the stretch joined with the next one.
func (s stretch) with(next stretch) stretch {
	if s.n == 0 {
		return next
	}
	return stretch{s.n + next.n, s.began + next.began, s.errors + next.errors, s.from, append(s.events, next.events...)}
}

// beginning returns when the attempt of f began, or zero.
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

// alike counts the attempts in a row whose beginnings were logged, or were not. It does not count errors.
type alike struct {
	began bool
	n     int
}

// failedEnd is an attempt whose failure was just logged.
type failedEnd struct {
	at   time.Time
	pod  *pod
	fact *sources.FailedAttempt
}

// fewest is how many attempts, once lines of 5 were seen, must look like those of a log below 5 before it is one:
// failures of binding cycles are logged between the lines of other attempts.
const fewest = 3

// isBelow reports whether a stretch between two lines of 5 is from a log below 5. Errors do not show that: those of binding
// cycles whose pods are gone are logged the same way at any verbosity.
func (s stretch) isBelow() bool { return s.n-s.errors >= fewest }

// lastWords limits how long after the last line of 5 the other lines of the same moment may come.
const lastWords = 10 * time.Millisecond

// sawDeep records a line about pod that only a log of 5 has.
func (v *verbosity) sawDeep(at time.Time, pod *pod) {
	since := at
	if f := v.pending; f != nil && f.pod == pod {
		v.pending, since = nil, f.at // it is from a log of 5
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

// level returns the verbosity of the last span.
func (v *verbosity) level() int { return v.spans[len(v.spans)-1].Fact.(*sources.Logged).Verbosity }

func (v *verbosity) enter(at time.Time, level int) {
	logged := &sources.Logged{Verbosity: level}
	if v.spans = append(v.spans, sources.Event{Time: at, Fact: logged}); v.keep != nil {
		v.keep(sources.Cost(logged))
	}
}

// quiet returns the stretch since the last line of 5.
func (v *verbosity) quiet() stretch { return v.before.with(v.run) }

// commitQuiet counts all of it as attempts of a log below 5.
func (v *verbosity) commitQuiet() {
	all := v.quiet()
	v.before, v.run = stretch{}, stretch{}
	v.commit(all)
}

// forgetQuiet counts it as attempts of a log of 5.
func (v *verbosity) forgetQuiet() {
	v.before, v.run, v.alike, v.settled = stretch{}, stretch{}, alike{}, v.ended
}

// commit counts the first attempts since the last line of 5 as those of a log below 5.
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
		level = max(level, v.level()) // a followed log commits few attempts at a time, which may not show its full verbosity
	}
	if len(v.spans) == 0 || v.level() != level {
		v.enter(from, level)
	}
	v.facts = append(v.facts, part.events...)
	if v.streams {
		v.emitted.add(v.settled, v.settled+part.n)
	}
	v.settled += part.n
}

// settle counts a failure without later lines as one of a log below 5.
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

// end records the end of an attempt that looks like those of a log below 5. Once a few in a row have beginnings where those
// before have none, or the other way round, those before are a stretch of their own.
func (v *verbosity) end(at time.Time, f sources.Fact) {
	ev := sources.Event{Time: at, Fact: f}
	v.ended++
	if v.streams && (!v.known || v.emitted.has(v.ended-1)) {
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

// conclude processes the end of the log, which covers the scheduler's work from begin on.
func (v *verbosity) conclude(begin time.Time) {
	v.settle()
	if quiet := v.quiet(); quiet.n > 0 && (quiet.isBelow() || v.deep.IsZero()) {
		v.commitQuiet()
	}
	if len(v.spans) > 0 {
		v.spans[0].Time = begin
	}
}

// ending returns the end of a log without all moves.
func ending(at time.Time) sources.Event {
	return sources.Event{Time: at, Fact: &sources.Logged{Verbosity: unknown}}
}

// has reports whether the log yields an event. A log with all moves yields no evidence for
// them; another log yields no moves of stretches below -v=5.
func (v *verbosity) has(ev sources.Event) bool {
	if len(v.spans) == 0 {
		return !isFact[*sources.Delivered](ev)
	}
	return !isFact[*sources.Move](ev) || v.at(ev.Time) >= sources.MovesVerbosity
}

// takeBy returns the events of a followed log up to due, from part and v: the changes of verbosity, and the events that
// the verbosity allows. No later line adds to attempts up to due. There must be a span.
func (v *verbosity) takeBy(due time.Time, part *sources.Part) []sources.Event {
	if v.pending != nil && !v.pending.at.After(due) {
		v.settle()
	}
	if q := v.quiet(); q.n > 0 && !q.from.After(due) && (v.level() < sources.MovesVerbosity || q.isBelow()) {
		v.commitQuiet()
	}
	isDue := func(ev sources.Event) bool { return !ev.Time.After(due) }
	taken := 1 // the first was taken before
	for taken < len(v.spans) && isDue(v.spans[taken]) {
		taken++
	}
	events := slices.Clone(v.spans[1:taken])
	for len(part.Events) > 0 && isDue(part.Events[0]) {
		if v.has(part.Events[0]) {
			events = append(events, part.Events[0])
		}
		part.Events = part.Events[1:]
	}
	for len(v.facts) > 0 && isDue(v.facts[0]) {
		events = append(events, v.facts[0])
		v.facts = v.facts[1:]
	}
	v.spans = slices.Clone(v.spans[taken-1:])
	slices.SortStableFunc(events, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	return events
}

func isFact[F sources.Fact](ev sources.Event) bool {
	_, is := ev.Fact.(F)
	return is
}

// at returns the verbosity at a time.
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

// failed records that an attempt of pod failed.
func (v *verbosity) failed(at time.Time, pod *pod) {
	v.settle()
	v.pending = &failedEnd{at, pod, &sources.FailedAttempt{Pod: pod.name, Log: true, Began: pod.began}}
	pod.entered, pod.began = false, time.Time{}
}

// bound records that pod was bound.
func (v *verbosity) bound(at time.Time, pod *pod, node string) {
	v.settle()
	if !pod.entered {
		v.end(at, &sources.Bound{Pod: pod.name, Node: node, Began: pod.began})
	}
}

// wentTo records where the pod of a failed attempt went, as a log of 3 shows it.
func (v *verbosity) wentTo(pod *pod, m *sources.Move) {
	if f := v.pending; f != nil && f.pod == pod {
		f.fact.To, f.fact.Plugins = m.To, m.Plugins
		v.settle()
	}
}

// sawMove records a move of pod, as only a log of 5 shows it.
func (v *verbosity) sawMove(at time.Time, pod *pod, to sources.Tier) {
	if to == sources.TierActive || to == sources.TierBackoff {
		pod.entered = true
	}
	v.sawDeep(at, pod)
}
