package lines

import (
	"bytes"
	"io"
)

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
	if r.from.over != nil {
		return 0, r.from.over
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
