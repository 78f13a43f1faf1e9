package lines

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// Limits for compressed files, so that a small one cannot fill the memory unless the user raises the limit. Audit
// logs expand 18 to 27 times with gzip and up to 117 times with zstd. The kept content of a recording by schedq takes
// up to 400 times its compressed size: a move takes about 7 bytes in the file and 2.5 KB in memory.
const (
	textRatio = 200
	textFree  = 256 << 20 // bytes of text that any file may have
	lineCost  = 32        // bytes of text that each line counts in addition to its own
	keptRatio = 512
	keptFree  = 160 << 20 // bytes of memory that any file may take
)

// DefaultMemory limits the memory, in bytes, that the kept content of files takes, unless the user sets a limit.
const DefaultMemory = 4 << 30

// Budget limits how much memory the data kept of all files takes. It is safe for concurrent use.
type Budget struct {
	limit    int64 // bytes
	explicit bool
	kept     atomic.Int64
}

// NewBudget returns a budget of that many bytes. 0 stands for DefaultMemory, of which a compressed file may take
// keptRatio times its size, or keptFree if that is more.
func NewBudget(memory int64) *Budget {
	if memory <= 0 {
		return &Budget{limit: DefaultMemory}
	}
	return &Budget{limit: memory, explicit: true}
}

// limitError is the error about a file that exceeds a limit.
type limitError struct {
	error
	memory bool // the limit is for kept content
}

// ExceedsMemory reports whether reading failed because the kept content would exceed the memory limit.
func ExceedsMemory(err error) bool {
	var e limitError
	return errors.As(err, &e) && e.memory
}

// Spend makes the kept content of the file count against b. It must be called before Next.
func (r *Reader) Spend(b *Budget) { r.budget = b }

// Keep counts about n bytes of kept content of the file. Once a limit is exceeded, Next fails.
func (r *Reader) Keep(n int) {
	r.kept += int64(n)
	switch all := r.budget.kept.Add(int64(n)); {
	case r.limitErr != nil:
	case all > r.budget.limit:
		r.limitErr = limitError{r.Errorf("the recording takes more than %s of memory: raise --memory", size(r.budget.limit)), true}
	case !r.budget.explicit && r.kept > keptFree && r.kept > keptRatio*r.pump.bytesRead.Load():
		r.limitErr = limitError{r.Errorf("the file expands to more than %s of memory and %d times its size: if you trust it, add --memory %s",
			size(keptFree), keptRatio, size(DefaultMemory)), true}
	}
}

// TryKeep is Keep, and returns the error with which Next would fail.
func (r *Reader) TryKeep(n int) error {
	r.Keep(n)
	return r.limitErr
}

// checkText returns an error if the file has far more text than bytes.
func (r *Reader) checkText() error {
	if text := r.textBytes + lineCost*int64(r.line); text < textFree || text < textFree+textRatio*r.pump.bytesRead.Load() {
		return nil
	}
	return limitError{error: fmt.Errorf("up to line %d the file expands to more than %d times its size: if you trust it, decompress it first",
		r.line, textRatio)}
}

// Beginning limits the total bytes of text read of several files of which only the beginning is needed. It is safe for
// concurrent use.
type Beginning struct{ left atomic.Int64 }

// NewBeginning returns a Beginning of about that many bytes.
func NewBeginning(bytes int64) *Beginning {
	b := new(Beginning)
	b.left.Store(bytes)
	return b
}

// Within ends the text with the last whole line once b is exhausted, or at once if it already is. It must be called before
// Next.
func (r *Reader) Within(b *Beginning) {
	if r.within = b; b.hasEnded() {
		r.cur = nil
	}
}

// hasEnded reports whether b is exhausted.
func (b *Beginning) hasEnded() bool { return b != nil && b.left.Load() <= 0 }

// size formats a number of bytes, such as 4GiB.
func size(bytes int64) string {
	for _, unit := range []struct {
		name  string
		shift int
	}{{"Gi", 30}, {"Mi", 20}, {"Ki", 10}} {
		if bytes >= 1<<unit.shift && bytes%(1<<unit.shift) == 0 {
			return fmt.Sprintf("%d%s", bytes>>unit.shift, unit.name)
		}
	}
	return fmt.Sprint(bytes)
}

// counted counts the bytes read from a reader.
type counted struct {
	io.Reader
	count *atomic.Int64
}

// Read implements io.Reader.
func (c counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.count.Add(int64(n))
	return n, err
}
