package ring

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/schedq/schedq/sources"
)

// writeEvery is the interval of writes. If the process is killed, the events since the last one are lost.
const writeEvery = 400 * time.Millisecond

// Recorder is a stream that is written to a ring while it is read. While the ring can't be written, the stream
// continues without.
type Recorder struct {
	sources.Stream
	writing sync.Mutex // guards out and lost
	out     *Writer
	lostErr error // the ring is gone; Run returns it

	mu      sync.Mutex      // guards what follows
	queue   []sources.Event // not written yet
	gaps    sources.GapTracker
	notices []string
	written int
}

// Record returns stream with its events written to out. Run ends with an error if the ring's folder is removed. Close
// must be called after Run.
func Record(stream sources.Stream, out *Writer) *Recorder { return &Recorder{Stream: stream, out: out} }

// Run implements sources.Stream.
func (r *Recorder) Run(ctx context.Context) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	writing, stop := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(writeEvery)
		defer tick.Stop()
		for {
			select {
			case <-writing.Done():
				return
			case <-tick.C:
				if r.write(time.Now()); r.lostErr != nil {
					end()
					return
				}
			}
		}
	})
	err := r.Stream.Run(ctx)
	stop()
	wg.Wait()
	if err == nil {
		err = r.lostErr
	}
	return err
}

// Take implements sources.Stream.
func (r *Recorder) Take() ([]sources.Event, sources.Status) {
	events, status := r.Stream.Take()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = append(append(r.queue, events...), r.gaps.Update(time.Now(), status)...)
	status.Notices = slices.Concat(status.Notices, r.notices)
	return events, status
}

// write writes the queued events.
func (r *Recorder) write(now time.Time) {
	r.mu.Lock()
	events := r.queue
	r.queue = nil
	r.mu.Unlock()
	r.writing.Lock()
	defer r.writing.Unlock()
	r.out.Write(now, events)
	r.lostErr = r.out.Lost()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notices, r.written = r.out.Notices(), r.out.Written()
}

// Written returns the number of events that this recorder wrote.
func (r *Recorder) Written() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.written
}

// Close writes the queued events and completes the last segment. It returns an error unless Run returned it before.
func (r *Recorder) Close() error {
	r.writing.Lock()
	returned := r.lostErr
	r.writing.Unlock()
	r.write(time.Now())
	r.writing.Lock()
	defer r.writing.Unlock()
	if err := r.out.Close(); returned == nil {
		return err
	}
	return nil // Run returned it
}
