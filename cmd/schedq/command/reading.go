package command

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/tui"
	"github.com/schedq/schedq/tui/format"
)

// reading is the reading of files, which goes on behind the board if they are a long recording.
type reading struct {
	name  string
	began time.Time
	stop  context.CancelFunc
	begun chan *sources.Recording // that can be shown before all is read
	done  chan struct{}           // closed once all is read, or can't be

	// Of these the goroutine that reads writes none once done is closed.
	rec     *sources.Recording
	err     error
	crashed error // a mistake in the program

	mu         sync.Mutex // for what is told meanwhile
	share      float64
	read, size int64
	to         time.Time
}

// beginReading begins to read files. The reading must be ended.
func beginReading(cmd *cobra.Command, paths []string) (*reading, error) {
	r := &reading{name: filepath.Base(paths[0]), began: time.Now(), begun: make(chan *sources.Recording, 1), done: make(chan struct{})}
	open, err := cli.Opener(cmd, paths, cli.Meanwhile{Begun: func(rec *sources.Recording) { r.begun <- rec }, Reached: r.reached})
	if err != nil {
		return nil, err
	}
	var ctx context.Context
	ctx, r.stop = context.WithCancel(cmd.Context())
	go func() {
		defer close(r.done)
		defer func() {
			if what := recover(); what != nil {
				r.crashed = fmt.Errorf("%v\n%s", what, debug.Stack())
			}
		}()
		r.rec, r.err = open(disk.Counted(ctx, r.report))
	}()
	return r, nil
}

// end ends the reading, if it goes on.
func (r *reading) end() {
	r.stop()
	<-r.done
}

// report takes how much is read.
func (r *reading) report(share float64, read, size int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.share, r.read, r.size = share, read, size
}

// reached takes up to which moment it is read.
func (r *reading) reached(at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at.After(r.to) {
		r.to = at
	}
}

// often is how often a person is told how far it is.
const often = 250 * time.Millisecond

// await waits until the board can be shown, and returns the recording, or the beginning of a long one. If ctx ends, so does the
// reading.
func (r *reading) await(ctx context.Context, report func(tui.Progress)) (*sources.Recording, error) {
	ticks := time.NewTicker(often)
	defer ticks.Stop()
	for {
		select {
		case rec := <-r.begun:
			return rec, nil // once all is read, the session is updated
		case <-r.done:
			return r.rec, r.failure()
		case <-ctx.Done():
			r.end()
			return nil, ctx.Err()
		case <-ticks.C:
			r.mu.Lock()
			at := tui.Progress{Name: r.name, Share: r.share, Read: r.read, Size: r.size}
			r.mu.Unlock()
			report(at)
		}
	}
}

// failure is why it can't be read. A crash goes on here.
func (r *reading) failure() error {
	if r.crashed != nil {
		panic(r.crashed)
	}
	return r.err
}

// tell tells the session how far it is, and what came of it, until ctx ends.
func (r *reading) tell(ctx context.Context, s *session.Session) {
	if f := s.Frame(); f.Reading == nil {
		return // all was read before it was shown
	}
	ticks := time.NewTicker(often)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.done:
			if err := r.failure(); err != nil {
				s.StopReading(err)
			} else {
				s.Complete(ctx, r.rec)
			}
			return
		case <-ticks.C:
			r.mu.Lock()
			far := session.Reading{To: r.to, Share: r.share, Left: format.Remaining(r.share, time.Since(r.began))}
			r.mu.Unlock()
			s.ReadTo(far)
		}
	}
}

// said ends the reading, tells the person what there is to know of what was read, and returns the command's error: err, or why it could
// not be read to its end.
func (r *reading) said(cmd *cobra.Command, err error) error {
	r.end()
	if err != nil {
		return err
	}
	if r.err != nil && !errors.Is(r.err, context.Canceled) {
		return r.err
	}
	if r.rec != nil {
		cli.Tell(cmd, r.rec)
	}
	return nil
}
