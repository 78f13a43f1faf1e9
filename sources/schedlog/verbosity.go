package schedlog

import (
	"fmt"
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
	quiet   stretch         // since then
	alike   run             // the last of it
	pending *failedEnd      // whose verbosity the next lines tell
	keep    func(bytes int) // see sources.Part
}

// stretch are attempts whose ends were told, and no line that only comes at 5.
type stretch []sources.Event

// began is of how many attempts also the beginning was told.
func (s stretch) began() (n int) {
	for _, ev := range s {
		if !beginning(ev.Fact).IsZero() {
			n++
		}
	}
	return n
}

// errors is how many attempts failed by an error: klog writes that at any verbosity.
func (s stretch) errors() (n int) {
	for _, ev := range s {
		if isError(ev.Fact) {
			n++
		}
	}
	return n
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

// run are attempts in a row of all of which the beginning was told, or of none of which. Errors are not counted.
type run struct {
	began bool
	n     int
	from  int // where in the stretch it begins
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
func (s stretch) isBelow() bool { return len(s)-s.errors() >= fewest }

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
	if v.quiet.isBelow() {
		v.commit(len(v.quiet))
	}
	v.quiet, v.alike = nil, run{}
	if len(v.spans) > 0 && v.level() < sources.MovesVerbosity {
		v.enter(since, sources.MovesVerbosity)
	}
	v.deep = at
}

// level is the verbosity of the last span.
func (v *verbosity) level() int { return v.spans[len(v.spans)-1].Fact.(*sources.Logged).Verbosity }

func (v *verbosity) enter(at time.Time, level int) {
	v.spans = append(v.spans, sources.Event{Time: at, Fact: &sources.Logged{Verbosity: level}})
}

// commit takes the first n attempts of the stretch since the last line of 5 as those of a log below 5.
func (v *verbosity) commit(n int) {
	part := v.quiet[:n]
	level, errors := sources.AttemptsVerbosity, part.errors()
	if errors == len(part) {
		level = 0
	} else if 2*part.began() > len(part) {
		level = 3
	}
	from := part[0].Time
	if soon := v.deep.Add(lastWords); !v.deep.IsZero() && soon.Before(from) {
		from = soon
	}
	if len(v.spans) == 0 && !v.deep.IsZero() {
		v.enter(time.Time{}, sources.MovesVerbosity) // up to here
	}
	turnedDown := level == sources.AttemptsVerbosity && (len(part)-errors >= fewest || v.alike.n >= fewest && !v.alike.began)
	if len(v.spans) > 0 && v.level() < sources.MovesVerbosity && !turnedDown {
		level = max(level, v.level()) // few attempts at a time, of a log that is followed: they need not show all of it
	}
	if len(v.spans) == 0 || v.level() != level {
		v.enter(from, level)
	}
	v.facts = append(v.facts, part...)
	v.quiet, v.alike.from = slices.Clone(v.quiet[n:]), max(0, v.alike.from-n)
}

// settle takes the failure of which no line has told more as one of a log below 5.
func (v *verbosity) settle() {
	f := v.pending
	v.pending = nil
	if f != nil {
		f.fact.Message = f.pod.message
		v.ended(f.at, f.fact)
	}
}

// ended notes the end of an attempt that was told as in a log below 5. Once a few in a row tell their beginning where those
// before them do not, or the other way round, those before are a stretch of their own.
func (v *verbosity) ended(at time.Time, f sources.Fact) {
	v.quiet = append(v.quiet, sources.Event{Time: at, Fact: f})
	if v.keep != nil {
		v.keep(sources.Cost(f))
	}
	if isError(f) {
		return
	}
	if began := !beginning(f).IsZero(); v.alike.n == 0 || began != v.alike.began {
		v.alike = run{began: began, from: len(v.quiet) - 1}
	}
	v.alike.n++
	if before := v.quiet[:v.alike.from]; v.alike.n == fewest && (before.isBelow() || len(before) > 0 && v.deep.IsZero()) {
		v.commit(v.alike.from)
	}
}

// tell puts the facts of stretches below 5 in the place of the moves that were read in them. begin is when the log begins
// to tell of the scheduler's work, end when it ends.
func (v *verbosity) tell(part *sources.Part, begin, end time.Time) {
	v.settle()
	if len(v.quiet) > 0 && (v.quiet.isBelow() || v.deep.IsZero()) {
		v.commit(len(v.quiet))
	}
	if len(v.spans) == 0 {
		return
	}
	v.spans[0].Time = begin
	part.Events = slices.DeleteFunc(part.Events, func(ev sources.Event) bool {
		return isFact[*sources.Move](ev) && v.at(ev.Time) < sources.MovesVerbosity
	})
	part.Events = slices.Concat(v.spans, part.Events, v.facts)
	slices.SortStableFunc(part.Events, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	part.Events = append(part.Events, sources.Event{Time: end, Fact: &sources.Logged{Verbosity: -1}})
}

// takeBy takes what is to be told up to due of a log that is followed, out of part and of v: where the verbosity changes,
// and what it lets the log tell. Of attempts by then no later line tells more. There must be a span.
func (v *verbosity) takeBy(due time.Time, part *sources.Part) []sources.Event {
	if v.pending != nil && !v.pending.at.After(due) {
		v.settle()
	}
	if q := v.quiet; len(q) > 0 && !q[0].Time.After(due) && (v.level() < sources.MovesVerbosity || q.isBelow()) {
		v.commit(len(q))
	}
	isDue := func(ev sources.Event) bool { return !ev.Time.After(due) }
	told := 1 // the first was told
	for told < len(v.spans) && isDue(v.spans[told]) {
		told++
	}
	events := slices.Clone(v.spans[1:told])
	for len(part.Events) > 0 && isDue(part.Events[0]) {
		if !isFact[*sources.Move](part.Events[0]) || v.at(part.Events[0].Time) >= sources.MovesVerbosity {
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
		v.ended(at, &sources.Bound{Pod: pod.name, Node: node, Began: pod.began})
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

// lacksMoves says of a log that does not tell all moves what it tells, or returns "".
func (p *parser) lacksMoves() string {
	lowest := sources.MovesVerbosity
	for _, s := range p.verbosity.spans {
		if level := s.Fact.(*sources.Logged).Verbosity; level >= 0 {
			lowest = min(lowest, level)
		}
	}
	switch {
	case p.moves == 0:
		return "no pod moves in this log: kube-scheduler writes them at -v=5 and above, and how attempts end at -v=2"
	case lowest < sources.MovesVerbosity:
		return fmt.Sprintf("this log is of -v=%d, in part at least: it tells how attempts ended, and not how pods move between them", lowest)
	}
	return ""
}
