package timeline

import (
	"cmp"
	"context"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/sources"
)

// Replay runs rec from its first event to its last, at once and without a screen, and calls each with every move that
// opts.Filter selects, in the order of time. The moves are those of a session that is played to the end. It stops at the
// first error of each and returns that, or when ctx ends. It fails if no model can be set up.
func Replay(ctx context.Context, rec *sources.Recording, opts Options, each func(*board.Transition) error) error {
	_, _, err := ReplayHearing(ctx, rec, opts, each)
	return err
}

// ReplayHearing is Replay. It also returns the silent times of the scheduler and the final board.
func ReplayHearing(ctx context.Context, rec *sources.Recording, opts Options, each func(*board.Transition) error) (Silences, *board.Board, error) {
	b := board.New()
	start, end := Span(rec)
	cfg, err := opts.SchedulerConfig(rec)
	if err != nil {
		return nil, nil, err
	}
	e := newEngine(cfg, nil, start)
	e.Board, e.forgets = b, true
	var failed error
	e.Emit = func(c board.Change) {
		b.Replace(c.Before, c.After)
		if c.Move != nil && failed == nil && opts.Selects(c.Move) {
			failed = each(c.Move)
		}
	}
	var silences Silences
	f := shadow.NewFeed(rec, cfg)
	f.EndWith(ctx)
	defer f.Close()
	second := newOpinions(cfg, f)
	if rec.Rerun {
		second = nil
	}
	defer second.close()
	for i := 0; f.HasEvent(0); i++ {
		ev := f.Events[0]
		if i%1000 == 0 {
			if ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			opts.Played(ev.Time.Sub(start), end.Sub(start))
		}
		f.Events = f.Events[1:] // nobody goes back: what was handed on is let go of
		silences.Add(ev)
		if second.apply(e, ev); failed != nil {
			return nil, nil, failed
		}
		e.forget(ev.Time)
	}
	return silences, b, cmp.Or(ctx.Err(), f.Err)
}
