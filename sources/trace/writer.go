package trace

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/schedq/schedq/sources"
)

// window is how far back zstd looks, and so what a reader has to keep in memory.
const window = 2 << 20

// Writer writes a trace, one line an event. It is not safe for concurrent use.
type Writer struct {
	out    *bufio.Writer
	closer []io.Closer // innermost first
	flush  func() error
	err    error
}

// NewWriter begins a trace on w, which stays open. Call Flush or Close at the end.
func NewWriter(w io.Writer) (*Writer, error) {
	return begin(&Writer{out: bufio.NewWriterSize(w, 64<<10)})
}

// Create begins a trace in a new file, compressed as the name's ending says: .gz, .zst, or plain. An
// existing file is replaced.
func Create(path string) (*Writer, error) {
	w, _, err := create(path)
	return w, err
}

// create is Create. It also returns the file, which counts what is written to it.
func create(path string) (*Writer, *file, error) {
	name := sources.Sanitize(path)
	opened, err := os.Create(path)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: the trace cannot be written: %w", name, errors.Unwrap(err))
	}
	f := &file{File: opened}
	w := &Writer{closer: []io.Closer{f}}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".gz":
		z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
		if err != nil {
			return nil, nil, errors.Join(err, f.Close())
		}
		z.ModTime = time.Unix(0, 0) // the same events give the same file
		w.out, w.flush, w.closer = bufio.NewWriterSize(z, 64<<10), z.Flush, []io.Closer{z, f}
	case ".zst":
		z, err := zstd.NewWriter(f, zstd.WithEncoderLevel(zstd.SpeedBestCompression),
			zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window))
		if err != nil {
			return nil, nil, errors.Join(err, f.Close())
		}
		w.out, w.flush, w.closer = bufio.NewWriterSize(z, 64<<10), z.Flush, []io.Closer{z, f}
	default:
		w.out = bufio.NewWriterSize(f, 64<<10)
	}
	w, err = begin(w)
	return w, f, err
}

// file counts the bytes that are written to it.
type file struct {
	*os.File
	bytes int64
}

// Write implements io.Writer.
func (f *file) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.bytes += int64(n)
	return n, err
}

func begin(w *Writer) (*Writer, error) {
	if err := w.line(header{Schedq: "trace", Version: Version}); err != nil {
		return nil, errors.Join(err, w.Close())
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

// Flush hands everything written so far to the file, so that a reader finds it there.
func (w *Writer) Flush() error {
	if w.err == nil {
		w.err = w.out.Flush()
	}
	if w.err == nil && w.flush != nil {
		w.err = w.flush()
	}
	return w.err
}

// Close flushes, and closes the file that Create made.
func (w *Writer) Close() error {
	err := w.err
	if err == nil {
		err = w.out.Flush()
	}
	for _, c := range w.closer {
		err = errors.Join(err, c.Close())
	}
	w.closer, w.err = nil, errors.New("the trace is closed")
	return err
}
