package ring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/sources/lines"
)

// Ring is a ring's folder as it was when it was opened. It may be written meanwhile.
type Ring struct {
	folder string
	name   sources.SafeText
	all    []segment
	others []segment // in the folder, and no part of the ring
	// now is when it was opened, if it is being written: it tells of what did not happen up to then. Zero if it is not.
	now time.Time
}

// Open opens the ring in a folder.
func Open(ctx context.Context, folder string) (*Ring, error) {
	var now time.Time
	if disk.WrittenNow(ctx, filepath.Join(folder, lockName)) {
		now = time.Now().UTC()
	}
	all, err := segments(folder)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there is no ring in %s", sources.Sanitize(folder))
	}
	all, others := inPlace(all)
	return &Ring{folder, sources.Sanitize(folder), all, others, now}, nil
}

// Span returns the first and the last moment that the ring tells of. What can't be read is left aside.
func (r *Ring) Span(ctx context.Context) (first, last time.Time, err error) {
	for i := 0; i < len(r.all) && first.IsZero(); i++ {
		if _, first, err = r.startOf(ctx, i); err != nil && ctx.Err() != nil {
			return first, last, err
		}
	}
	if first.IsZero() {
		return first, last, r.empty()
	}
	for i := len(r.all) - 1; i >= 0 && last.IsZero(); i-- {
		if last, err = r.endOf(ctx, i); err != nil && ctx.Err() != nil {
			return first, last, err
		}
	}
	if last.Before(r.now) {
		last = r.now
	}
	if last.Before(first) {
		first = last // the clock was set back
	}
	return first, last, nil
}

func (r *Ring) empty() error {
	return fmt.Errorf("the ring %s holds nothing yet that is whole", r.name)
}

// startOf reads the keyframe of the ith segment. It returns nil if there is none that is whole.
func (r *Ring) startOf(ctx context.Context, i int) (*situation, time.Time, error) {
	f, err := r.file(ctx, i, nil)
	if f == nil {
		return nil, time.Time{}, err
	}
	defer f.lines.Close()
	return f.keyframe()
}

// endOf returns the last time of the ith segment. It is zero if its keyframe is not whole.
func (r *Ring) endOf(ctx context.Context, i int) (time.Time, error) {
	f, err := r.file(ctx, i, nil)
	if f == nil {
		return time.Time{}, err
	}
	defer f.lines.Close()
	s, last, err := f.keyframe()
	for s != nil && err == nil {
		var ev sources.Event
		if ev, err = f.next(); err == nil && ev.Time.After(last) {
			last = ev.Time
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return last, err
}

// file opens the ith segment. It returns nil if there is nothing to read of it: it is cut off at its very beginning. The error is
// fs.ErrNotExist if it was removed meanwhile.
func (r *Ring) file(ctx context.Context, i int, budget *lines.Budget) (*file, error) {
	const magic = 4 // bytes, without which nobody can tell what it is
	if r.all[i].bytes < magic {
		return nil, nil
	}
	f, err := openFile(ctx, r.all[i], budget)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil
	}
	return f, err
}

// Now is when the ring was opened, if it is being written: up to then nothing else happened. Zero if it is not.
func (r *Ring) Now() time.Time { return r.now }

// Bytes is how many bytes the segments have that are read from that moment on.
func (r *Ring) Bytes(from time.Time) (n int64) {
	for i, s := range r.all {
		if i+1 == len(r.all) || r.all[i+1].start.After(from) {
			n += s.bytes
		}
	}
	return n
}

// Reading says what is read of a ring, and how.
type Reading struct {
	// From and To are the first and the last moment that is told; zero is the ring's own.
	From, To time.Time
	// Strict makes what can't be read an error. That a segment is cut off is none: a recorder was killed.
	Strict bool
	// Budget is what is spent by who keeps the events, or nil.
	Budget *lines.Budget
	// Notice is called with sentences for the person. It may be nil.
	Notice func(string)
}
