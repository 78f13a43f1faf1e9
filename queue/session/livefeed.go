package session

import (
	"context"
	"slices"
	"time"

	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/sources"
)

// Lag is how far a live session is behind the clock. What comes within it corrects the model before it is
// shown: the scheduler's own Events arrive later than they are made, by 10 to 30 ms mostly, and the shadow
// looks ahead. On audit logs a shadow that sees only so far ahead does as well as one that sees all.
const Lag = 500 * time.Millisecond

// newLiveFeed returns a feed without an end. With told, the source tells the scheduler's moves itself.
func newLiveFeed(cfg *cycle.Config, told bool) *feed {
	f := &feed{live: true}
	if told {
		return f
	}
	f.shadow, f.failed = newShadow(cfg, time.Time{}, true, true, func(ev sources.Event) { f.events = append(f.events, ev) })
	return f
}

// arrive takes in what a stream has told by now. What was told too late to be where it belongs has its
// place now, but for an attempt, of which the model has made up its mind.
func (f *feed) arrive(events []sources.Event, now time.Time) {
	for _, ev := range events {
		if ev.Time.Before(f.end) {
			if attempt, ok := ev.Fact.(*sources.FailedAttempt); ok {
				if f.shadow != nil && attempt.Version != "" {
					f.shadow.record(attempt.UID, attempt.Recorded)
				}
				continue
			}
			ev.Time = f.end
		}
		f.source = append(f.source, ev)
	}
	if len(events) > 0 {
		slices.SortStableFunc(f.source, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	}
	f.goOn(now.Add(-Lag))
	if f.shadow != nil {
		f.shadow.knows = now
	}
}

// goOn lets what comes be made up to end.
func (f *feed) goOn(end time.Time) {
	if end.After(f.end) {
		f.end = end
	}
}

// moreLive makes more events of what is past, and lets the model go on up to there.
func (f *feed) moreLive() bool {
	if len(f.source) > 0 && !f.source[0].Time.After(f.end) {
		if f.shadow == nil {
			f.events = append(f.events, f.source[0])
		} else if err := f.shadow.apply(f.source); err != nil {
			f.failed = err
		}
		f.source = f.source[1:]
		return true
	}
	if f.shadow == nil || !f.advanced.Before(f.end) {
		return false
	}
	f.shadow.ahead = f.source
	f.shadow.advance(f.end)
	f.advanced = f.end
	return true
}

// pollEvery is how often a stream is asked for what is new.
const pollEvery = 50 * time.Millisecond

// keepLeft is for how long Follow remembers a pod that has left the queue.
const keepLeft = time.Minute

// Watching is who is told what Follow sees. Any may be nil.
type Watching struct {
	// Move is called for each move, in order. Its error ends Follow.
	Move func(*Transition) error
	// Status is called with how the stream stands, each time it was asked.
	Status func(sources.Status)
	// Idle is called after each time the stream was asked, when all moves up to then were told.
	Idle func(board *Board, now time.Time) error
}

// Follow runs stream and the model of it in real time until ctx ends, which is no error. Then all that was
// heard has been told.
func Follow(ctx context.Context, stream sources.Stream, opts Options, w Watching) error {
	cfg, err := opts.scheduler(&sources.Recording{})
	if err != nil {
		return err
	}
	e := newEngine(cfg.Queue, opts.Plugins, time.Now())
	e.board = newBoard()
	var failed error
	e.emit = func(c change) {
		e.board.replace(c.before, c.after)
		if c.move != nil && failed == nil && w.Move != nil {
			failed = w.Move(c.move)
		}
	}
	f := newLiveFeed(cfg, opts.Told)
	defer f.close()

	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- stream.Run(running) }()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	swept := time.Now()
	for over := false; ; {
		now := time.Now()
		events, status := stream.Take()
		f.arrive(events, now)
		if over {
			f.goOn(now)
		}
		for i := 0; f.has(i); i++ {
			if e.apply(f.events[i]); failed != nil {
				return failed
			}
		}
		f.events = nil
		if now.Sub(swept) > keepLeft {
			e.board.dropLeft(now.Add(-keepLeft))
			swept = now
		}
		if f.failed != nil {
			return f.failed
		}
		if w.Status != nil {
			w.Status(status)
		}
		if w.Idle != nil {
			if err := w.Idle(e.board, f.end); err != nil {
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
