package timeline

import (
	"cmp"
	"context"
	"time"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/sources"
)

// Replay runs rec from its first event to its last and calls each with every move that opts.Filter selects, in time order.
// The moves are the same as in a session that plays rec to its end. Replay returns the first error of each, the error of
// reading rec, why there is no model, or ctx.Err() once ctx ends.
func Replay(ctx context.Context, rec *sources.Recording, opts Options, each func(*board.Transition) error) error {
	_, err := ReplayWith(ctx, rec, opts, ReplayHandlers{Move: each})
	return err
}

// ReplayHandlers are the functions that ReplayWith calls. Any but Move may be nil. The first error ends the replay.
type ReplayHandlers struct {
	// Move is called with each move that the filter selects.
	Move func(*board.Transition) error
	// Verdict is called with each pod that the filter selects whose verdict changed. It may have none any more.
	Verdict func(at time.Time, p *board.Pod) error
	// Object is called with each change of an object.
	Object func(sources.Event)
}

// Replayed is the result of a replay beside the moves.
type Replayed struct {
	// Silences are the times without scheduler activity.
	Silences Silences
	// Board is the final board.
	Board *board.Board
	// Unserved are the pods that no scheduler works on, at the end.
	Unserved []*board.Pod
}

// ReplayWith is Replay with more handlers.
func ReplayWith(ctx context.Context, rec *sources.Recording, opts Options, h ReplayHandlers) (*Replayed, error) {
	b := board.New()
	start, end := Span(rec)
	cfg, err := opts.SchedulerConfig(rec)
	if err != nil {
		return nil, err
	}
	e := newEngine(cfg, nil, start)
	e.Board, e.forwardOnly = b, true
	var failed error
	e.Emit = func(c board.Change) {
		b.Replace(c.Before, c.After)
		if c.Move != nil && failed == nil && opts.Selects(c.Move) {
			failed = h.Move(c.Move)
		}
		if h.Verdict != nil && failed == nil && judgedAnew(c) && (opts.Filter.Empty() || opts.Filter.Match(c.After.Facts(c.At))) {
			failed = h.Verdict(c.At, c.After)
		}
	}
	replayed := &Replayed{Board: b}
	f := shadow.NewFeed(rec, cfg)
	f.EndWith(ctx)
	defer f.Close()
	var second *opinions
	if !rec.Rerun {
		second = newOpinions(cfg, f)
		defer second.close()
	}
	for i := 0; f.HasEvent(0); i++ {
		ev := f.Events[0]
		if i%1000 == 0 {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			opts.ReportProgress(ev.Time.Sub(start), end.Sub(start))
		}
		f.Events = f.Events[1:] // frees the event
		replayed.Silences.Add(ev)
		if _, is := ev.Fact.(*sources.ObjectChange); is && h.Object != nil {
			h.Object(ev)
		}
		if second.apply(e, ev); failed != nil {
			return nil, failed
		}
		e.dropLeft(ev.Time)
	}
	replayed.Unserved = second.unserved()
	return replayed, cmp.Or(ctx.Err(), f.Err)
}
