package schedlog

import (
	"cmp"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/tidwall/btree"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/lines"
)

// A long log is read twice: once for what must be known of it as a whole before the first event can be told, and then event by event.
// What waits in the second reading is what later lines may add to, or come before.

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

	year   Year
	told   ordinals      // which of the attempts that were told as in a log below 5
	latest time.Duration // see parser
	entity bool          // the wording of v1.37 was seen
	begins bool          // the first of Starts stands for one before the log began
}

// Survey reads a log to its end, and keeps nothing of it but what is known of it as a whole. Errors are those of Read.
func Survey(r *lines.Reader, year Year) (*Log, error) {
	l := &Log{}
	for _, err := range l.Survey(r, year) {
		if err != nil {
			return nil, err
		}
	}
	return l, nil
}

// Survey yields nearly what the log tells, nearly in the order of time, as one that tells all moves: whether it does is known behind
// the last of them, when l is what Survey returns. An error is the last that it yields.
func (l *Log) Survey(r *lines.Reader, year Year) iter.Seq2[sources.Event, error] {
	return func(yield func(sources.Event, error) bool) {
		p := newParser(r, year)
		p.verbosity.streams = true
		*l = Log{year: year}
		events := 0
		look := func() error {
			for _, ev := range p.takeRead() {
				switch ev.Fact.(type) {
				case *sources.Delivered, *sources.FailedAttempt, *sources.Bound:
					continue
				case *sources.SchedulerStarted:
					l.Starts = append(l.Starts, ev)
					r.Keep(sources.Cost(ev.Fact))
				case *sources.Move:
					l.Moves = true
				}
				if events++; !yield(ev, nil) {
					return errEnough
				}
			}
			return nil
		}
		err := p.readAll(r, look)
		if err == nil {
			err = p.conclude(r)
		}
		if err == nil {
			err = look()
		}
		if err == nil {
			err = p.nothing(r, events+len(p.verbosity.spans))
		}
		if err == nil {
			l.conclude(p, p.notices(r))
		} else if err != errEnough {
			yield(sources.Event{}, err)
		}
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
	slices.SortStableFunc(l.Starts, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
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

// Events reads the log once more and yields what it tells, in the order of time, as Read has it. An error is the last that it yields.
func (l *Log) Events(r *lines.Reader) iter.Seq2[sources.Event, error] {
	return func(yield func(sources.Event, error) bool) {
		p := newParser(r, l.year)
		p.verbosity.keep = nil
		p.verbosity.streams, p.verbosity.known = true, true
		p.verbosity.spans, p.verbosity.told = l.Spans, l.told
		t := &teller{log: l, parser: p, waiting: newWaiting(), keep: r.Keep, tell: func(ev sources.Event) bool { return yield(ev, nil) }}
		t.begin()
		err := p.readAll(r, t.read)
		if err == nil {
			err = p.conclude(r)
		}
		if err == nil {
			err = t.end()
		}
		if err != nil && err != errEnough {
			yield(sources.Event{}, err)
		}
	}
}

// waits is an event that waits for its turn.
type waits struct {
	sources.Event
	rank rank
	nth  int
	cost int
}

// rank is in which order events of one time are told.
type rank int8

const (
	rankSpan rank = iota
	rankLine
	rankFact // of a stretch below 5
)

// newWaiting returns events in the order of time, of equal times in that of their ranks, and then as they came.
func newWaiting() *btree.BTreeG[*waits] {
	return btree.NewBTreeGOptions(func(a, b *waits) bool {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.rank, b.rank), cmp.Compare(a.nth, b.nth)) < 0
	}, btree.Options{NoLocks: true})
}

// teller tells what lines come to, in the order of time.
type teller struct {
	log     *Log
	parser  *parser
	waiting *btree.BTreeG[*waits]
	count   int
	keep    func(bytes int)
	tell    func(sources.Event) bool
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
}

func (t *teller) add(r rank, ev sources.Event) {
	t.count++
	w := &waits{ev, r, t.count, sources.Cost(ev.Fact)}
	t.keep(w.cost)
	t.waiting.Set(w)
}

// read takes in what the last line told, and tells what nothing that follows can add to or come before.
func (t *teller) read() error {
	for _, ev := range t.parser.takeRead() {
		if !t.parser.verbosity.tells(ev) {
			continue
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
	return t.upTo(t.parser.highest.Add(-t.log.latest))
}

// upTo tells what was before that time.
func (t *teller) upTo(at time.Time) error {
	for {
		first, some := t.waiting.Min()
		if !some || !first.Time.Before(at) {
			return nil
		}
		t.waiting.PopMin()
		t.keep(-first.cost)
		if !t.tell(first.Event) {
			return errEnough
		}
	}
}

// end tells the rest.
func (t *teller) end() error {
	if err := t.read(); err != nil {
		return err
	}
	for {
		first, some := t.waiting.PopMin()
		if !some {
			break
		}
		if t.keep(-first.cost); !t.tell(first.Event) {
			return errEnough
		}
	}
	if len(t.log.Spans) > 0 {
		t.tell(ending(t.log.Last))
	}
	return nil
}
