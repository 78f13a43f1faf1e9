package audit

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/earlier"
)

// Logs are audit logs that were read once. What is kept of them, beside what each of them keeps, are the objects that are there at a
// moment, what is told within seconds, and a few numbers for each stretch of time.
type Logs struct {
	logs     []*Log
	memory   int
	patience time.Duration // of the survey
	survey   *survey
	calls    calls
	visit    func(sources.Event) // may be nil
	seed     earlier.Seed
}

// LogError is why one of several logs can't be read.
type LogError struct {
	Log *Log
	Err error
}

// Error implements error.
func (e *LogError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *LogError) Unwrap() error { return e.Err }

// atFirst is how long a survey waits for what is told late. If something is told later than that, it is made again.
const atFirst = 15 * time.Second

// Survey reads logs once, and finds out what must be known of them as a whole. A visitor, if there are any, is shown what they tell,
// nearly as Events tells it; Begin shows it the rest. If the survey has to be made again, it gets a visitor of its own. If a seed is to
// follow, what was there is remembered for it. What waits for its turn may take up to so many bytes of memory. An error is a *LogError,
// or says why reading was stopped.
func Survey(ctx context.Context, logs []*Log, seeded bool, memory int, visitor func() func(sources.Event)) (*Logs, error) {
	for patience := time.Duration(atFirst); ; {
		l := &Logs{logs: logs, memory: memory, patience: patience}
		if visitor != nil {
			l.visit = visitor()
		}
		looking := newSurveyor(patience, !seeded, l.visit)
		if err := l.read(ctx, logs, looking.teller, looking.takeItem); err != nil {
			return nil, err
		}
		l.survey = looking.finish(logs)
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
func (l *Logs) Begin(seed earlier.Seed) earlier.Fit {
	fit := l.survey.begin.AddSeed(seed.Objects)
	l.seed = seed
	if l.visit == nil {
		return fit
	}
	l.survey.newTeller(seed, 0, l.visit).finish()
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
func (l *Logs) First() time.Time { return l.survey.begin.At() }

// Starts are the *sources.SchedulerStarted that Events yields, in the order of time and the same facts each time.
func (l *Logs) Starts() []sources.Event {
	return slices.SortedStableFunc(slices.Values(l.survey.starts), func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
}

// BeginAtWork reports whether Events tells that the scheduler was at work when the logs began. It must be called after Begin.
func (l *Logs) BeginAtWork() bool { return l.survey.atWork && !l.survey.begin.Empty() }

// Events yields what the logs tell: changes as *sources.ObjectChange, in the order in which they were made, and between them what the
// logs tell of kube-schedulers: their starts, releases and failed attempts. What was there before the first of them is told as added
// when the logs begin. Logs that are not kept are read once more. An error is the last that it yields.
func (l *Logs) Events(ctx context.Context) iter.Seq2[sources.Event, error] {
	return func(yield func(sources.Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		wanted := true
		t := l.survey.newTeller(l.seed, l.patience, func(ev sources.Event) {
			if wanted = wanted && yield(ev, nil); !wanted {
				cancel()
			}
		})
		again := make([]*Log, len(l.logs))
		for i, log := range l.logs {
			again[i] = log.again()
		}
		err := l.read(ctx, again, t, t.takeItem)
		switch {
		case !wanted:
		case err != nil:
			yield(sources.Event{}, err)
		default:
			t.finish()
		}
	}
}

// again returns the log as it is before it is read, but what it keeps.
func (l *Log) again() *Log {
	return &Log{begins: l.begins, open: l.open, isKept: l.isKept, items: l.items}
}

// batch are items that are handed from who reads a log to who takes them.
type batch struct {
	items []item
	err   error
}

// A batch has so many items at most, or somewhat more than so many bytes.
const (
	batchItems = 256
	batchBytes = 1 << 20
)

// read reads logs to their ends and has take take what they tell. What waits in t for its turn is bounded.
func (l *Logs) read(ctx context.Context, logs []*Log, t *teller, take func(*item)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all []*cursor
	for _, log := range logs {
		c := &cursor{items: log.items}
		if !log.isKept {
			c.begins, c.more = log.begins, log.batches(ctx, func(err error) { cancel(&LogError{log, err}) })
		}
		all = append(all, c)
	}
	beside(all, func(it *item) {
		if ctx.Err() == nil {
			take(it)
		}
		if t.weaver.cost > l.memory {
			cancel(fmt.Errorf("changes are told so much out of order that more than %d MiB of memory are needed to put them in order: --memory raises the bound", l.memory>>20))
		}
	})
	return context.Cause(ctx)
}

// batches returns a function that returns what the log tells, some of it at a time and nothing at the end. The log is read in a
// goroutine, from the first call on and until ctx ends. An error goes to failed.
func (l *Log) batches(ctx context.Context, failed func(error)) func() []item {
	var batches chan batch
	return func() []item {
		if batches == nil {
			batches = make(chan batch, 2)
			go func() {
				defer close(batches)
				_ = l.hand(ctx, func(b batch) error {
					select {
					case batches <- b:
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				})
			}()
		}
		for b := range batches {
			if b.err != nil {
				failed(b.err)
			}
			if len(b.items) > 0 {
				return b.items
			}
		}
		return nil
	}
}

// hand reads the log and hands on what it tells, and why it can't be read.
func (l *Log) hand(ctx context.Context, to func(batch) error) error {
	r, ended, err := l.open(ctx)
	if err != nil {
		return to(batch{err: err})
	}
	defer r.Close()
	var b batch
	cost := 0
	err = l.read(r, ended, func(it item) error {
		b.items = append(b.items, it)
		if cost += it.cost; len(b.items) < batchItems && cost < batchBytes {
			return nil
		}
		err := to(b)
		b, cost = batch{}, 0
		return err
	})
	if err != nil {
		return to(batch{err: err})
	}
	return to(b)
}
