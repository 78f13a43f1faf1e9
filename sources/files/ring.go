package files

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/lines"
	"github.com/schedq/schedq/sources/ring"
	"github.com/schedq/schedq/sources/ring/remote"
	"github.com/schedq/schedq/sources/trace"
)

// ringAt returns the place of a ring's folder. In place of lines it has the header of the trace that its segments form.
func ringAt(path string) place {
	return place{path: path, root: path, ring: true, open: func(ctx context.Context) (*lines.Reader, error) {
		header := fmt.Sprintf(`{"schedq":"trace","version":%d}`+"\n", trace.Version)
		return lines.New(ctx, string(sources.Sanitize(path)), time.Time{}, io.NopCloser(strings.NewReader(header)))
	}}
}

// fetch reads the recording that a recorder serves at an URL.
func fetch(ctx context.Context, url string, token remote.Token) (*lines.Reader, error) {
	body, err := remote.Fetch(ctx, url, token)
	if err != nil {
		return nil, err
	}
	return lines.New(ctx, string(sources.Sanitize(url)), time.Time{}, body)
}

// ringFile is a ring that is read as a trace.
type ringFile struct {
	ring    *ring.Ring
	reading ring.ReadOptions
}

// openRing opens the ring's folder at f's place and selects the part to read.
func (f *file) openRing(ctx context.Context, budget *lines.Budget, opts Options) error {
	r, err := ring.Open(ctx, f.place.path)
	if err != nil {
		return err
	}
	f.ring = &ringFile{ring: r, reading: ring.ReadOptions{Strict: opts.Strict, Budget: budget}}
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
	for ev, err := range r.events(ctx, part) {
		if err != nil {
			return nil, err
		}
		part.Add(ev.Time, ev.Fact)
	}
	part.Saw(r.end(part.Last))
	return part, nil
}

// events yields the events of the selected part. Notices go to part unless it is nil.
func (r *ringFile) events(ctx context.Context, part *sources.Part) iter.Seq2[sources.Event, error] {
	reading := r.reading
	if part != nil {
		reading.Notice = func(n string) { part.Notices = append(part.Notices, n) }
	}
	return r.ring.Events(ctx, reading)
}

// end returns up to when the ring was recorded. Its last event is at last.
func (r *ringFile) end(last time.Time) time.Time {
	for _, end := range []time.Time{r.reading.To, r.ring.WrittenUntil()} {
		if !end.IsZero() {
			return end
		}
	}
	return last
}

// isLongRing reports whether a file is a ring that is too long to keep.
func isLongRing(f *file, opts Options) bool {
	r := f.ring
	return r != nil && packs*r.ring.Bytes(r.reading.From) >= cmp.Or(opts.LongFrom, longFrom)
}
