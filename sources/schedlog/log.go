package schedlog

import (
	"errors"
	"iter"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/lines"
)

// A log is read twice: first for facts about the log as a whole, then event by event. Its events are kept between the
// two, or read again from the file. In the second reading, events wait while later lines may add to them or precede them.

// Log has the facts about a log as a whole.
type Log struct {
	// First and Last are its first and last times, including those of lines without an event.
	First, Last time.Time
	// Notices are sentences for the person.
	Notices []string
	// Spans are its *sources.Logged without the final one, which is at Last. A log that contains all moves has none.
	Spans []sources.Event
	// Starts are its *sources.SchedulerStarted, in the order in which Events yields them.
	Starts []sources.Event
	// Moves is true if it contains moves.
	Moves bool
	// WorkedFrom and WorkedTo are the times of the first and the last line that only the scheduler that holds the lease writes.
	// Zero if there is none.
	WorkedFrom, WorkedTo time.Time
	// Placed are times at which pods were bound. ZoneKnown is true if the log shows the zone of its times.
	Placed    map[types.NamespacedName]time.Time
	ZoneKnown bool
	// Pods are the pods that it names. Places is true if it shows the arrival or binding of one.
	Pods   sources.PodNames
	Places bool

	year     Year
	emitted  ordinals      // attempts whose ends are events, as in a log below -v=5
	latest   time.Duration // see parser
	entity   bool          // the wording of v1.37 was seen
	lines    lineSample
	election election // when it waited for the lease
	begins   bool     // the first of Starts was before the log began

	isKept bool
	kept   []sources.Event // events in the order of the lines
}

// Survey reads a log to its end. If keep is set, it keeps the events. It skips unreadable lines with a notice. It calls
// show, unless nil, with each event; which of them Events yields is known at the end.
//
// An error names the file and the line: it is not a log of kube-scheduler, or no line can be read.
func Survey(r *lines.Reader, year Year, keep bool, show func(sources.Event)) (*Log, error) {
	p := newParser(r, year)
	if keep {
		p.part.Keep = r.Keep
	}
	l := &Log{year: year, isKept: keep}
	events := 0
	look := func() {
		for _, ev := range p.takeRead() {
			switch ev.Fact.(type) {
			case *sources.Delivered:
			case *sources.FailedAttempt, *sources.Bound:
				if keep {
					r.Keep(sources.Cost(ev.Fact))
				}
			case *sources.SchedulerStarted:
				events++
				l.Starts = append(l.Starts, ev)
				if !keep {
					r.Keep(sources.Cost(ev.Fact))
				}
			default:
				events++
			}
			l.note(ev.Fact)
			if keep {
				l.kept = append(l.kept, ev)
			}
			if show != nil {
				show(ev)
			}
		}
	}
	if err := p.readToEnd(r, func() error { look(); return nil }); err != nil {
		return nil, err
	}
	if err := p.nothing(r, events+len(p.verbosity.spans)); err != nil {
		return nil, err
	}
	l.conclude(p, p.notices(r))
	return l, nil
}

// note processes an event of a line about a pod.
func (l *Log) note(f sources.Fact) {
	if pod, names := sources.LoggedPod(f); names {
		l.Pods.Add(pod)
	}
	switch f := f.(type) {
	case *sources.Bound:
		l.Places = true
	case *sources.Move:
		l.Moves = true
		l.Places = l.Places || f.To == sources.TierScheduled || queue.IsPodAdd(f.Event)
	}
}

// conclude copies p's findings.
func (l *Log) conclude(p *parser, notices []string) {
	l.First, l.Last, l.Notices = p.part.First, p.part.Last, notices
	l.Spans, l.emitted = p.verbosity.spans, p.verbosity.emitted
	l.latest, l.entity = p.latest, p.entity
	l.Moves = l.Moves && (len(l.Spans) == 0 || p.verbosity.reaches(sources.MovesVerbosity))
	if l.begins = p.complete(); l.begins {
		l.Starts = slices.Insert(l.Starts, 0, sources.Event{Time: l.First, Fact: p.started[0]})
	}
	l.lines, l.Placed, l.ZoneKnown = p.sample, p.places, p.clock.offsetKnown || l.year.Zone != nil
	l.election, l.WorkedFrom, l.WorkedTo = p.election, p.workedFrom, p.workedTo
	l.Starts = l.election.starts(l.Starts)
	slices.SortStableFunc(l.Starts, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	nth := -1
	l.kept = slices.DeleteFunc(l.kept, func(ev sources.Event) bool {
		switch ev.Fact.(type) {
		case *sources.FailedAttempt, *sources.Bound:
			nth++
			return !l.emitted.has(nth)
		}
		return false
	})
}

// reaches reports whether the log had that verbosity at some time.
func (v *verbosity) reaches(level int) bool {
	return slices.ContainsFunc(v.spans, func(s sources.Event) bool { return s.Fact.(*sources.Logged).Verbosity >= level })
}

// late records how late a line is about an event of that time.
func (p *parser) late(at time.Time) {
	if p.now.After(p.highest) {
		p.highest = p.now
	}
	p.latest = max(p.latest, p.highest.Sub(at))
}

// takeRead returns the events read since the last call.
func (p *parser) takeRead() []sources.Event {
	if len(p.part.Events) == 0 && len(p.verbosity.facts) == 0 {
		return nil
	}
	read := append(p.part.Events, p.verbosity.facts...)
	p.part.Events, p.verbosity.facts = read[:0], p.verbosity.facts[:0]
	for _, ev := range read {
		if ev.Time.After(p.highest) {
			p.highest = ev.Time
		}
		p.late(ev.Time)
	}
	return read
}

// Events yields the log's events in the order of time. It reads a log that is not kept from r, which is at its beginning.
// A kept log yields the same facts each time. An error is the last that it yields.
func (l *Log) Events(r *lines.Reader) iter.Seq2[sources.Event, error] {
	return func(yield func(sources.Event, error) bool) {
		e := &emitter{log: l, keep: func(int) {}, emit: func(ev sources.Event) bool { return yield(ev, nil) }}
		e.verbosity = &verbosity{spans: l.Spans}
		e.begin()
		err := e.readFrom(r)
		if err == nil {
			err = e.end()
		}
		if err != nil && err != errEnough {
			yield(sources.Event{}, err)
		}
	}
}

// Events of equal times are in this order.
const (
	rankSpan = iota
	rankLine
	rankFact // of a stretch below -v=5
)

// emitter yields events in the order of time.
type emitter struct {
	log       *Log
	verbosity *verbosity
	highest   time.Time // of the events read
	standby   standbyQueue
	waiting   sources.Waiting
	keep      func(bytes int)
	emit      func(sources.Event) bool
}

// errEnough ends reading when the consumer stops.
var errEnough = errors.New("the consumer has stopped")

// begin adds the events that are known before the first line.
func (e *emitter) begin() {
	for _, s := range e.log.Spans {
		e.add(rankSpan, s)
	}
	if e.log.begins {
		e.add(rankSpan, e.log.Starts[0])
	}
	for _, s := range e.log.election.standbys {
		if s.start != nil && s.acquired {
			e.add(rankSpan, sources.Event{Time: s.to, Fact: s.start})
		}
	}
}

func (e *emitter) add(rank int, ev sources.Event) {
	cost := sources.Cost(ev.Fact) // before later lines add to it
	e.keep(cost)
	e.waiting.Add(rank, ev, cost)
}

// readFrom reads the events: from r, unless they are kept.
func (e *emitter) readFrom(r *lines.Reader) error {
	if e.log.isKept {
		for _, ev := range e.log.kept {
			if ev.Time.After(e.highest) {
				e.highest = ev.Time
			}
			e.read(ev)
			if err := e.upTo(e.highest.Add(-e.log.latest)); err != nil {
				return err
			}
		}
		return nil
	}
	p := newParser(r, e.log.year)
	p.verbosity.keep, p.verbosity.known = nil, true
	p.verbosity.spans, p.verbosity.emitted = e.log.Spans, e.log.emitted
	e.keep = r.Keep
	look := func() error {
		for _, ev := range p.takeRead() {
			e.read(ev)
		}
		return e.upTo(p.highest.Add(-e.log.latest))
	}
	return p.readToEnd(r, look)
}

// read adds an event of a line.
func (e *emitter) read(ev sources.Event) {
	if !e.verbosity.has(ev) {
		return
	}
	if s := e.log.election.waitsIn(ev.Time); s != nil {
		e.standby.add(s, ev)
		return
	}
	for _, move := range e.standby.take() {
		e.add(rankLine, move)
	}
	rank := rankLine
	switch f := ev.Fact.(type) {
	case *sources.FailedAttempt, *sources.Bound:
		rank = rankFact
	case *sources.SchedulerStarted:
		inferRelease(f, e.log.entity)
	}
	e.add(rank, ev)
}

// upTo yields the events from before that time: no later line can add to them or precede them.
func (e *emitter) upTo(at time.Time) error {
	for {
		first, some := e.waiting.First()
		if !some || !first.Time.Before(at) {
			return nil
		}
		if err := e.next(first); err != nil {
			return err
		}
	}
}

// next yields the first waiting event.
func (e *emitter) next(first sources.Event) error {
	e.keep(-e.waiting.Take())
	if m, is := first.Fact.(*sources.Move); is && m.To == "" { // see parser.unplaced
		return nil
	}
	if !e.emit(first) {
		return errEnough
	}
	return nil
}

// end yields the rest.
func (e *emitter) end() error {
	for first, some := e.waiting.First(); some; first, some = e.waiting.First() {
		if err := e.next(first); err != nil {
			return err
		}
	}
	if len(e.log.Spans) > 0 {
		e.emit(ending(e.log.Last))
	}
	return nil
}
