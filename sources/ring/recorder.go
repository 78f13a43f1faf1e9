package ring

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/schedq/schedq/sources"
)

// writeEvery is how often what was seen goes to the file. The end of the process at any moment loses what came since.
const writeEvery = 400 * time.Millisecond

// Recorder is a stream that is written to a ring as it is read. While the ring can't be written, the stream goes on without.
type Recorder struct {
	sources.Stream
	writing sync.Mutex // guards out and lost
	out     *Writer
	lost    error // what Run returns because the ring is gone

	mu      sync.Mutex      // guards what follows
	queue   []sources.Event // taken and not written yet
	hearing sources.Hearing
	notices []string
	written int
}

// Record returns stream, which is written to out. Run ends with an error if the ring's folder is removed. Close must follow, after Run has returned.
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
				if r.write(time.Now()); r.lost != nil {
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
		err = r.lost
	}
	return err
}

// Take implements sources.Stream.
func (r *Recorder) Take() ([]sources.Event, sources.Status) {
	events, status := r.Stream.Take()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = append(append(r.queue, events...), r.hearing.Tell(time.Now(), status)...)
	status.Notices = slices.Concat(status.Notices, r.notices)
	return events, status
}

// write writes what was taken since the last time.
func (r *Recorder) write(now time.Time) {
	r.mu.Lock()
	events := r.queue
	r.queue = nil
	r.mu.Unlock()
	r.writing.Lock()
	defer r.writing.Unlock()
	r.out.Write(now, events)
	r.lost = r.out.Lost()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notices, r.written = r.out.Notices(), r.out.Written()
}

// Written counts the events in the ring that were written by this recorder.
func (r *Recorder) Written() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.written
}

// Close writes what is left and ends the ring's last segment. It returns the error that prevented that, unless Run returned it
// before.
func (r *Recorder) Close() error {
	r.writing.Lock()
	said := r.lost
	r.writing.Unlock()
	r.write(time.Now())
	r.writing.Lock()
	defer r.writing.Unlock()
	if err := r.out.Close(); said == nil {
		return err
	}
	return nil // Run returned it
}
