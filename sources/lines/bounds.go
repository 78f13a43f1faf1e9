package lines

import (
	"fmt"
	"io"
	"sync/atomic"
)

// Bounds of what a file may make of its bytes. Real recordings have 18 to 27 times as much text as they have
// bytes with gzip, and at most 117 times with the best that zstd does; of each byte of them, packed with gzip,
// up to 30 bytes are kept. What is refused can be unpacked first, because a plain file's bytes are its text.
const (
	textRatio = 200
	textFree  = 256 << 20 // bytes that any file may have
	lineCost  = 32        // bytes of text that a line counts for beside its own
	keptRatio = 128
	keptFree  = 160 << 20 // bytes that may be kept of any file
)

// DefaultMemory is how many bytes may be kept of what is read, unless a person says otherwise.
const DefaultMemory = 4 << 30

// Budget is how much memory may be taken by what is kept of files, all together. It is safe for concurrent use.
type Budget struct {
	most  int64 // bytes
	given bool
	kept  atomic.Int64
}

// NewBudget returns a budget of that many bytes. 0 stands for DefaultMemory, of which a packed file may take
// 128 times its own bytes, or 160 MiB if that is more: who names a figure means it.
func NewBudget(memory int64) *Budget {
	if memory <= 0 {
		return &Budget{most: DefaultMemory}
	}
	return &Budget{most: memory, given: true}
}

// tooMuch is an error about a file that would cost more than it may.
type tooMuch struct{ error }

// Spend makes what is kept of the file count for b, too. It must be called before Next.
func (r *Reader) Spend(b *Budget) { r.budget = b }

// Keep tells that about n bytes of memory are kept of what was read. Once that is more than may be, Next fails.
func (r *Reader) Keep(n int) {
	r.kept += int64(n)
	switch all := r.budget.kept.Add(int64(n)); {
	case r.over != nil:
	case all > r.budget.most:
		r.over = tooMuch{r.Errorf("what is kept of the recording takes more than %s of memory: --memory raises the bound", size(r.budget.most))}
	case !r.budget.given && r.kept > keptFree && r.kept > keptRatio*r.pump.taken.Load():
		r.over = tooMuch{r.Errorf("what is kept of the file takes more than %d times its bytes, and more than %s of memory: --memory %s allows that",
			keptRatio, size(keptFree), size(DefaultMemory))}
	}
}

// checkText returns an error if the file has far more text than bytes.
func (r *Reader) checkText() error {
	if text := r.texts + lineCost*int64(r.line); text < textFree || text < textFree+textRatio*r.pump.taken.Load() {
		return nil
	}
	return tooMuch{fmt.Errorf("up to line %d the file has more than %d times as much text as it has bytes: unpack it first if that is as it should be",
		r.line, textRatio)}
}

// Beginning is how many bytes of text are read of files, all together, of which the beginning alone is asked for. It is safe for
// concurrent use.
type Beginning struct{ left atomic.Int64 }

// NewBeginning returns a beginning of about so many bytes.
func NewBeginning(bytes int64) *Beginning {
	b := new(Beginning)
	b.left.Store(bytes)
	return b
}

// Within ends the text with the last line that is whole once b is read, and has there be none if that is so already. It must be
// called before Next.
func (r *Reader) Within(b *Beginning) {
	if r.within = b; b.hasEnded() {
		r.cur = nil
	}
}

// hasEnded reports whether all is read that is asked for.
func (b *Beginning) hasEnded() bool { return b != nil && b.left.Load() <= 0 }

// size is a number of bytes as a person writes it.
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

// counted is a reader that counts its bytes in taken.
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
