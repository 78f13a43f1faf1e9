package files

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/sources/lines"
)

const (
	// spoolMemory limits how many bytes of a stream are kept in memory. The rest goes to a temporary file.
	spoolMemory = 4 << 20
	// maxSpool limits how many bytes are kept at all. A longer stream can be read only once.
	maxSpool = 1 << 30
)

var errOnce = errors.New("the stream is too long to be read twice: write it to a file first")

// spool keeps the data read from a stream, so that the stream can be read again.
type spool struct {
	mu   sync.Mutex
	ctx  context.Context // for the temporary file
	from io.Reader
	head []byte
	rest disk.File // nil if there is none
	size int64     // bytes read
	most int64     // limits how many are kept
	lost bool      // nothing is kept any more
	err  error     // the stream's end
}

func newSpool(ctx context.Context, from io.Reader, most int64) *spool {
	return &spool{ctx: ctx, from: from, most: most}
}

// open returns a reader of the stream from its beginning.
func (s *spool) open() io.ReadCloser { return io.NopCloser(&spooled{spool: s}) }

// spooled is at a place in a stream.
type spooled struct {
	*spool
	at int64
}

// Read implements io.Reader.
func (s *spooled) Read(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	head := int64(len(s.head))
	switch {
	case len(p) == 0:
	case s.lost && s.at < s.size:
		err = errOnce
	case s.at < head:
		n = copy(p, s.head[s.at:])
	case s.at < s.size:
		n, err = s.rest.ReadAt(p[:min(int64(len(p)), s.size-s.at)], s.at-head)
	case s.err != nil:
		err = s.err
	default:
		n, s.err = s.from.Read(p)
		s.keep(p[:n])
		if s.size += int64(n); n == 0 {
			err = s.err
		}
	}
	s.at += int64(n)
	return n, err
}

// keep keeps data unless it is too much or cannot be written.
func (s *spool) keep(text []byte) {
	switch {
	case s.lost:
		return
	case s.rest == nil && len(s.head)+len(text) <= spoolMemory:
		s.head = append(s.head, text...)
		return
	}
	var err error
	if s.rest == nil {
		s.rest, err = disk.Temporary(s.ctx) // it is closed when it is collected
	}
	if err == nil && s.size+int64(len(text)) <= s.most {
		if _, err = s.rest.WriteAt(text, s.size-int64(len(s.head))); err == nil {
			return
		}
	}
	if s.rest != nil {
		s.rest.Close()
	}
	s.lost, s.head, s.rest = true, nil, nil
}

// opener returns a function that opens the file at path any number of times. "-" is stdin. It and pipes are spooled.
func opener(path string, stdin io.Reader) func(context.Context) (*lines.Reader, error) {
	name, modTime := "standard input", time.Time{}
	if path != "-" {
		info, err := os.Stat(path)
		if err != nil || info.Mode().IsRegular() {
			return func(ctx context.Context) (*lines.Reader, error) { return lines.Open(ctx, path, nil) }
		}
		name, modTime = string(sources.Sanitize(path)), info.ModTime()
	}
	var again *spool
	return func(ctx context.Context) (*lines.Reader, error) {
		if again == nil && path == "-" {
			again = newSpool(ctx, stdin, maxSpool)
		} else if again == nil {
			f, err := disk.Open(ctx, path)
			if err != nil {
				return nil, err
			}
			again = newSpool(ctx, f, maxSpool)
		}
		return lines.New(ctx, name, modTime, again.open())
	}
}
