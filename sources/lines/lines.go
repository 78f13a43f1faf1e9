// Package lines reads files of lines that nobody vouches for: plain, gzip or zstd (told by their first
// bytes, not by their name), of any size, perhaps cut off, perhaps hostile. Memory stays bounded, and
// an error is one sentence that names the file, the line and the cause.
package lines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
	"unicode/utf8"

	"github.com/schedq/schedq/sources"
)

const (
	// MaxLine is the longest line in bytes. A kube-apiserver audit line holds a request and a response
	// of at most 3 MiB each.
	MaxLine = 16 << 20
	// maxTotal is how many decompressed bytes a file may have: against compressed bombs.
	maxTotal = 64 << 30
)

// Reader yields the lines of one file. It is not safe for concurrent use.
type Reader struct {
	name    string
	modTime time.Time
	pump    *pump

	cur   []byte // what is unread of the current block
	spill []byte // the beginning of a line that did not end in its block
	line  int
	cut   bool
	err   error // why no more blocks come: io.EOF or a failure
}

// Open opens the file at path; "-" is stdin. The context ends a read that is under way.
func Open(ctx context.Context, path string, stdin io.Reader) (*Reader, error) {
	if path == "-" {
		return New(ctx, "standard input", time.Time{}, io.NopCloser(stdin))
	}
	name := string(sources.Sanitize(path))
	f, err := os.Open(path)
	if err != nil {
		var pathErr *fs.PathError
		if errors.As(err, &pathErr) {
			err = pathErr.Err // the sentence names the file already
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if info.IsDir() {
		f.Close()
		return nil, fmt.Errorf("%s is a directory: name the files in it", name)
	}
	return New(ctx, name, info.ModTime(), f)
}

// New returns a Reader of r, which it closes at the end. The name is for errors and must be safe to
// show. It fails if r is empty.
func New(ctx context.Context, name string, modTime time.Time, r io.ReadCloser) (*Reader, error) {
	p, headerTime, err := startPump(ctx, r)
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	// A header without a time has 0 there, and some writers' nonsense is in the future.
	if headerTime.Unix() > 0 && (modTime.IsZero() || headerTime.Before(modTime)) {
		modTime = headerTime
	}
	lr := &Reader{name: name, modTime: modTime, pump: p}
	if !lr.refill() {
		defer lr.Close()
		if lr.err == io.EOF {
			return nil, fmt.Errorf("%s is empty", name)
		}
		return nil, lr.failure()
	}
	return lr, nil
}

// Name is the file's name, safe to show.
func (r *Reader) Name() string { return r.name }

// ModTime is when the content was last changed: from the gzip header if there, else from the file
// system, whichever is earlier. Zero if not known.
func (r *Reader) ModTime() time.Time { return r.modTime }

// Line is the number of the line that Next returned last, from 1.
func (r *Reader) Line() int { return r.line }

// Cut reports whether the line that Next returned last has no line end. Only a file's last line can.
func (r *Reader) Cut() bool { return r.cut }

// Head returns the first bytes of the content, at most one block. It must be called before Next and is
// valid until then.
func (r *Reader) Head() []byte { return r.cur }

// Close stops reading and closes the file. It may be called more than once.
func (r *Reader) Close() { r.pump.stop() }

// Errorf returns an error about the line that Next returned last.
func (r *Reader) Errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", r.name, r.line, fmt.Errorf(format, args...))
}

// CutNotice is the sentence about a last line that is cut off, after events up to end.
func (r *Reader) CutNotice(end time.Time) string {
	s := fmt.Sprintf("%s: line %d is cut off", r.name, r.line)
	if !end.IsZero() {
		s += "; the recording ends at " + end.UTC().Format("2006-01-02 15:04:05.000 UTC")
	}
	return s
}

// Next returns the next line without its end; it is valid until the following call. After the last
// line the error is io.EOF. A line that is too long, binary or not UTF-8 is an error, and so is a
// compressed file that ends half-way, after all whole lines before.
func (r *Reader) Next() ([]byte, error) {
	r.spill = r.spill[:0]
	for {
		if i := bytes.IndexByte(r.cur, '\n'); i >= 0 {
			line := r.cur[:i]
			r.cur = r.cur[i+1:]
			if len(r.spill) > 0 {
				r.spill = append(r.spill, line...)
				line = r.spill
			}
			return r.check(line)
		}
		r.spill = append(r.spill, r.cur...)
		r.cur = nil
		if len(r.spill) > MaxLine {
			r.line++
			return nil, r.Errorf("the line is longer than %d MiB", MaxLine>>20)
		}
		if !r.refill() {
			if r.err != io.EOF || len(r.spill) == 0 {
				return nil, r.failure()
			}
			r.cut = true
			return r.check(r.spill)
		}
	}
}

func (r *Reader) check(line []byte) ([]byte, error) {
	r.line++
	if len(line) > MaxLine {
		return nil, r.Errorf("the line is longer than %d MiB", MaxLine>>20)
	}
	if r.line == 1 {
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	// A cut-off last line may end inside a character.
	if bytes.IndexByte(line, 0) >= 0 || !utf8.Valid(line) && !(r.cut && validBut(line)) {
		return nil, r.Errorf("the line is binary, not text")
	}
	return line, nil
}

// validBut reports whether line is UTF-8 but for an incomplete character at its end.
func validBut(line []byte) bool {
	for n := 1; n < utf8.UTFMax && n <= len(line); n++ {
		if tail := line[len(line)-n:]; utf8.RuneStart(tail[0]) {
			return !utf8.FullRune(tail) && utf8.Valid(line[:len(line)-n])
		}
	}
	return false
}

// refill takes the next block. It returns false, with r.err set, when there is none.
func (r *Reader) refill() bool {
	if r.err != nil {
		return false
	}
	block, err := r.pump.next()
	if err != nil {
		r.err = err
		return false
	}
	r.cur = block
	return true
}

// failure says why there is no next line.
func (r *Reader) failure() error {
	switch {
	case r.err == io.EOF:
		return io.EOF
	case errors.Is(r.err, context.Canceled), errors.Is(r.err, context.DeadlineExceeded):
		return fmt.Errorf("%s: reading was stopped: %w", r.name, r.err)
	case errors.Is(r.err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: the %s data is cut off after line %d: %w", r.name, r.pump.packing, r.line, r.err)
	case r.pump.packing != "":
		return fmt.Errorf("%s: the %s data is damaged after line %d: %w", r.name, r.pump.packing, r.line, r.err)
	}
	return fmt.Errorf("%s: cannot be read after line %d: %w", r.name, r.line, r.err)
}
