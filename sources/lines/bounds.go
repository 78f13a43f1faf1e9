package lines

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// Limits for compressed files, so that a small one cannot fill the memory unless the user raises the limit. Audit
// logs expand 18 to 27 times with gzip and up to 117 times with zstd. What is kept of a recording that schedq
// wrote takes up to 400 times its compressed size: a move takes about 7 bytes in the file and 2.5 KB in memory.
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
	most  int64 // bytes
	given bool
	kept  atomic.Int64
}

// NewBudget returns a budget of that many bytes. 0 stands for DefaultMemory, of which a compressed file may take
// keptRatio times its size, or keptFree if that is more.
func NewBudget(memory int64) *Budget {
	if memory <= 0 {
		return &Budget{most: DefaultMemory}
	}
	return &Budget{most: memory, given: true}
}

// tooMuch is an error about a file that exceeds a limit.
type tooMuch struct {
	error
	kept bool // the limit is for kept content
}

// IsTooMuchKept reports whether reading failed because too much would be kept in memory.
func IsTooMuchKept(err error) bool {
	var e tooMuch
	return errors.As(err, &e) && e.kept
}

// Spend counts the kept content of the file in b, too. It must be called before Next.
func (r *Reader) Spend(b *Budget) { r.budget = b }

// Keep counts about n bytes of memory for kept content of the file. Once they exceed a limit, Next fails.
func (r *Reader) Keep(n int) {
	r.kept += int64(n)
	switch all := r.budget.kept.Add(int64(n)); {
	case r.over != nil:
	case all > r.budget.most:
		r.over = tooMuch{r.Errorf("the recording takes more than %s of memory: raise --memory", size(r.budget.most)), true}
	case !r.budget.given && r.kept > keptFree && r.kept > keptRatio*r.pump.taken.Load():
		r.over = tooMuch{r.Errorf("the file expands to more than %s of memory and %d times its size: if you trust it, add --memory %s",
			size(keptFree), keptRatio, size(DefaultMemory)), true}
	}
}

// TryKeep is Keep. It also returns the error with which Next would fail.
func (r *Reader) TryKeep(n int) error {
	r.Keep(n)
	return r.over
}

// checkText returns an error if the file has far more text than bytes.
func (r *Reader) checkText() error {
	if text := r.texts + lineCost*int64(r.line); text < textFree || text < textFree+textRatio*r.pump.taken.Load() {
		return nil
	}
	return tooMuch{error: fmt.Errorf("up to line %d the file expands to more than %d times its size: if you trust it, decompress it first",
		r.line, textRatio)}
}

// Beginning limits how many bytes of text are read of several files of which only the beginning is needed. It is safe for
// concurrent use.
type Beginning struct{ left atomic.Int64 }

// NewBeginning returns a beginning of about so many bytes.
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

// counted counts the bytes of a reader in taken.
type counted struct {
	io.Reader
	taken *atomic.Int64
}

// Read implements io.Reader.
func (c counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.taken.Add(int64(n))
	return n, err
}
