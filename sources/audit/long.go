package audit

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/earlier"
	"github.com/schedq/schedq/sources/lines"
)

// Source is a log that can be read as often as one wants.
type Source struct {
	// Begins is about when it begins. Zero if that is not known.
	Begins time.Time
	// Open returns the log at its beginning, and what is to be called at its end: that returns sentences for the person.
	Open func(context.Context) (*lines.Reader, func() []string, error)
}

// Long are logs that are read as often as need be, and not kept: what is kept of them are the objects that are there at a
// moment, what is told within seconds, and a few numbers for each stretch of time.
type Long struct {
	// Logs are what is known of each of the sources. They hold no changes.
	Logs []*Log

	sources  []Source
	memory   int
	patience time.Duration // of the survey
	survey   *survey
	calls    calls
	visit    func(sources.Event)
	seed     earlier.Seed

	attached bool
}

// SourceError is why one of several sources can't be read.
type SourceError struct {
	// Index is which of them.
	Index int
	Err   error
}

// Error implements error.
func (e *SourceError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *SourceError) Unwrap() error { return e.Err }

// atFirst is how long a survey waits for what is told late. If something is told later than that, it is made again.
const atFirst = 15 * time.Second

// Survey reads logs once, and finds out what must be known of them as a whole. visit is shown what they tell, nearly as Events
// tells it; Begin shows it the rest. If a seed is to follow, what was there is remembered for it. What waits for its turn
// may take up to so many bytes of memory. An error is a *SourceError, or says why reading was stopped.
func Survey(ctx context.Context, all []Source, seeded bool, memory int, visit func() func(sources.Event)) (*Long, error) {
	for patience := time.Duration(atFirst); ; {
		l := &Long{sources: all, memory: memory, patience: patience, visit: visit()}
		looking := newSurveyor(patience, !seeded, l.visit)
		err := l.read(ctx, looking.teller, looking.takeItem)
		if err != nil {
			return nil, err
		}
		l.survey = looking.finish(l.Logs)
		l.calls = looking.requests[0]
		if !l.survey.own {
			l.calls = looking.requests[1]
		}
		if l.survey.longest < patience {
			return l, nil
		}
		patience = l.survey.longest + time.Second
	}
}

// Begin takes a seed, and shows the visitor what is told of the beginning. It must be called once, before Events.
func (l *Long) Begin(seed earlier.Seed) earlier.Fit {
	fit := l.survey.begin.AddSeed(seed.Objects)
	l.seed = seed
	l.survey.newTeller(seed, 0, func(ev sources.Event) {
		if _, is := ev.Fact.(*sources.Attached); is {
			l.attached = true
		}
		l.visit(ev)
	}).finish()
	for _, ev := range l.calls.early {
		l.visit(ev)
	}
	for range l.calls.count - len(l.calls.early) {
		l.visit(sources.Event{Time: l.calls.last, Fact: &sources.Requested{}})
	}
	l.visit = nil // which may have much in mind
	return fit
}

// First is when the logs begin.
func (l *Long) First() time.Time { return l.survey.begin.At() }

// BeginAtWork reports whether Events tells that the scheduler was at work when the logs began.
func (l *Long) BeginAtWork() bool { return l.attached }

// Events reads the logs once more and yields what they tell, as Order has it. An error is the last that it yields.
func (l *Long) Events(ctx context.Context) iter.Seq2[sources.Event, error] {
	return func(yield func(sources.Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		wanted := true
		t := l.survey.newTeller(l.seed, l.patience, func(ev sources.Event) {
			if wanted = wanted && yield(ev, nil); !wanted {
				cancel()
			}
		})
		again := &Long{sources: l.sources, memory: l.memory}
		err := again.read(ctx, t, t.takeItem)
		switch {
		case !wanted:
		case err != nil:
			yield(sources.Event{}, err)
		default:
			t.finish()
		}
	}
}

// batch are items that are handed from who reads a log to who takes them.
type batch struct {
	items []item
	log   *Log // at the end
	err   error
}

// A batch has so many items at most, or somewhat more than so many bytes.
const (
	batchItems = 256
	batchBytes = 1 << 20
)

// read reads the logs to their ends and has take take what they tell. What waits in t for its turn is bounded.
func (l *Long) read(ctx context.Context, t *teller, take func(*item)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	l.Logs = make([]*Log, len(l.sources))
	var all []*cursor
	for i, src := range l.sources {
		var batches chan batch
		all = append(all, &cursor{begins: src.Begins, more: func() []item {
			if batches == nil {
				batches = make(chan batch, 2)
				go src.read(ctx, batches)
			}
			for b := range batches {
				if b.err != nil {
					cancel(&SourceError{i, b.err})
				}
				if b.log != nil {
					l.Logs[i] = b.log
				}
				if len(b.items) > 0 {
					return b.items
				}
			}
			return nil
		}})
	}
	beside(all, func(it *item) {
		if ctx.Err() == nil {
			take(it)
		}
		if t.weaver.cost > l.memory {
			cancel(fmt.Errorf("changes are told so much out of order that more than %d MiB of memory are needed to put them in order: --memory raises the bound", l.memory>>20))
		}
	})
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if i := slices.Index(l.Logs, nil); i >= 0 {
		return &SourceError{i, context.Canceled}
	}
	return nil
}

// read reads the log to its end and hands on what it tells. It closes batches at the end, or when ctx ends.
func (s *Source) read(ctx context.Context, batches chan<- batch) {
	defer close(batches)
	hand := func(b batch) error {
		select {
		case batches <- b:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	log, rest, err := s.items(ctx, hand)
	if ctx.Err() != nil {
		return
	}
	_ = hand(batch{rest, log, err})
}

// items hands on what the log tells, but for the last of it, which it returns.
func (s *Source) items(ctx context.Context, hand func(batch) error) (*Log, []item, error) {
	r, ended, err := s.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	var b batch
	cost := 0
	log, err := eachItem(r, func(it item) error {
		b.items = append(b.items, it)
		if cost += it.cost; len(b.items) < batchItems && cost < batchBytes {
			return nil
		}
		err := hand(b)
		b, cost = batch{}, 0
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	log.Notices = append(ended(), log.Notices...)
	return log, b.items, nil
}
