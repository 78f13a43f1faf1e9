package timeline

import (
	"context"
	"slices"
	"time"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/sources"
)

// Watching has the functions that Follow calls with what it sees. Any may be nil.
type Watching struct {
	// Move is called for each move, in order. Its error ends Follow.
	Move func(*board.Transition) error
	// Verdict is called with each pod that has another verdict than before, or none any more. A bound pod may have one.
	Verdict func(at time.Time, p *board.Pod)
	// Unserved is called every few seconds with the pods that no scheduler works on. No tier of the board has them.
	Unserved func([]*board.Pod)
	// Status is called with how the stream stands, each time it was asked.
	Status func(sources.Status)
	// Idle is called after each time the stream was asked, when all moves up to then were told.
	Idle func(board *board.Board, now time.Time) error
}

// Follow runs stream and the model of it in real time until ctx ends, which is no error. By then all that the stream
// told has been told to w. It fails if no model can be set up, if the stream fails, and with the first error of w's
// functions.
func Follow(ctx context.Context, stream sources.Stream, opts Options, w Watching) error {
	cfg, err := opts.SchedulerConfig(&sources.Recording{})
	if err != nil {
		return err
	}
	e := newEngine(cfg, opts.Plugins, time.Now())
	e.Board, e.forgets = board.New(), true
	var failed error
	e.Emit = func(c board.Change) {
		e.Board.Replace(c.Before, c.After)
		if c.Move != nil && failed == nil && w.Move != nil {
			failed = w.Move(c.Move)
		}
		if w.Verdict != nil && judgedAnew(c) {
			w.Verdict(c.At, c.After)
		}
	}
	f := shadow.NewLiveFeed(cfg)
	var schedulers Schedulers
	defer f.Close()
	second := newOpinions(cfg, f)
	defer second.close()
	var unserved time.Time // when they were told last

	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- stream.Run(running) }()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for over := false; ; {
		now := time.Now()
		events, status := stream.Take()
		f.Arrive(events, now, status)
		if over {
			f.ExtendTo(now)
		}
		for i := 0; f.HasEvent(i); i++ {
			schedulers.Add(f.Events[i])
			if second.apply(e, f.Events[i]); failed != nil {
				return failed
			}
		}
		f.Events = nil
		second.pass(f.End)
		for _, ev := range second.judge(e, f.End) {
			e.apply(ev)
		}
		if w.Unserved != nil && (over || now.Sub(unserved) >= judgeEvery) {
			unserved = now
			w.Unserved(second.unserved())
		}
		e.forget(now)
		if f.Err != nil {
			return f.Err
		}
		if w.Status != nil {
			status.Notices = slices.Concat(status.Notices, schedulers.Notices())
			w.Status(status)
		}
		if w.Idle != nil {
			if err := w.Idle(e.Board, f.End); err != nil {
				return err
			}
		}
		if over {
			return nil
		}
		select {
		case <-ctx.Done():
			over = true
			<-ended
		case err := <-ended:
			if ctx.Err() == nil {
				return err
			}
			over = true
		case <-poll.C:
		}
	}
}

// pollEvery is how often a stream is asked for what is new.
const pollEvery = 50 * time.Millisecond
