package await

import (
	"context"
	"time"

	"github.com/schedq/schedq/tui/page"
)

// patience is for how long nothing is shown: what is read by then is shown at once, and no other screen flashes before.
const patience = 300 * time.Millisecond

// Progress takes which share is read, and how many bytes of how many.
type Progress = func(share float64, read, size int64)

// Reading reads a recording until ctx ends.
type Reading = func(ctx context.Context, told Progress) error

// Await has do read. Once that takes longer than a moment, show shows p until its context ends or the person stops it.
// Do has ended when Await returns. The error is do's, show's, or context.Canceled if the person stopped it.
func Await(ctx context.Context, p *Page, do Reading, show func(ctx context.Context) error) (*page.Crash, error) {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	showing, hide := context.WithCancel(ctx)
	defer hide()
	var err error
	var crash *page.Crash
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				crash = page.Recovered(r) // told once the screen is gone
			}
		}()
		err = do(reading, p.Report)
	}()
	select {
	case <-done:
		return crash, err
	case <-time.After(patience):
	}
	go func() {
		<-done
		hide()
	}()
	shown := show(showing)
	hidden := showing.Err() != nil
	stop()
	<-done
	switch {
	case crash != nil:
		return crash, err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case p.stopped:
		return nil, context.Canceled
	case hidden:
		return nil, err // it was read, or can't be
	}
	return nil, shown
}
