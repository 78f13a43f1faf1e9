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

// Ring is a ring's folder as of Open. It may be written meanwhile.
type Ring struct {
	folder    string
	name      sources.SafeText
	all       []segment
	misplaced []segment // not part of the ring, because their names are wrong
	// writtenUntil is when the ring was opened if it is being written, otherwise zero.
	writtenUntil time.Time
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
	all, others := splitMisplaced(all)
	return &Ring{folder, sources.Sanitize(folder), all, others, now}, nil
}

// Span returns the first and the last time in the ring. It skips what can't be read.
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
	if last.Before(r.writtenUntil) {
		last = r.writtenUntil
	}
	if last.Before(first) {
		first = last // the clock was set back
	}
	return first, last, nil
}

func (r *Ring) empty() error {
	return fmt.Errorf("the ring %s contains no complete segment yet", r.name)
}

// startOf reads the keyframe of the i-th segment. It returns nil if that is incomplete.
func (r *Ring) startOf(ctx context.Context, i int) (*snapshot, time.Time, error) {
	f, err := r.file(ctx, i, nil)
	if f == nil {
		return nil, time.Time{}, err
	}
	defer f.lines.Close()
	return f.keyframe()
}

// endOf returns the last time in the i-th segment, zero if its keyframe is incomplete.
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

// file opens the i-th segment. It returns nil if that is cut off before any content. The error is fs.ErrNotExist if it was
// removed meanwhile.
func (r *Ring) file(ctx context.Context, i int, budget *lines.Budget) (*file, error) {
	const magic = 4 // bytes of the compression's magic number
	if r.all[i].bytes < magic {
		return nil, nil
	}
	f, err := openFile(ctx, r.all[i], budget)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil
	}
	return f, err
}

// WrittenUntil returns when the ring was opened if it is being written: nothing else happened until then. Zero if not.
func (r *Ring) WrittenUntil() time.Time { return r.writtenUntil }

// Bytes returns the total size of the segments that are read from that time on.
func (r *Ring) Bytes(from time.Time) (n int64) {
	for i, s := range r.all {
		if i+1 == len(r.all) || r.all[i+1].start.After(from) {
			n += s.bytes
		}
	}
	return n
}

// ReadOptions are the options of Events.
type ReadOptions struct {
	// From and To are the first and the last time to yield. Zero is the start or end of the ring.
	From, To time.Time
	// Strict makes it an error if anything can't be read, except for a cut-off segment, whose recorder was killed.
	Strict bool
	// Budget limits the memory of kept events. It may be nil.
	Budget *lines.Budget
	// Notice is called with sentences for the user. It may be nil.
	Notice func(string)
}
