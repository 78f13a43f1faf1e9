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

// A log is read twice: once for what must be known of it as a whole before the first event can be told, and then event by event. What
// its lines say is kept between the two, or read again from the file. What waits in the second reading is what later lines may add to,
// or come before.

// Log is what is known of a log as a whole.
type Log struct {
	// First and Last are its first and last times, also of lines that tell no event.
	First, Last time.Time
	// Notices are sentences for the person.
	Notices []string
	// Spans are its *sources.Logged, but for the last: the log ends with Last. A log that tells all moves has none.
	Spans []sources.Event
	// Starts are its *sources.SchedulerStarted, in the order in which they are told.
	Starts []sources.Event
	// Moves is true if it tells moves.
	Moves bool
	// WorkedFrom and WorkedTo are the times of the first and the last line that only the scheduler that holds the lease writes.
	// Zero if there is none.
	WorkedFrom, WorkedTo time.Time
	// Placed are times at which pods were bound, and ZoneKnown is true if the log says in which zone its times are.
	Placed    map[types.NamespacedName]time.Time
	ZoneKnown bool
	// Pods are those that it names, and Places is true if it says of one that it came or was bound.
	Pods   sources.PodNames
	Places bool

	year     Year
	told     ordinals      // which of the attempts that were told as in a log below 5
	latest   time.Duration // see parser
	entity   bool          // the wording of v1.37 was seen
	lines    lineSample
	election election // when it waited for the lease
	begins   bool     // the first of Starts stands for one before the log began

	isKept bool
	kept   []sources.Event // what the lines say, in their order
}

// Survey reads a log to its end. It keeps what the lines say if keep is set, and else nothing but what is known of it as a whole. What
// can't be read is left out, and a notice tells. show, if it is set, is shown what the lines say: what of that Events yields is known at
// the end.
//
// An error names the file and the line: it is not a log of kube-scheduler, or nothing in it can be read.
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

// note takes in what a line says of a pod.
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

// conclude takes in what p has found out.
func (l *Log) conclude(p *parser, notices []string) {
	l.First, l.Last, l.Notices = p.part.First, p.part.Last, notices
	l.Spans, l.told = p.verbosity.spans, p.verbosity.told
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
			return !l.told.has(nth)
		}
		return false
	})
}

// reaches reports whether the log was of that verbosity at some time.
func (v *verbosity) reaches(level int) bool {
	return slices.ContainsFunc(v.spans, func(s sources.Event) bool { return s.Fact.(*sources.Logged).Verbosity >= level })
}

// late takes in that something is told of an event of that time.
func (p *parser) late(at time.Time) {
	if p.now.After(p.highest) {
		p.highest = p.now
	}
	p.latest = max(p.latest, p.highest.Sub(at))
}

// takeRead takes what was read since it was called last.
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

// Events yields what the log tells, in the order of time. Unless the log is kept, it reads that from r, the log at its beginning. Of
// what is kept each event is the same whenever it is yielded. An error is the last that it yields.
func (l *Log) Events(r *lines.Reader) iter.Seq2[sources.Event, error] {
	return func(yield func(sources.Event, error) bool) {
		t := &teller{log: l, keep: func(int) {}, tell: func(ev sources.Event) bool { return yield(ev, nil) }}
		t.verbosity = &verbosity{spans: l.Spans}
		t.begin()
		err := t.readFrom(r)
		if err == nil {
			err = t.end()
		}
		if err != nil && err != errEnough {
			yield(sources.Event{}, err)
		}
	}
}

// In this order events of one time are told.
const (
	rankSpan = iota
	rankLine
	rankFact // of a stretch below 5
)

// teller tells what lines say, in the order of time.
type teller struct {
	log       *Log
	verbosity *verbosity
	highest   time.Time // of what was read
	standby   standbyQueue
	waiting   sources.Waiting
	keep      func(bytes int)
	tell      func(sources.Event) bool
}

// errEnough says that no more is asked for.
var errEnough = errors.New("no more is asked for")

// begin takes in what is known before the first line.
func (t *teller) begin() {
	for _, s := range t.log.Spans {
		t.add(rankSpan, s)
	}
	if t.log.begins {
		t.add(rankSpan, t.log.Starts[0])
	}
	for _, s := range t.log.election.standbys {
		if s.start != nil && !s.to.IsZero() {
			t.add(rankSpan, sources.Event{Time: s.to, Fact: s.start})
		}
	}
}

func (t *teller) add(rank int, ev sources.Event) {
	cost := sources.Cost(ev.Fact) // before later lines add to it
	t.keep(cost)
	t.waiting.Add(rank, ev, cost)
}

// readFrom takes in what the lines say, from r unless that is kept.
func (t *teller) readFrom(r *lines.Reader) error {
	if t.log.isKept {
		for _, ev := range t.log.kept {
			if ev.Time.After(t.highest) {
				t.highest = ev.Time
			}
			t.read(ev)
			if err := t.upTo(t.highest.Add(-t.log.latest)); err != nil {
				return err
			}
		}
		return nil
	}
	p := newParser(r, t.log.year)
	p.verbosity.keep, p.verbosity.known = nil, true
	p.verbosity.spans, p.verbosity.told = t.log.Spans, t.log.told
	t.keep = r.Keep
	look := func() error {
		for _, ev := range p.takeRead() {
			t.read(ev)
		}
		return t.upTo(p.highest.Add(-t.log.latest))
	}
	return p.readToEnd(r, look)
}

// read takes in what a line says.
func (t *teller) read(ev sources.Event) {
	if !t.verbosity.tells(ev) {
		return
	}
	if s := t.log.election.waitsIn(ev.Time); s != nil {
		t.standby.add(s, ev)
		return
	}
	for _, move := range t.standby.take() {
		t.add(rankLine, move)
	}
	rank := rankLine
	switch f := ev.Fact.(type) {
	case *sources.FailedAttempt, *sources.Bound:
		rank = rankFact
	case *sources.SchedulerStarted:
		inferRelease(f, t.log.entity)
	}
	t.add(rank, ev)
}

// upTo tells what was before that time, which nothing that follows can add to or come before.
func (t *teller) upTo(at time.Time) error {
	for {
		first, some := t.waiting.First()
		if !some || !first.Time.Before(at) {
			return nil
		}
		if err := t.next(first); err != nil {
			return err
		}
	}
}

// next tells the first that waits.
func (t *teller) next(first sources.Event) error {
	t.keep(-t.waiting.Take())
	if m, is := first.Fact.(*sources.Move); is && m.To == "" { // see parser.unplaced
		return nil
	}
	if !t.tell(first) {
		return errEnough
	}
	return nil
}

// end tells the rest.
func (t *teller) end() error {
	for first, some := t.waiting.First(); some; first, some = t.waiting.First() {
		if err := t.next(first); err != nil {
			return err
		}
	}
	if len(t.log.Spans) > 0 {
		t.tell(ending(t.log.Last))
	}
	return nil
}
