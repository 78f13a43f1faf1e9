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
	// LeastInMemory is how many changes stay in memory, whatever they take.
	LeastInMemory = 8 * KeyframeEvery
	// podsPerChange is how many pods a board may have for each change since the one before that is in the archive: a large board
	// is written seldom.
	podsPerChange = 4
)

// KeepLeft is for how long a pod that has left the queue is remembered by those who remember little.
const KeepLeft = time.Minute

// OpenPast has h, in which nothing has happened, keep its oldest changes in a file that open makes. An error is that of the file:
// then they stay in memory.
func (h *History) OpenPast(open func() (archive.File, error)) error {
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

// ClosePast closes that file. Nothing in it can be shown any more.
func (h *History) ClosePast() {
	if h.storing != nil {
		<-h.storing.done
	}
	if h.past != nil {
		_ = h.past.Close() // nobody reads it again
	}
}

// Keeps reports whether what is not in memory is in an archive.
func (h *History) Keeps() bool { return h.past != nil }

// PastErr returns why what is in the archive can't be read back, or nil.
func (h *History) PastErr() error {
	if h.past == nil {
		return nil
	}
	return h.past.Err()
}

// InMemory reports whether the changes before the cursor, and those after it, are in memory.
func (h *History) InMemory() bool { return h.Cursor >= h.first }

// Kept returns how many changes are in memory, and the number of the oldest of them.
func (h *History) Kept() (n, first int) { return len(h.changes), h.first }

// OldestAt returns when the oldest change in memory was, of which there must be one.
func (h *History) OldestAt() time.Time { return h.changes[0].At }

// storing are changes on their way to the archive. Until all of them are there, they are in memory, too.
type storing struct {
	done chan struct{} // closed then, or once that failed
	err  error
}

// Storing is closed once the changes are in the archive that are on their way there. Nil: there are none.
func (h *History) Storing() <-chan struct{} {
	if h.storing == nil {
		return nil
	}
	return h.storing.done
}

// Store has the oldest KeyframeEvery changes be written to the archive, in a goroutine of its own, and once that is done, when it is
// called again, lets go of them and reports true. More changes than that must be in memory. An error is that of the archive's file:
// then what it has can't be relied on.
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
	h.dropLeft(func(p *board.Pod) bool { return newest.Sub(p.Since) <= KeepLeft })
	return true, nil
}

// beginStore begins to write the oldest changes to the archive, with the board before them if it is time for one. What it reads of them
// is never modified.
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
			lately := func(p *board.Pod) bool { return !board.HasLeft(p) || some[0].At.Sub(p.Since) <= KeepLeft }
			if s.err = past.AppendBoard(before, lately); s.err != nil {
				return
			}
		}
		s.err = past.Append(some, firstMove)
	}()
}

// Unkeep forgets what is in the archive, which can't be read or written any more.
func (h *History) Unkeep() {
	if h.Cursor < h.first {
		h.jump(h.first)
	}
	h.past, h.storing = nil, nil
}

// Forget drops the changes before the cut-th, whose number is a multiple of KeyframeEvery, and of the pods that had left by then all
// but those that keep is true of; nil is none.
func (h *History) Forget(cut int, keep func(*board.Pod) bool) {
	told := sort.Search(len(h.tallies), func(i int) bool { return h.tallies[i].changes > cut })
	h.tallies = slices.Clone(h.tallies[told:])
	h.drop(cut, h.movesBefore(cut))
	h.dropLeft(keep)
}

// drop lets go of the changes before the cut-th, and of the moves before the moved-th. Slices that frames have stay as they are.
func (h *History) drop(cut, moved int) {
	h.changes, h.moves = slices.Clone(h.changes[cut-h.first:]), slices.Clone(h.moves[moved-h.firstMove:])
	h.keyframes = slices.Clone(h.keyframes[(cut-h.first)/KeyframeEvery:])
	h.first, h.firstMove = cut, moved
}

// dropLeft drops the pods that left before the oldest change in memory, which are in none of those, but for those that keep is true
// of; nil is none.
func (h *History) dropLeft(keep func(*board.Pod) bool) {
	oldest := h.OldestAt()
	h.head.DropLeft(oldest, keep)
	if h.Shown != h.head && h.InMemory() {
		h.Shown.DropLeft(oldest, keep)
	}
}
