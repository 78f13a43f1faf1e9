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

// An archive of k8shark's is a zip of files that are compressed with zstd, one for each answer of an API server (docs/archive-format.md
// of github.com/phenixblue/k8shark). They are read as the lines of one file.

const (
	captureFolder = "k8shark-capture/"
	captureName   = captureFolder + "metadata.json"
)

// openCapture opens an archive of k8shark's that unpacks to at most that many bytes.
func openCapture(ctx context.Context, path string, most int64) (*lines.Reader, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, fmt.Errorf("%s was changed while it was read", sources.Sanitize(path))
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

// capture reads the files of an archive, each as a line.
type capture struct {
	archive *zip.ReadCloser
	path    string
	rest    []*zip.File
	most    int64 // bytes that may be unpacked
	text    int64 // bytes that were
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

// unpack makes a line of a file. One that can't be read is as its name, which is no record.
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

// unzipped returns what is in a file of the archive.
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
