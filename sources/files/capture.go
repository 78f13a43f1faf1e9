package files

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/lines"
)

// A k8shark archive is a zip of zstd files, one per API server response (docs/archive-format.md of
// github.com/phenixblue/k8shark). They are read as the lines of one file.

const (
	captureFolder = "k8shark-capture/"
	captureName   = captureFolder + "metadata.json"
)

// openCapture opens a k8shark archive that unpacks to at most that many bytes.
func openCapture(ctx context.Context, path string, most int64) (*lines.Reader, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, fmt.Errorf("%s changed while schedq read it", sources.Sanitize(path))
	}
	c := &capture{archive: z, path: path, most: most}
	for _, f := range z.File {
		switch {
		case f.Name == captureName:
			c.rest = append([]*zip.File{f}, c.rest...)
		case strings.HasPrefix(f.Name, captureFolder+"records/") && f.Mode().IsRegular():
			c.rest = append(c.rest, f)
		}
	}
	return lines.New(ctx, string(sources.Sanitize(path)), time.Time{}, c)
}

// capture reads each file of an archive as a line.
type capture struct {
	archive *zip.ReadCloser
	path    string
	rest    []*zip.File
	most    int64 // limits text
	text    int64 // bytes unpacked so far
	line    bytes.Buffer
}

// Read implements io.Reader.
func (c *capture) Read(p []byte) (int, error) {
	for c.line.Len() == 0 {
		if len(c.rest) == 0 {
			return 0, io.EOF
		}
		f := c.rest[0]
		c.rest = c.rest[1:]
		if err := c.unpack(f); err != nil {
			return 0, err
		}
	}
	return c.line.Read(p)
}

// unpack returns a file as a line. For an unreadable file it returns the file's name, which readers count as damaged.
func (c *capture) unpack(f *zip.File) error {
	text, err := unzipped(f)
	if c.text += int64(len(text)); c.text > c.most {
		return tooMuch(c.path, c.most)
	}
	if err == nil {
		err = json.Compact(&c.line, text)
	}
	if err != nil {
		c.line.Reset()
		fmt.Fprintf(&c.line, "%q", f.Name)
	}
	c.line.WriteByte('\n')
	return nil
}

var errLargeRecord = errors.New("a record is too large")

// unzipped returns the content of a file in the archive.
func unzipped(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var from io.Reader = r
	if strings.HasSuffix(f.Name, ".zst") {
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		from = z
	}
	text, err := io.ReadAll(io.LimitReader(from, lines.MaxLine))
	if err == nil && len(text) == lines.MaxLine {
		err = errLargeRecord
	}
	return text, err
}

// Close implements io.Closer.
func (c *capture) Close() error { return c.archive.Close() }
