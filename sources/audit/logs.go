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

// Logs are audit logs that were read once. Besides what each Log keeps, they keep the objects that exist at a moment, the
// facts of a few seconds, and a few numbers per interval.
type Logs struct {
	logs     []*Log
	memory   int
	patience time.Duration // of the survey
	survey   *survey
	calls    calls
	visit    func(sources.Event) // may be nil
	seed     earlier.Seed
}

// LogError is the error of reading one of several logs.
type LogError struct {
	Log *Log
	Err error
}

// Error implements error.
func (e *LogError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *LogError) Unwrap() error { return e.Err }

// initialPatience is how long a survey waits for late lines. If a line is later, the survey is repeated.
const initialPatience = 15 * time.Second

// Survey reads logs once and finds out the facts about them as a whole. A visitor, unless visitors is nil, receives their
// events, nearly as Events yields them; Begin passes it the rest. A repeated survey gets a new visitor. If a seed
// follows, earlier objects are remembered for it. Waiting items may take up to memory bytes. An error is a *LogError, or the
// reason why reading was stopped.
func Survey(ctx context.Context, logs []*Log, seeded bool, memory int, visitor func() func(sources.Event)) (*Logs, error) {
	for patience := time.Duration(initialPatience); ; {
		l := &Logs{logs: logs, memory: memory, patience: patience}
		if visitor != nil {
			l.visit = visitor()
		}
		looking := newSurveyor(patience, !seeded, l.visit)
		if err := l.read(ctx, logs, looking.emitter, looking.takeItem); err != nil {
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

// Begin applies a seed and passes the visitor the events of the beginning. It must be called once, before Events.
func (l *Logs) Begin(seed earlier.Seed) earlier.Fit {
	fit := l.survey.begin.AddSeed(seed.Objects)
	l.seed = seed
	if l.visit == nil {
		return fit
	}
	l.survey.newEmitter(seed, 0, l.visit).finish()
	for _, ev := range l.calls.early {
		l.visit(ev)
	}
	for range l.calls.count - len(l.calls.early) {
		l.visit(sources.Event{Time: l.calls.last, Fact: &sources.Requested{}})
	}
	l.visit = nil // it may hold much memory
	return fit
}

// First returns when the logs begin.
func (l *Logs) First() time.Time { return l.survey.begin.At() }

// Starts returns the *sources.SchedulerStarted that Events yields, in the order of time and the same facts each time.
func (l *Logs) Starts() []sources.Event {
	return slices.SortedStableFunc(slices.Values(l.survey.starts), func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
}

// BeginAtWork reports whether the scheduler was at work when the logs began. It must be called after Begin.
func (l *Logs) BeginAtWork() bool { return l.survey.atWork && !l.survey.begin.Empty() }

// Events yields changes as *sources.ObjectChange, in the order in which they were made, and between them the activity of
// kube-schedulers: their starts, releases and failed attempts. Objects from before the first change are added when the logs
// begin. Logs that are not kept are read again. An error is the last that it yields.
func (l *Logs) Events(ctx context.Context) iter.Seq2[sources.Event, error] {
	return func(yield func(sources.Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		wanted := true
		t := l.survey.newEmitter(l.seed, l.patience, func(ev sources.Event) {
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

// again returns the unread log with its kept items.
func (l *Log) again() *Log {
	return &Log{begins: l.begins, open: l.open, isKept: l.isKept, items: l.items}
}

// batch is a batch of items on their way from the goroutine that reads a log to the consumer.
type batch struct {
	items []item
	err   error
}

// The limits of a batch. It may exceed the bytes by one item.
const (
	batchItems = 256
	batchBytes = 1 << 20
)

// read reads logs to their ends and calls take with their items. It limits the memory of the items that wait in t.
func (l *Logs) read(ctx context.Context, logs []*Log, t *emitter, take func(*item)) error {
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
	var seen lines.Seen
	repeated := make([]int, len(logs))
	beside(all, func(nth int, it *item) {
		switch {
		case ctx.Err() != nil:
		case len(logs) > 1 && seen.Add(it.id):
			repeated[nth]++
		default:
			take(it)
		}
		if t.merger.cost > l.memory {
			cancel(fmt.Errorf("changes are so much out of order that sorting them needs more than %d MiB of memory: raise the limit with --memory", l.memory>>20))
		}
	})
	for i, log := range logs {
		log.Repeated = repeated[i]
	}
	return context.Cause(ctx)
}

// batches returns a function that returns the log's items in batches, and none at the end. A goroutine reads the log from
// the first call until ctx ends. An error goes to failed.
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

// hand reads the log and passes on its items, or an error.
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
