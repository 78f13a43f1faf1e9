package seed

import (
	"bufio"
	"bytes"
)

// withoutLogs skips the logs that kubectl cluster-info dump prints between objects.
type withoutLogs struct {
	from   *bufio.Reader
	rest   []byte // of the line being handed out
	within bool   // a log
	inside bool   // a line, whose beginning did not fit the buffer
}

var (
	logBegins = []byte("==== START logs for container ")
	logEnds   = []byte("==== END logs for container ")
)

// Read implements io.Reader.
func (w *withoutLogs) Read(p []byte) (int, error) {
	for len(w.rest) == 0 {
		line, err := w.from.ReadSlice('\n')
		if !w.inside && bytes.HasPrefix(line, logBegins) {
			w.within = true
		}
		if !w.within {
			w.rest = line
		}
		if w.within && bytes.Contains(line, logEnds) { // a log may not end with a newline
			w.within = false
		}
		w.inside = err == bufio.ErrBufferFull
		if err != nil && !w.inside && len(w.rest) == 0 {
			return 0, err
		}
	}
	n := copy(p, w.rest)
	w.rest = w.rest[n:]
	return n, nil
}
