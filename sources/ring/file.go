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

// file reads a segment: first its keyframe, and then its events.
type file struct {
	segment
	lines *lines.Reader
	trace *trace.Reader
	ahead *sources.Event // read and not handed out
	keeps bool           // what is read is kept
}

// openFile opens a segment. Whoever keeps what is read spends budget, which is nil otherwise.
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
		if budget != nil && f.keeps {
			r.Keep(bytes)
		}
	})
	return f, nil
}

// next returns the next event, and io.EOF after the last.
func (f *file) next() (sources.Event, error) {
	if ev := f.ahead; ev != nil {
		f.ahead = nil
		return *ev, nil
	}
	return f.trace.Next()
}

// keyframe reads the segment's keyframe: what was known then, and when. It returns nil if that is not whole.
func (f *file) keyframe() (*situation, time.Time, error) {
	s := newSituation()
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

// restOfKeyframe reads what is known beside the objects, which is told of the same moment.
func (f *file) restOfKeyframe(s *situation, at time.Time) error {
	for {
		ev, err := f.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch ev.Fact.(type) {
		case *sources.Silent, *sources.Unheard, *sources.Logged, *sources.Move:
			if ev.Time.Equal(at) {
				s.add(ev)
				continue
			}
		}
		f.ahead = &ev
		return nil
	}
}

// errMisplaced is that a segment is not the one that its name says.
var errMisplaced = errors.New("the segment does not belong there: its number or its time is wrong")

func (s *segment) misplaced() error {
	return fmt.Errorf("%s: %w", sources.Sanitize(s.path), errMisplaced)
}
