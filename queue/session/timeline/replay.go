package timeline

import (
	"cmp"
	"context"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/sources"
)

// Replay runs rec from its first event to its last and calls each with every move that opts.Filter selects, in time order.
// The moves are the same as in a session that plays rec to its end. Replay returns the first error of each, the error of
// reading rec, why there is no model, or ctx.Err() once ctx ends.
func Replay(ctx context.Context, rec *sources.Recording, opts Options, each func(*board.Transition) error) error {
	_, _, err := ReplayBoard(ctx, rec, opts, each, nil)
	return err
}

// ReplayBoard is Replay. It also returns the times without scheduler activity and the final board, and calls changed,
// unless it is nil, with each change of an object.
func ReplayBoard(ctx context.Context, rec *sources.Recording, opts Options, each func(*board.Transition) error, changed func(sources.Event)) (Silences, *board.Board, error) {
	b := board.New()
	start, end := Span(rec)
	cfg, err := opts.SchedulerConfig(rec)
	if err != nil {
		return nil, nil, err
	}
	e := newEngine(cfg, nil, start)
	e.Board, e.forwardOnly = b, true
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
	for i := 0; f.HasEvent(0); i++ {
		ev := f.Events[0]
		if i%1000 == 0 {
			if ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			opts.ReportProgress(ev.Time.Sub(start), end.Sub(start))
		}
		f.Events = f.Events[1:] // frees the event
		silences.Add(ev)
		if _, is := ev.Fact.(*sources.ObjectChange); is && changed != nil {
			changed(ev)
		}
		if e.apply(ev); failed != nil {
			return nil, nil, failed
		}
		e.dropLeft(ev.Time)
	}
	return silences, b, cmp.Or(ctx.Err(), f.Err)
}
