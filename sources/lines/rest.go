package lines

import "io"

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
