package report

import (
	"context"
	"errors"
	"iter"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// side is one of two runs that are compared.
type side uint8

// want is the truth, or the first run; got is the other run.
const (
	want side = iota
	got
)

// runSpec is a recording and how to play it.
type runSpec struct {
	rec  *sources.Recording
	opts timeline.Options
	made []*board.Transition // its moves, if they are known already
	// changed is called with each change of an object. It may be nil.
	changed func(sources.Event)
}

// olderLabels returns the older of the two runs' spellings of events.
func olderLabels(runs [2]runSpec) (older queue.LabelStyle, err error) {
	for _, run := range runs {
		cfg, err := run.opts.SchedulerConfig(run.rec)
		if err != nil {
			return 0, err
		}
		older = max(older, cfg.Queue.Rules.Labels)
	}
	return older, nil
}

// errStop stops a replay early.
var errStop = errors.New("replay stopped")

// moves yields all moves in time order. An error is the last value that it yields.
func (p runSpec) moves(ctx context.Context) iter.Seq2[*board.Transition, error] {
	return func(yield func(*board.Transition, error) bool) {
		if p.made != nil {
			for _, t := range p.made {
				if !yield(t, nil) {
					return
				}
			}
			return
		}
		_, err := timeline.ReplayWith(ctx, p.rec, p.opts, timeline.ReplayHandlers{Object: p.changed, Move: func(t *board.Transition) error {
			if !yield(t, nil) {
				return errStop
			}
			return nil
		}})
		if err != nil && !errors.Is(err, errStop) {
			yield(nil, err)
		}
	}
}

// sideBySide plays both and calls each with the moves of the two in time order, got's first at equal
// times. Neither is played further than necessary. It stops at the first error and returns it. It calls
// all[got]'s Progress with the share done of both.
func sideBySide(ctx context.Context, all [2]runSpec, each func(by side, t *board.Transition) error) error {
	all[want].opts.Progress, all[got].opts.Progress = splitProgress(all[got].opts.Progress)
	var next [2]func() (*board.Transition, error, bool)
	var first [2]*board.Transition // the next move of each, nil after the last
	for by, p := range all {
		more, stop := iter.Pull2(p.moves(ctx))
		defer stop()
		next[by] = more
	}
	var by side
	var err error
	for by = want; by <= got; by++ {
		if first[by], err, _ = next[by](); err != nil {
			return err
		}
	}
	for first[want] != nil || first[got] != nil {
		if by = got; first[got] == nil || first[want] != nil && first[want].Time.Before(first[got].Time) {
			by = want
		}
		if err := each(by, first[by]); err != nil {
			return err
		}
		if first[by], err, _ = next[by](); err != nil {
			return err
		}
	}
	return nil
}

// splitProgress returns progress functions of two runs that report their mean to progress, which may be nil.
func splitProgress(progress func(share float64)) (one, other func(share float64)) {
	if progress == nil {
		return nil, nil
	}
	var done [2]float64
	of := func(by side) func(share float64) {
		return func(share float64) {
			done[by] = share
			progress((done[want] + done[got]) / 2)
		}
	}
	return of(want), of(got)
}
