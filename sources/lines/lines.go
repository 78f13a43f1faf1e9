// Package lines reads untrusted files of lines: plain, gzip or zstd (detected from their first
// bytes, not their names), of any size, and possibly cut off, damaged or hostile. Memory is
// bounded, and an error is one sentence that names the file, the line and the cause.
//
// A Reader skips damaged parts and counts them for Notices. For a strict Reader they are errors.
package lines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
)

const (
	// MaxLine is the longest line in bytes. A kube-apiserver audit line holds a request and a response
	// of at most 3 MiB each.
	MaxLine = 16 << 20
	// maxTotal limits the decompressed bytes of a file, against decompression bombs.
	maxTotal = 64 << 30
)

var (
	byteOrderMark  = []byte("\xef\xbb\xbf")
	errLong        = fmt.Errorf("the line is longer than %d MiB", MaxLine>>20)
	errTooMuchText = fmt.Errorf("more than %d GiB of text", maxTotal>>30)
)

// Reader reads the lines of one file. It is not safe for concurrent use.
type Reader struct {
	name    string
	modTime time.Time
	pump    *pump

	strict bool
	cur    []byte // the unread part of the current block
	odd    bool   // the current block contains a NUL or invalid UTF-8
	spill  []byte // the beginning of a line that did not end in its block
	line   int
	inside bool // the unread part begins within that line, after NULs
	cut    bool
	err    error // why there are no more blocks: io.EOF or a failure
	losses losses

	filter    *filter    // of the lines that Next returns, or nil for all
	order     *timeOrder // of their times, or nil
	seen      *Seen      // the lines passed to Repeats
	budget    *Budget
	kept      int64      // bytes, of this file
	textBytes int64      // of the blocks read
	limitErr  error      // a limit for kept content is exceeded
	within    *Beginning // limits the text, or nil
}

// Open opens the file at path; "-" is stdin. Cancelling the context ends a running read, and the wait for the first
// writer of a pipe.
func Open(ctx context.Context, path string, stdin io.Reader) (*Reader, error) {
	if path == "-" {
		return New(ctx, "standard input", time.Time{}, io.NopCloser(stdin))
	}
	f, err := disk.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	name := string(sources.Sanitize(path))
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	size := int64(-1)
	if info.Mode().IsRegular() {
		size = info.Size()
	}
	return NewSized(ctx, name, info.ModTime(), f, size)
}

// New returns a Reader of r, which it closes at the end. The name is for errors and must be safe to
// show. It fails if r is empty.
func New(ctx context.Context, name string, modTime time.Time, r io.ReadCloser) (*Reader, error) {
	return NewSized(ctx, name, modTime, r, -1)
}

// NewSized is New of a reader with about that many bytes. A small one takes little memory.
func NewSized(ctx context.Context, name string, modTime time.Time, r io.ReadCloser, size int64) (*Reader, error) {
	p, headerTime, err := startPump(ctx, r, size)
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	// A header without a time has 0, and some writers write times in the future.
	if headerTime.Unix() > 0 && (modTime.IsZero() || headerTime.Before(modTime)) {
		modTime = headerTime
	}
	lr := &Reader{name: name, modTime: modTime, pump: p, losses: losses{budget: salvageBudget}, budget: NewBudget(0), seen: &Seen{}}
	if err := lr.begin(); err != nil {
		lr.Close()
		return nil, err
	}
	return lr, nil
}

// begin reads the first block with more than NULs. A log that was emptied while its writer had it open
// begins with as many NULs as it had bytes before.
func (r *Reader) begin() error {
	for r.refill() {
		if r.cur[0] == 0 {
			r.skipNULs()
			r.inside, r.line = true, 1
		}
		r.cur = bytes.TrimPrefix(r.cur, byteOrderMark)
		if len(r.cur) > 0 {
			return nil
		}
	}
	if r.err == io.EOF && r.losses.nulls.count == 0 {
		return fmt.Errorf("%s is empty", r.name)
	}
	if r.err == io.EOF {
		return fmt.Errorf("%s:1: the line is binary, not text", r.name)
	}
	return r.failure()
}

// Strict makes damage an error. It must be called before Next.
func (r *Reader) Strict() { r.strict = true }

// Name returns the file's name, safe to show.
func (r *Reader) Name() string { return r.name }

// ModTime returns when the content was last changed, from the gzip header or the file system, whichever is earlier.
// Zero if unknown.
func (r *Reader) ModTime() time.Time { return r.modTime }

// Compressed reports whether the file is compressed.
func (r *Reader) Compressed() bool { return r.pump.compression != "" }

// Line returns the number of the last line that Next returned, from 1.
func (r *Reader) Line() int { return r.line }

// Cut reports whether the last line that Next returned has no line end, as only a file's last line can.
func (r *Reader) Cut() bool { return r.cut }

// Head returns the first bytes of the content, at most one block, without NULs or a byte order mark at its
// beginning. It must be called before Next and is valid until then.
func (r *Reader) Head() []byte { return r.cur }

// Close stops reading and closes the file. It may be called more than once.
func (r *Reader) Close() { r.pump.stop() }

// Errorf returns an error about the last line that Next returned.
func (r *Reader) Errorf(format string, args ...any) error {
	if r.line == 0 { // Rest is used
		return fmt.Errorf("%s: %w", r.name, fmt.Errorf(format, args...))
	}
	return fmt.Errorf("%s:%d: %w", r.name, r.line, fmt.Errorf(format, args...))
}

// Next returns the next line without its end; it is valid until the following call. After the last
// line the error is io.EOF. NULs end a line like a newline, invalid UTF-8 is replaced, a line that is
// too long is skipped, and damaged compressed data end the file: Notices reports all of that. For a strict
// Reader each is an error.
func (r *Reader) Next() ([]byte, error) {
	if r.order != nil {
		return r.order.next(r)
	}
	return r.unordered()
}

// unordered is Next without a Clock.
func (r *Reader) unordered() ([]byte, error) {
	if r.filter != nil {
		return r.filter.next(r)
	}
	return r.nextLine()
}

// nextLine is Next without a filter.
func (r *Reader) nextLine() ([]byte, error) {
	if r.limitErr != nil {
		return nil, r.limitErr
	}
	if r.strict && r.inside && r.losses.nulls.count > 0 {
		return nil, r.binary()
	}
	for {
		line, spilled, err := r.raw()
		if err != nil {
			return nil, err
		}
		if line == nil {
			continue
		}
		if r.odd || spilled {
			if line, err = r.text(line); err != nil {
				return nil, err
			}
		}
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		if len(line) > 0 && line[0] == byteOrderMark[0] { // also where another file was appended
			line = bytes.TrimPrefix(line, byteOrderMark)
		}
		return line, nil
	}
}

// raw returns the text up to the next newline or NUL, or nil if it is skipped, and whether it spans
// blocks.
func (r *Reader) raw() (line []byte, spilled bool, err error) {
	r.spill = r.spill[:0]
	long := false
	for {
		if i := r.separator(); i >= 0 {
			line = r.cur[:i]
			if len(r.spill) > 0 {
				r.spill = append(r.spill, line...)
				line, spilled = r.spill, true
			}
			r.number()
			if r.cur[i] == '\n' {
				r.cur = r.cur[i+1:]
			} else if err := r.skipGap(i); err != nil {
				return nil, false, err
			}
			if long || len(line) > MaxLine {
				return nil, false, r.Unread(errLong)
			}
			if len(line) == 0 && r.inside {
				line = nil // there is no text before the NULs
			}
			return line, spilled, nil
		}
		r.spill = append(r.spill, r.cur...)
		r.cur = nil
		if len(r.spill) > MaxLine {
			if long = true; r.strict {
				r.number()
				return nil, false, r.Unread(errLong)
			}
			r.spill = r.spill[:0]
		}
		if !r.refill() {
			return r.lastLine(long)
		}
	}
}

// lastLine returns a last line without a newline, or the reason why there is none.
func (r *Reader) lastLine(long bool) ([]byte, bool, error) {
	err := r.failure()
	if err != io.EOF {
		if r.strict || !r.damaged() {
			return nil, false, err
		}
		r.losses.damage, r.losses.trailing = err, r.trailing()
		r.err = io.EOF
	}
	if long {
		r.number()
		return nil, false, r.Unread(errLong)
	}
	if len(r.spill) == 0 {
		return nil, false, io.EOF
	}
	r.number()
	r.cut, r.inside = true, false
	return r.spill, true, nil
}

// separator returns the index of the next newline or NUL in the current block, or -1.
func (r *Reader) separator() int {
	i := bytes.IndexByte(r.cur, '\n')
	if !r.odd {
		return i
	}
	before := r.cur
	if i >= 0 {
		before = r.cur[:i]
	}
	if nul := bytes.IndexByte(before, 0); nul >= 0 {
		return nul
	}
	return i
}

// number counts a line when it is returned or skipped.
func (r *Reader) number() {
	if !r.inside {
		r.line++
	}
	r.inside = false
}

// skipGap skips the NULs at i of the current block.
func (r *Reader) skipGap(i int) error {
	if r.strict {
		return r.binary()
	}
	r.cur = r.cur[i:]
	r.skipNULs()
	r.inside = true
	return nil
}

func (r *Reader) skipNULs() {
	rest := bytes.TrimLeft(r.cur, "\x00")
	r.losses.nulls.add(max(r.line, 1), len(r.cur)-len(rest))
	r.cur = rest
}

func (r *Reader) binary() error { return r.Errorf("the line is binary, not text") }

// refill reads the next block. It returns false, with r.err set, when there is none.
func (r *Reader) refill() bool {
	if r.err != nil {
		return false
	}
	if r.within.hasEnded() {
		r.spill, r.err = r.spill[:0], io.EOF
		return false
	}
	block, err := r.pump.next()
	if err != nil {
		r.err = err
		return false
	}
	r.textBytes += int64(len(block))
	if r.within != nil {
		r.within.left.Add(-int64(len(block)))
	}
	if r.err = r.checkText(); r.err != nil {
		return false
	}
	r.cur = block
	r.odd = !plain(block, len(r.spill) > 0)
	return true
}

// damaged reports whether the blocks ended because compressed data is cut off or damaged, and not because reading
// was stopped, exceeded a limit or failed.
func (r *Reader) damaged() bool {
	var path *fs.PathError
	return r.pump.compression != "" && !errors.Is(r.err, context.Canceled) && !errors.Is(r.err, context.DeadlineExceeded) &&
		!errors.Is(r.err, errTooMuchText) && !errors.As(r.err, &limitError{}) && !errors.Is(r.err, io.ErrClosedPipe) && !errors.As(r.err, &path)
}

// trailing reports whether complete compressed data is followed by something else.
func (r *Reader) trailing() bool {
	return errors.Is(r.err, gzip.ErrHeader) || errors.Is(r.err, zstd.ErrMagicMismatch)
}

// failure returns the reason why there is no next line.
func (r *Reader) failure() error {
	switch {
	case r.err == io.EOF:
		return io.EOF
	case errors.Is(r.err, context.Canceled), errors.Is(r.err, context.DeadlineExceeded):
		return fmt.Errorf("%s: reading was stopped: %w", r.name, r.err)
	case errors.Is(r.err, errTooMuchText), errors.As(r.err, &limitError{}):
		return fmt.Errorf("%s: %w", r.name, r.err)
	case r.trailing():
		return fmt.Errorf("%s: what follows the %s data, after line %d, is something else", r.name, r.pump.compression, r.line)
	case errors.Is(r.err, io.ErrUnexpectedEOF) && r.line == 0 && len(r.spill) == 0:
		return fmt.Errorf("%s: the %s data is cut off in its first block, before any text: %w", r.name, r.pump.compression, r.err)
	case errors.Is(r.err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: the %s data is cut off after line %d: %w", r.name, r.pump.compression, r.line, r.err)
	case r.pump.compression != "":
		return fmt.Errorf("%s: the %s data is damaged after line %d: %w", r.name, r.pump.compression, r.line, r.err)
	}
	return fmt.Errorf("%s: cannot be read after line %d: %w", r.name, r.line, r.err)
}

// ReadAll calls read with each line that Next returns, except blank ones. It stops at the first error of either.
func (r *Reader) ReadAll(read func(line []byte) error) error {
	for {
		line, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil && len(bytes.TrimSpace(line)) > 0 {
			err = read(line)
		}
		if err != nil {
			return err
		}
	}
}

// Rest returns a reader of the unread text, unchanged, for files that wrap lines. The Reader must
// not be used after that, except for Close.
func (r *Reader) Rest() io.Reader { return &rest{r} }

type rest struct{ from *Reader }

// Read implements io.Reader.
func (r *rest) Read(p []byte) (int, error) {
	if r.from.limitErr != nil {
		return 0, r.from.limitErr
	}
	for len(r.from.cur) == 0 {
		if !r.from.refill() {
			return 0, r.from.failure()
		}
	}
	n := copy(p, r.from.cur)
	r.from.cur = r.from.cur[n:]
	return n, nil
}
