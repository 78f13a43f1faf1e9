package trace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
)

// writeEvery is the interval at which events are written to the file. If the process is killed, those since the last
// write are lost.
const writeEvery = 500 * time.Millisecond

// Recorder is a stream that is written to a trace as it is read. If the trace can no longer be written
// or has reached its full size, the stream continues without it.
type Recorder struct {
	sources.Stream
	path  sources.SafeText
	limit int64

	writing sync.Mutex // guards out and file
	out     *Writer    // nil once the trace has ended
	file    *disk.Growing

	mu      sync.Mutex      // guards the fields below
	queue   []sources.Event // taken and not written yet
	gaps    sources.GapTracker
	ended   bool
	notice  string // why it has ended
	err     error
	written int
}

// Record begins a trace of stream in the file at path, which it locks until it is closed: see disk.Create for the paths
// that it refuses, and NewPacked for the packing. The trace may exceed limit bytes a little; 0 means no limit. Call Close
// after Run has returned.
func Record(ctx context.Context, stream sources.Stream, path string, limit int64, opts disk.Options) (*Recorder, error) {
	r := &Recorder{Stream: stream, path: sources.Sanitize(path), limit: limit}
	var err error
	r.file, err = disk.Create(ctx, path, opts, func(w io.Writer) error {
		if r.out, err = NewPacked(w, path); err != nil {
			return err
		}
		return r.out.Flush()
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Run implements sources.Stream.
func (r *Recorder) Run(ctx context.Context) error {
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
				r.write()
			}
		}
	})
	err := r.Stream.Run(ctx)
	stop()
	wg.Wait()
	return err
}

// Take implements sources.Stream.
func (r *Recorder) Take() ([]sources.Event, sources.Status) {
	events, status := r.Stream.Take()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.queue = append(append(r.queue, events...), r.gaps.Update(time.Now(), status)...)
	}
	if r.notice != "" {
		status.Notices = append(slices.Clip(status.Notices), r.notice)
	}
	return events, status
}

// Err returns why the trace could not be written to its end, or nil.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Written counts the events in the trace.
func (r *Recorder) Written() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.written
}

// Close writes the remaining events and ends the trace. It returns Err.
func (r *Recorder) Close() error {
	r.write()
	r.writing.Lock()
	defer r.writing.Unlock()
	r.end(nil, "")
	return r.Err()
}

// write writes the events taken since the last call.
func (r *Recorder) write() {
	r.mu.Lock()
	events := r.queue
	r.queue = nil
	r.mu.Unlock()
	if len(events) == 0 {
		return
	}
	r.writing.Lock()
	defer r.writing.Unlock()
	for _, ev := range events {
		if r.out == nil {
			return
		}
		if err := r.out.Write(ev); err != nil {
			r.end(err, "")
			return
		}
		r.mu.Lock()
		r.written++
		r.mu.Unlock()
		if r.limit > 0 && r.file.Bytes() >= r.limit {
			r.end(nil, fmt.Sprintf("The recording %s has its full size of %d MiB: nothing more is recorded.", r.path, r.limit>>20))
			return
		}
	}
	err := r.out.Flush()
	if err == nil {
		err = r.file.Lost()
	}
	if err != nil {
		r.end(err, "")
	}
}

// end closes the file, because of err or with a notice.
func (r *Recorder) end(err error, notice string) {
	if r.out == nil {
		return
	}
	for _, closing := range []error{r.out.Close(), r.file.Close()} {
		if err == nil {
			err = closing
		}
	}
	r.out = nil
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended, r.queue, r.notice = true, nil, notice
	if err != nil {
		r.err = r.failure(err)
		r.notice = fmt.Sprintf("Nothing more is recorded: %s.", r.err)
	}
}

// failure returns err with the name of the trace.
func (r *Recorder) failure(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("%s can't be written: %w", r.path, err)
}
