package report

import (
	"context"
	"errors"
	"iter"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// side is one of two runs that are compared.
type side uint8

// The truth, or what is compared with, and the other run.
const (
	want side = iota
	got
)

// played is a recording as it is played.
type played struct {
	rec  *sources.Recording
	opts timeline.Options
}

// errEnough ends a replay of which no more is wanted.
var errEnough = errors.New("no more is wanted")

// moves yields all moves, in the order of time. An error is the last that it yields.
func (p played) moves(ctx context.Context) iter.Seq2[*board.Transition, error] {
	return func(yield func(*board.Transition, error) bool) {
		err := timeline.Replay(ctx, p.rec, p.opts, func(t *board.Transition) error {
			if !yield(t, nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
		}
	}
}

// sideBySide plays both, and calls each with the moves of the two in the order of time, and at one moment with got's first: neither is
// played further than the other has to be. It stops at the first error and returns that. all's Progress is told how much of both is
// done.
func sideBySide(ctx context.Context, all [2]played, each func(by side, t *board.Transition) error) error {
	all[want].opts.Progress, all[got].opts.Progress = ofBoth(all[got].opts.Progress)
	var next [2]func() (*board.Transition, error, bool)
	var first [2]*board.Transition // of the moves that are left, or nil if none are
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

// ofBoth returns what tells progress how much of two runs is done that are played side by side. progress may be nil.
func ofBoth(progress func(share float64)) (one, other func(share float64)) {
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
