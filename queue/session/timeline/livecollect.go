package timeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/schedq/schedq/sources"
)

// Draining says for how long Drain goes on, and whom it calls. Its zero value goes on until the context ends.
type Draining struct {
	// Lasts is for how long to go on once all that was in the cluster at the beginning is known. 0 is until the
	// context ends.
	Lasts time.Duration
	// Events is called with what the stream told, each time that is something.
	Events func([]sources.Event)
	// Status is called with how the stream stands, each time it was asked.
	Status func(sources.Status)
	// Check is called each time the stream was asked. Its error ends Drain, which returns it.
	Check func() error
}

// Drain runs stream and takes what it tells, without a model of it. That ctx ends is no error, unless it was
// by a deadline before all was there: then the error says why it was not.
func Drain(ctx context.Context, stream sources.Stream, d Draining) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- stream.Run(running) }()
	var schedulers Schedulers
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for {
		var err error
		over := false
		select {
		case err = <-ended:
			over = true
		case <-poll.C:
		}
		events, status := stream.Take()
		if d.Events != nil && len(events) > 0 {
			d.Events(events)
		}
		for _, ev := range events {
			schedulers.Add(ev)
		}
		if d.Status != nil {
			status.Notices = slices.Concat(status.Notices, schedulers.Notices())
			d.Status(status)
		}
		if d.Check != nil && err == nil {
			if err = d.Check(); err != nil && !over {
				stop()
				<-ended
				return err
			}
		}
		if over {
			if err == nil && status.Attached.IsZero() && errors.Is(ctx.Err(), context.DeadlineExceeded) {
				err = notAttached(stream.Name(), status)
			}
			return err
		}
		if d.Lasts > 0 && !status.Attached.IsZero() && time.Since(status.Attached) >= d.Lasts {
			stop() // and once more around, for what is left
		}
	}
}

// notAttached is the error that says why not all that was in the cluster at the beginning is known yet.
func notAttached(name sources.SafeText, s sources.Status) error {
	why := string(s.Trouble)
	if why == "" {
		in := 0
		for _, r := range s.Resources {
			if r.Settled() {
				in++
			}
		}
		why = fmt.Sprintf("%d of %d lists were in", in, len(s.Resources))
	}
	return fmt.Errorf("the time is over, and %s was not attached to: %s", name, why)
}

// Collect drains stream as d says, and returns what it told as a recording. It fails as Drain does.
func Collect(ctx context.Context, stream sources.Stream, d Draining) (*sources.Recording, error) {
	rec := &sources.Recording{Name: stream.Name(), Formats: []string{"live"}}
	d.Events = func(events []sources.Event) { rec.Events = append(rec.Events, events...) }
	tell := d.Status
	var gaps sources.GapTracker
	d.Status = func(s sources.Status) {
		rec.Notices = s.Notices
		rec.Events = append(rec.Events, gaps.Update(time.Now(), s)...)
		if tell != nil {
			tell(s)
		}
	}
	if err := Drain(ctx, stream, d); err != nil {
		return nil, err
	}
	slices.SortStableFunc(rec.Events, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	rec.End = time.Now().UTC()
	return rec, nil
}
