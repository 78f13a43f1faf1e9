package timeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/sources"
)

// pollInterval is how often Follow and Drain take new events from a stream.
const pollInterval = 50 * time.Millisecond

// Handlers are the functions that Follow calls. Any may be nil.
type Handlers struct {
	// Move is called for each move, in order. Its error ends Follow.
	Move func(*board.Transition) error
	// Verdict is called with each pod whose verdict changed. It may have none any more. A bound pod may have one.
	Verdict func(at time.Time, p *board.Pod)
	// Unserved is called every few seconds with the pods that no scheduler works on. They are in no tier of the board.
	Unserved func([]*board.Pod)
	// Status is called with the stream's status after each poll.
	Status func(sources.Status)
	// Idle is called after each poll, after Move for all moves up to now. Its error ends Follow.
	Idle func(board *board.Board, now time.Time) error
}

// Follow runs stream and its model in real time until ctx ends, which is no error. Before it returns, it handles all that
// the stream delivered. It returns the stream's error, the first error of a handler, or why there is no model.
func Follow(ctx context.Context, stream sources.Stream, opts Options, h Handlers) error {
	cfg, err := opts.SchedulerConfig(&sources.Recording{})
	if err != nil {
		return err
	}
	e := newEngine(cfg, opts.Plugins, time.Now())
	e.Board, e.forwardOnly = board.New(), true
	var failed error
	e.Emit = func(c board.Change) {
		e.Board.Replace(c.Before, c.After)
		if c.Move != nil && failed == nil && h.Move != nil {
			failed = h.Move(c.Move)
		}
		if h.Verdict != nil && judgedAnew(c) {
			h.Verdict(c.At, c.After)
		}
	}
	f := shadow.NewLiveFeed(cfg)
	var schedulers Schedulers
	defer f.Close()
	second := newOpinions(cfg, f)
	defer second.close()
	var unserved time.Time // when h.Unserved was last called

	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- stream.Run(running) }()
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for last := false; ; {
		now := time.Now()
		events, status := stream.Take()
		f.Arrive(events, now, status)
		if last {
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
		if h.Unserved != nil && (last || now.Sub(unserved) >= judgeEvery) {
			unserved = now
			h.Unserved(second.unserved())
		}
		e.dropLeft(now)
		if f.Err != nil {
			return f.Err
		}
		if h.Status != nil {
			status.Notices = slices.Concat(status.Notices, schedulers.Notices())
			h.Status(status)
		}
		if h.Idle != nil {
			if err := h.Idle(e.Board, f.End); err != nil {
				return err
			}
		}
		if last {
			return nil
		}
		select {
		case <-ctx.Done():
			last = true
			<-ended
		case err := <-ended:
			if ctx.Err() == nil {
				return err
			}
			last = true
		case <-poll.C:
		}
	}
}

// DrainOptions configure Drain. Any function may be nil.
type DrainOptions struct {
	// Duration is how long to continue after all initial lists of the cluster's objects have arrived. 0 means until the
	// context ends.
	Duration time.Duration
	// Events is called with new events.
	Events func([]sources.Event)
	// Status is called with the stream's status after each poll.
	Status func(sources.Status)
	// Check is called after each poll. Its error ends Drain.
	Check func() error
}

// Drain runs stream and receives its events, without a model. It returns the stream's error or that of opts.Check. That ctx
// ends is an error only if its deadline passes before all initial lists have arrived.
func Drain(ctx context.Context, stream sources.Stream, opts DrainOptions) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- stream.Run(running) }()
	var schedulers Schedulers
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for {
		var err error
		last := false
		select {
		case err = <-ended:
			last = true
		case <-poll.C:
		}
		events, status := stream.Take()
		if opts.Events != nil && len(events) > 0 {
			opts.Events(events)
		}
		for _, ev := range events {
			schedulers.Add(ev)
		}
		if opts.Status != nil {
			status.Notices = slices.Concat(status.Notices, schedulers.Notices())
			opts.Status(status)
		}
		if opts.Check != nil && err == nil {
			if err = opts.Check(); err != nil && !last {
				stop()
				<-ended
				return err
			}
		}
		if last {
			if err == nil && status.Attached.IsZero() && errors.Is(ctx.Err(), context.DeadlineExceeded) {
				err = notAttached(stream.Name(), status)
			}
			return err
		}
		if opts.Duration > 0 && !status.Attached.IsZero() && time.Since(status.Attached) >= opts.Duration {
			stop() // the next iterations receive the rest
		}
	}
}

// notAttached returns the error that not all initial lists have arrived, and why.
func notAttached(name sources.SafeText, s sources.Status) error {
	why := string(s.Trouble)
	if why == "" {
		arrived := 0
		for _, r := range s.Resources {
			if r.Settled() {
				arrived++
			}
		}
		why = fmt.Sprintf("%d of %d lists were in", arrived, len(s.Resources))
	}
	return fmt.Errorf("the time is over, and %s was not attached to: %s", name, why)
}

// Collect drains stream and returns its events as a recording. It replaces opts.Events. Its errors are those of Drain.
func Collect(ctx context.Context, stream sources.Stream, opts DrainOptions) (*sources.Recording, error) {
	rec := &sources.Recording{Name: stream.Name(), Formats: []string{"live"}}
	opts.Events = func(events []sources.Event) { rec.Events = append(rec.Events, events...) }
	onStatus := opts.Status
	var hearing sources.GapTracker
	opts.Status = func(s sources.Status) {
		rec.Notices = s.Notices
		rec.Events = append(rec.Events, hearing.Update(time.Now(), s)...)
		if onStatus != nil {
			onStatus(s)
		}
	}
	if err := Drain(ctx, stream, opts); err != nil {
		return nil, err
	}
	slices.SortStableFunc(rec.Events, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	rec.End = time.Now().UTC()
	return rec, nil
}
