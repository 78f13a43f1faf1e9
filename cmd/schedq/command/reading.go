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

// reading reads files in the background. A long recording is shown before all of it is read.
type reading struct {
	name    string
	began   time.Time
	cancel  context.CancelFunc
	partial chan *sources.Recording // a recording that can be shown before all is read
	done    chan struct{}           // closed when the reading ends

	// The reader sets these before it closes done.
	rec     *sources.Recording
	err     error
	crashed error

	mu         sync.Mutex // for the progress
	share      float64
	read, size int64
	to         time.Time
}

// startReading starts to read files. The caller calls stop.
func startReading(cmd *cobra.Command, paths []string) (*reading, error) {
	r := &reading{name: filepath.Base(paths[0]), began: time.Now(), partial: make(chan *sources.Recording, 1), done: make(chan struct{})}
	open, err := cli.FileOpener(cmd, paths, cli.LoadCallbacks{Partial: func(rec *sources.Recording) { r.partial <- rec }, Reached: r.setReached})
	if err != nil {
		return nil, err
	}
	var ctx context.Context
	ctx, r.cancel = context.WithCancel(cmd.Context())
	go func() {
		defer close(r.done)
		defer func() {
			if what := recover(); what != nil {
				r.crashed = fmt.Errorf("%v\n%s", what, debug.Stack())
			}
		}()
		r.rec, r.err = open(disk.Counted(ctx, r.setProgress))
	}()
	return r, nil
}

// stop cancels the reading and waits for its end.
func (r *reading) stop() {
	r.cancel()
	<-r.done
}

func (r *reading) setProgress(share float64, read, size int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.share, r.read, r.size = share, read, size
}

func (r *reading) setReached(at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at.After(r.to) {
		r.to = at
	}
}

// readingInterval is how readingInterval the screen's progress is updated.
const readingInterval = 250 * time.Millisecond

// await waits until the board can be shown, and returns the recording, or the beginning of a long one. If ctx ends, so does the
// reading.
func (r *reading) await(ctx context.Context, report func(tui.Progress)) (*sources.Recording, error) {
	ticks := time.NewTicker(readingInterval)
	defer ticks.Stop()
	for {
		select {
		case rec := <-r.partial:
			return rec, nil // once all is read, the session is updated
		case <-r.done:
			return r.rec, r.failure()
		case <-ctx.Done():
			r.stop()
			return nil, ctx.Err()
		case <-ticks.C:
			r.mu.Lock()
			at := tui.Progress{Name: r.name, Share: r.share, Read: r.read, Size: r.size}
			r.mu.Unlock()
			report(at)
		}
	}
}

// failure returns the reading's error, and repeats its panic.
func (r *reading) failure() error {
	if r.crashed != nil {
		panic(r.crashed)
	}
	return r.err
}

// follow reports the progress and the result of the reading to the session until ctx ends.
func (r *reading) follow(ctx context.Context, s *session.Session) {
	if f := s.Frame(); f.Reading == nil {
		return // the session has the whole recording
	}
	ticks := time.NewTicker(readingInterval)
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
			progress := session.Reading{To: r.to, Share: r.share, Left: format.Remaining(r.share, time.Since(r.began))}
			r.mu.Unlock()
			s.ReadTo(progress)
		}
	}
}

// finish stops the reading, prints the recording's notices, and returns the command's error: err, or
// that of the reading.
func (r *reading) finish(cmd *cobra.Command, err error) error {
	r.stop()
	if err != nil {
		return err
	}
	if r.err != nil && !errors.Is(r.err, context.Canceled) {
		return r.err
	}
	if r.rec != nil {
		cli.PrintNotices(cmd, r.rec)
	}
	return nil
}
