package session

import (
	"context"

	"github.com/schedq/schedq/sources"
)

// Replay runs rec from its first event to its last, at once and without a screen, and hands each move to
// each, in order, as far as opts.Filter lets them be told. It is what a session does when it is played to the end. It stops at each's first error
// and returns that, or when ctx is done.
func Replay(ctx context.Context, rec *sources.Recording, opts Options, each func(*Transition) error) error {
	board := newBoard()
	start, _ := Span(rec)
	cfg, err := opts.scheduler(rec)
	if err != nil {
		return err
	}
	e := newEngine(cfg.Queue, nil, start)
	e.board = board
	var failed error
	e.emit = func(c change) {
		board.replace(c.before, c.after)
		if c.move != nil && failed == nil && opts.Tells(c.move) {
			failed = each(c.move)
		}
	}
	f := newFeed(rec, cfg)
	defer f.close()
	for i := 0; f.has(i); i++ {
		if i%1000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if e.apply(f.events[i]); failed != nil {
			return failed
		}
	}
	return f.failed
}
