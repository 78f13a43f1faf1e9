package lines

import (
	"bytes"
	"io"
)

// ReadAll calls read with what Next returns, to the file's end, but for lines that are blank. It stops at the first error,
// of either.
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

// Rest returns a reader of all text that is unread, as it is: for what has lines within something else. The Reader must
// not be used after that, but for Close.
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
