package timeline

import (
	"cmp"
	"context"
	"time"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/sources"
)

// Replay runs rec from its first event to its last, at once and without a screen, and calls each with every move that
// opts.Filter selects, in the order of time. The moves are those of a session that is played to the end. It stops at the
// first error of each and returns that, or when ctx ends. It fails if no model can be set up.
func Replay(ctx context.Context, rec *sources.Recording, opts Options, each func(*board.Transition) error) error {
	_, err := ReplayJudged(ctx, rec, opts, each, nil)
	return err
}

// Replayed is what Replay finds beside the moves.
type Replayed struct {
	// Silences are the silent times of the scheduler.
	Silences Silences
	// Board is the final board.
	Board *board.Board
	// Unserved are the pods that no scheduler works on, at the end.
	Unserved []*board.Pod
}

// ReplayJudged is Replay. It calls judged, unless nil, with each pod that has another verdict than before, or none any more.
func ReplayJudged(ctx context.Context, rec *sources.Recording, opts Options, each func(*board.Transition) error, judged func(at time.Time, p *board.Pod) error) (*Replayed, error) {
	b := board.New()
	start, end := Span(rec)
	cfg, err := opts.SchedulerConfig(rec)
	if err != nil {
		return nil, err
	}
	e := newEngine(cfg, nil, start)
	e.Board, e.forgets = b, true
	var failed error
	e.Emit = func(c board.Change) {
		b.Replace(c.Before, c.After)
		if c.Move != nil && failed == nil && opts.Selects(c.Move) {
			failed = each(c.Move)
		}
		if judged != nil && failed == nil && judgedAnew(c) && (opts.Filter.Empty() || opts.Filter.Match(c.After.Facts(c.At))) {
			failed = judged(c.At, c.After)
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
			opts.Played(ev.Time.Sub(start), end.Sub(start))
		}
		f.Events = f.Events[1:] // nobody goes back: what was handed on is let go of
		replayed.Silences.Add(ev)
		if second.apply(e, ev); failed != nil {
			return nil, failed
		}
		e.forget(ev.Time)
	}
	replayed.Unserved = second.unserved()
	return replayed, cmp.Or(ctx.Err(), f.Err)
}
