package ring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/lines"
	"github.com/schedq/schedq/sources/trace"
)

// file reads a segment: its keyframe, and then its events.
type file struct {
	segment
	lines    *lines.Reader
	trace    *trace.Reader
	buffered *sources.Event // read, and not returned yet
	retains  bool           // events are kept, and count against the budget
}

// openFile opens a segment. Kept events count against budget, which may be nil.
func openFile(ctx context.Context, s segment, budget *lines.Budget) (*file, error) {
	r, err := lines.Open(ctx, s.path, nil)
	if err != nil {
		return nil, err
	}
	f := &file{segment: s, lines: r}
	if budget != nil {
		r.Spend(budget)
	}
	f.trace = trace.NewReader(r, func(bytes int) {
		if budget != nil && f.retains {
			r.Keep(bytes)
		}
	})
	return f, nil
}

// next returns the next event, and io.EOF after the last.
func (f *file) next() (sources.Event, error) {
	if ev := f.buffered; ev != nil {
		f.buffered = nil
		return *ev, nil
	}
	return f.trace.Next()
}

// keyframe reads the segment's keyframe and its time. It returns nil if the keyframe is incomplete.
func (f *file) keyframe() (*snapshot, time.Time, error) {
	s := newSnapshot()
	for s.attached == nil {
		ev, err := f.next()
		if errors.Is(err, io.EOF) {
			return nil, time.Time{}, nil
		}
		if err != nil {
			return nil, time.Time{}, err
		}
		if s.add(ev); s.attached != nil {
			if ev.Time.Before(f.start.Truncate(time.Second)) {
				return nil, time.Time{}, f.misplaced()
			}
			return s, ev.Time, f.restOfKeyframe(s, ev.Time)
		}
	}
	return s, time.Time{}, nil
}

// restOfKeyframe reads the details after the record "attached", which have the same time.
func (f *file) restOfKeyframe(s *snapshot, at time.Time) error {
	for {
		ev, err := f.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch ev.Fact.(type) {
		case *sources.Silent, *sources.WatchGap, *sources.Logged, *sources.Move:
			if ev.Time.Equal(at) {
				s.add(ev)
				continue
			}
		}
		f.buffered = &ev
		return nil
	}
}

// errMisplaced is the error about a segment with a wrong name.
var errMisplaced = errors.New("the segment does not belong there: its number or its time is wrong")

func (s *segment) misplaced() error {
	return fmt.Errorf("%s: %w", sources.Sanitize(s.path), errMisplaced)
}
