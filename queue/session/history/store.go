package history

import (
	"errors"
	"slices"
	"sort"
	"time"

	"github.com/schedq/schedq/queue/session/archive"
	"github.com/schedq/schedq/queue/session/board"
)

const (
	// MinInMemory is how many changes stay in memory, whatever their size.
	MinInMemory = 8 * KeyframeEvery
	// podsPerChange limits the size of an archived board to so many pods per change since the last one:
	// large boards are written rarely.
	podsPerChange = 4
)

// LeftRetention is how long a pod that left the queue is kept where little is kept.
const LeftRetention = time.Minute

// OpenArchive makes h, which must be empty, move its oldest changes to a file that open creates. After an
// error they stay in memory.
func (h *History) OpenArchive(open func() (archive.File, error)) error {
	f, err := open()
	if err != nil {
		return err
	}
	a, err := archive.New(f)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	h.past = a
	return nil
}

// CloseArchive closes the file, after which its content can't be shown.
func (h *History) CloseArchive() {
	if h.storing != nil {
		<-h.storing.done
	}
	if h.past != nil {
		_ = h.past.Close() // nobody reads it again
	}
}

// HasArchive reports whether older changes are archived, not dropped.
func (h *History) HasArchive() bool { return h.past != nil }

// ArchiveErr returns the error of reading the archive, or nil.
func (h *History) ArchiveErr() error {
	if h.past == nil {
		return nil
	}
	return h.past.Err()
}

// InMemory reports whether the changes around the cursor are in memory.
func (h *History) InMemory() bool { return h.Cursor >= h.first }

// Kept returns the number of changes in memory, and the number of the oldest.
func (h *History) Kept() (n, first int) { return len(h.changes), h.first }

// OldestAt returns the time of the oldest change in memory. There must be one.
func (h *History) OldestAt() time.Time { return h.changes[0].At }

// storing is a write to the archive. The changes stay in memory until it is complete.
type storing struct {
	done chan struct{} // closed when the write is complete or failed
	err  error
}

// Storing returns a channel that is closed when the current write to the archive ends, or nil if there is
// none.
func (h *History) Storing() <-chan struct{} {
	if h.storing == nil {
		return nil
	}
	return h.storing.done
}

// Store starts to write the oldest KeyframeEvery changes to the archive in a goroutine. When called again
// after that is complete, it drops them from memory and returns true. There must be more changes than
// that in memory. After an error the archive is unusable.
func (h *History) Store() (stored bool, err error) {
	if h.storing == nil {
		h.beginStore()
	}
	select {
	case <-h.storing.done:
	default:
		return false, nil
	}
	err, h.storing = h.storing.err, nil
	if err != nil {
		return false, err
	}
	cut := h.first + KeyframeEvery
	moved := h.movesBefore(cut)
	for _, m := range h.moves[:moved-h.firstMove] {
		m.Release()
	}
	h.drop(cut, moved)
	newest := h.changes[len(h.changes)-1].At
	h.dropLeft(func(p *board.Pod) bool { return newest.Sub(p.Since) <= LeftRetention })
	return true, nil
}

// beginStore starts to write the oldest changes to the archive, with the board before them if one is due.
// It only reads immutable data.
func (h *History) beginStore() {
	s, past, some, firstMove := &storing{done: make(chan struct{})}, h.past, h.changes[:KeyframeEvery], h.firstMove
	var before *board.Board
	if b := h.keyframes[0]; h.first == 0 || b.Pods.Len() <= (h.first-h.stored)*podsPerChange {
		before, h.stored = b.Copy(), h.first
	}
	h.storing = s
	go func() {
		defer close(s.done)
		if before != nil {
			lately := func(p *board.Pod) bool { return !board.HasLeft(p) || some[0].At.Sub(p.Since) <= LeftRetention }
			if s.err = past.AppendBoard(before, lately); s.err != nil {
				return
			}
		}
		s.err = past.Append(some, firstMove)
	}()
}

// DropArchive drops the archive, which can't be read or written any more.
func (h *History) DropArchive() {
	if h.Cursor < h.first {
		h.jump(h.first)
	}
	h.past, h.storing = nil, nil
}

// Forget drops the changes before number cut, a multiple of KeyframeEvery, and the pods that had left by
// then, except those for which keep returns true. keep may be nil.
func (h *History) Forget(cut int, keep func(*board.Pod) bool) {
	n := sort.Search(len(h.tallies), func(i int) bool { return h.tallies[i].changes > cut })
	h.tallies = slices.Clone(h.tallies[n:])
	h.drop(cut, h.movesBefore(cut))
	h.dropLeft(keep)
}

// drop drops the changes before number cut and the moves before number moved. It does not modify slices
// that frames use.
func (h *History) drop(cut, moved int) {
	h.changes, h.moves = slices.Clone(h.changes[cut-h.first:]), slices.Clone(h.moves[moved-h.firstMove:])
	h.keyframes = slices.Clone(h.keyframes[(cut-h.first)/KeyframeEvery:])
	h.first, h.firstMove = cut, moved
}

// dropLeft drops the pods that left before the oldest change in memory, except those for which keep
// returns true. keep may be nil.
func (h *History) dropLeft(keep func(*board.Pod) bool) {
	oldest := h.OldestAt()
	h.head.DropLeft(oldest, keep)
	if h.Shown != h.head && h.InMemory() {
		h.Shown.DropLeft(oldest, keep)
	}
}
