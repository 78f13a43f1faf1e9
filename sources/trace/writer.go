package trace

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/schedq/schedq/sources"
)

// window is how far back zstd refers, and so how much a reader has to keep in memory.
const window = 2 << 20

// Writer writes a trace, one line an event. It is not safe for concurrent use.
type Writer struct {
	out    *bufio.Writer
	packer io.Closer // nil if the trace is plain
	flush  func() error
	err    error
}

// NewWriter begins a trace on w, which stays open. Call Flush or Close at the end.
func NewWriter(w io.Writer) (*Writer, error) {
	return begin(&Writer{out: bufio.NewWriterSize(w, 64<<10)})
}

// CheckName returns an error if the name of a file has an extension that is not a trace's: readers would take its content
// for something else.
func CheckName(name string) error {
	ext := filepath.Ext(strings.ToLower(name))
	if ext == ".gz" || ext == ".zst" {
		ext = filepath.Ext(strings.TrimSuffix(strings.ToLower(name), ext))
	}
	switch ext {
	case "", ".jsonl", ".ndjson", ".json", ".trace":
		return nil
	}
	return fmt.Errorf("the extension \"%s\" is unknown: a trace's is .jsonl, .ndjson, .json or .trace, perhaps followed by .gz or .zst, or none", sources.Sanitize(ext))
}

// NewPacked begins a trace on w, which stays open, compressed according to the ending of the file's name: .gz, .zst, or
// plain.
func NewPacked(w io.Writer, name string) (*Writer, error) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".gz":
		z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err != nil {
			return nil, err
		}
		z.ModTime = time.Unix(0, 0) // the same events give the same file
		return begin(&Writer{out: bufio.NewWriterSize(z, 64<<10), flush: z.Flush, packer: z})
	case ".zst":
		return newZstd(w, zstd.SpeedBestCompression)
	}
	return NewWriter(w)
}

// NewLasting begins a trace on w, which stays open, compressed with zstd for continuous recording: it takes 8 % more bytes
// than NewPacked, a third of the time, and 9 MiB of memory instead of 39 (measured with the audit log of busy).
func NewLasting(w io.Writer) (*Writer, error) { return newZstd(w, zstd.SpeedBetterCompression) }

func newZstd(w io.Writer, level zstd.EncoderLevel) (*Writer, error) {
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window))
	if err != nil {
		return nil, err
	}
	return begin(&Writer{out: bufio.NewWriterSize(z, 64<<10), flush: z.Flush, packer: z})
}

func begin(w *Writer) (*Writer, error) {
	if err := w.line(header{Schedq: "trace", Version: Version}); err != nil {
		_ = w.Close() // it would fail, too
		return nil, err
	}
	return w, nil
}

// Write adds an event. Objects are trimmed (see sources.Trim) before they are written. After an error
// of the underlying file every call returns it.
func (w *Writer) Write(e sources.Event) error {
	r, err := encode(e)
	if err != nil {
		return fmt.Errorf("the event at %s cannot be written: %w", e.Time.UTC().Format("15:04:05.000"), err)
	}
	return w.line(r)
}

// End writes that the recording ends at that time, even without an event.
func (w *Writer) End(at time.Time) error { return w.line(&record{Time: at.UTC(), End: &struct{}{}}) }

func (w *Writer) line(v any) error {
	if w.err != nil {
		return w.err
	}
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, w.err = w.out.Write(append(line, '\n'))
	return w.err
}

// Flush writes all events so far to the file, so that a reader finds them there.
func (w *Writer) Flush() error {
	if w.err == nil {
		w.err = w.out.Flush()
	}
	if w.err == nil && w.flush != nil {
		w.err = w.flush()
	}
	return w.err
}

// Close flushes and ends the trace. The underlying writer stays open.
func (w *Writer) Close() error {
	err := w.err
	if err == nil {
		err = w.out.Flush()
	}
	if w.packer != nil {
		if packing := w.packer.Close(); err == nil {
			err = packing
		}
	}
	w.packer, w.err = nil, errors.New("the trace is closed")
	return err
}
