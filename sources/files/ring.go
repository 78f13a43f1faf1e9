package files

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/lines"
	"github.com/schedq/schedq/sources/ring"
	"github.com/schedq/schedq/sources/trace"
)

// ringAt is the place of a ring's folder. In place of lines it has the header of the trace that its segments are together.
func ringAt(path string) place {
	return place{path: path, root: path, ring: true, open: func(ctx context.Context) (*lines.Reader, error) {
		header := fmt.Sprintf(`{"schedq":"trace","version":%d}`+"\n", trace.Version)
		return lines.New(ctx, string(sources.Sanitize(path)), time.Time{}, io.NopCloser(strings.NewReader(header)))
	}}
}

// ringFile is a ring that is read as a trace.
type ringFile struct {
	ring    *ring.Ring
	reading ring.Reading
}

// openRing opens the ring's folder at f's place, and finds out what is to be read of it.
func (f *file) openRing(ctx context.Context, budget *lines.Budget, opts Options) error {
	r, err := ring.Open(ctx, f.place.path)
	if err != nil {
		return err
	}
	f.ring = &ringFile{ring: r, reading: ring.Reading{Strict: opts.Strict, Budget: budget}}
	if opts.Window.IsZero() {
		return nil
	}
	first, last, err := r.Span(ctx)
	if err != nil {
		return err
	}
	f.ring.reading.From, f.ring.reading.To, err = opts.Window.Resolve("--", first, last)
	f.hint = f.ring.reading.From
	return err
}

// read reads the ring.
func (r *ringFile) read(ctx context.Context) (*sources.Part, error) {
	part := &sources.Part{Format: trace.Format}
	reading := r.reading
	reading.Notice = func(n string) { part.Notices = append(part.Notices, n) }
	for ev, err := range r.ring.Events(ctx, reading) {
		if err != nil {
			return nil, err
		}
		part.Add(ev.Time, ev.Fact)
	}
	end := r.reading.To
	if end.IsZero() {
		end = r.ring.Now()
	}
	if end.After(part.Last) {
		part.Last = end
	}
	return part, nil
}
