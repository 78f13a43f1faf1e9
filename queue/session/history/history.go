// Package history records one run of the queue: its numbered changes and moves, boards to start from, a
// cursor that moves back and forth, and pod counts per second. Viewing the past executes nothing.
//
// The newest part is in memory. The oldest is in an archive if there is one, and may otherwise be
// dropped. A history belongs to one goroutine; the boards, moves, logs and series that it returns are
// immutable.
package history

import (
	"cmp"
	"slices"
	"sort"
	"time"
	"unsafe"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/archive"
	"github.com/schedq/schedq/queue/session/board"
)

// KeyframeEvery is the number of changes between two keyframes: few enough to walk through them within a
// frame, and enough for the keyframes to cost little.
const KeyframeEvery = 2048

// History is everything that has happened so far, and a cursor in it. Viewing the past reads it and
// executes nothing. Changes and moves are numbered from 0; the oldest may be archived or dropped.
type History struct {
	changes   []board.Change      // from first on
	moves     []*board.Transition // their moves, from firstMove on
	keyframes []*board.Board      // keyframes[i] is the board before change first+i*KeyframeEvery

	// first is the number of the oldest change in memory, a multiple of KeyframeEvery, and firstMove
	// that of the oldest move.
	first, firstMove int
	// past is the archive of everything before those, nil if it was dropped. stored is the change before
	// which its last board was.
	past    *archive.Archive
	stored  int
	storing *storing // a write to the archive in progress, or nil

	tallies []Tally // one for each second with changes except the last: see Series

	head *board.Board // after the last change

	// Cursor is the number of changes up to the moment shown, Moved how many of them are moves, and
	// Shown the board at that moment. At the end, Shown is head.
	Cursor, Moved int
	Shown         *board.Board
}

// New returns an empty history.
func New() *History { return NewFrom(board.New()) }

// ChangeCount returns the number of changes, including dropped ones.
func (h *History) ChangeCount() int { return h.first + len(h.changes) }

// MoveCount returns the number of moves, including dropped ones.
func (h *History) MoveCount() int { return h.firstMove + len(h.moves) }

// Change returns the change with that number, which must not have been dropped.
func (h *History) Change(i int) board.Change {
	if i < h.first {
		return h.past.Change(i)
	}
	return h.changes[i-h.first]
}

// Move returns the move with that number, which must not have been dropped.
func (h *History) Move(i int) *board.Transition {
	if i < h.firstMove {
		return readMove(h.past, i)
	}
	return h.moves[i-h.firstMove]
}

// MovesFrom returns the moves in memory from that number on.
func (h *History) MovesFrom(i int) []*board.Transition { return h.moves[max(i-h.firstMove, 0):] }

// Oldest returns the numbers of the oldest change and the oldest move that were not dropped.
func (h *History) Oldest() (change, move int) {
	if h.past != nil {
		return 0, 0
	}
	return h.first, h.firstMove
}

// NewFrom returns a history without changes that starts with b.
func NewFrom(b *board.Board) *History { return &History{head: b, Shown: b} }

// Head returns the board after the last change. Only Append may change it.
func (h *History) Head() *board.Board { return h.head }

// Fork returns a history that is equal to h up to the cursor. The changes there must be in memory.
func (h *History) Fork() *History {
	f := &History{
		changes:   slices.Clip(h.changes[:h.Cursor-h.first]),
		moves:     slices.Clip(h.moves[:h.Moved-h.firstMove]),
		keyframes: slices.Clip(h.keyframes[:(h.Cursor-h.first+KeyframeEvery-1)/KeyframeEvery]),
		first:     h.first,
		firstMove: h.firstMove,
		past:      h.past,
		tallies:   slices.Clip(h.closed()),
		head:      h.Shown.Copy(),
		Cursor:    h.Cursor,
		Moved:     h.Moved,
	}
	f.Shown = f.head
	return f
}

// Append adds a change. The cursor stays where it is: only SetCursor moves it.
func (h *History) Append(c board.Change) {
	if h.ChangeCount()%KeyframeEvery == 0 {
		h.keyframes = append(h.keyframes, h.head.Copy())
	}
	h.closeSecond(c.At)
	if h.Shown == h.head {
		h.Shown = h.head.Copy()
	}
	h.changes = append(h.changes, c)
	h.head.Replace(c.Before, c.After)
	if c.Move != nil {
		c.Move.Change = h.ChangeCount() - 1
		if h.past != nil {
			c.Move.SetPast(h.past)
		}
		h.moves = append(h.moves, c.Move)
	}
}

// ChangesBy returns how many changes had happened by t, inclusive.
func (h *History) ChangesBy(t time.Time) int {
	if h.past != nil && len(h.changes) > 0 && h.changes[0].At.After(t) {
		return h.past.ChangesBy(t)
	}
	return h.first + sort.Search(len(h.changes), func(i int) bool { return h.changes[i].At.After(t) })
}

// SetCursor moves the cursor to after the first n changes, which must not have been dropped.
func (h *History) SetCursor(n int) {
	switch {
	case n == h.Cursor:
		return
	case n == h.ChangeCount():
		h.SetView(h.head, h.Shown.View, h.Shown.Now)
		h.Shown = h.head
		h.Cursor, h.Moved = n, h.MoveCount()
		return
	case h.Shown == h.head:
		h.Shown = h.head.Copy()
	}
	if distance := max(n-h.Cursor, h.Cursor-n); distance > KeyframeEvery {
		h.jump(n)
	}
	h.walk(n)
}

// walk moves the cursor to n, change by change. It replaces a pod that changes several times only once.
func (h *History) walk(n int) {
	if distance := max(n-h.Cursor, h.Cursor-n); distance <= 2 {
		for ; h.Cursor < n; h.Cursor++ {
			c := h.Change(h.Cursor)
			h.Shown.Replace(c.Before, c.After)
			h.Moved += c.MoveCount()
		}
		for ; h.Cursor > n; h.Cursor-- {
			c := h.Change(h.Cursor - 1)
			h.Shown.Replace(c.After, c.Before)
			h.Moved -= c.MoveCount()
		}
		return
	}
	type change struct{ before, after *board.Pod }
	at := map[types.NamespacedName]int{}
	var all []change
	add := func(before, after *board.Pod) {
		if before == nil && after == nil {
			return
		}
		key := cmp.Or(before, after).Key
		i, known := at[key]
		if !known {
			i = len(all)
			at[key] = i
			all = append(all, change{before: before})
		}
		all[i].after = after
	}
	for ; h.Cursor < n; h.Cursor++ {
		c := h.Change(h.Cursor)
		add(c.Before, c.After)
		h.Moved += c.MoveCount()
	}
	for ; h.Cursor > n; h.Cursor-- {
		c := h.Change(h.Cursor - 1)
		add(c.After, c.Before)
		h.Moved -= c.MoveCount()
	}
	for _, c := range all {
		if c.before != nil || c.after != nil {
			h.Shown.Replace(c.before, c.after)
		}
	}
}

// jump moves the cursor to a stored board near n.
func (h *History) jump(n int) {
	view, now := h.Shown.View, h.Shown.Now
	if n < h.first {
		h.Shown, h.Cursor = h.past.Board(n)
	}
	if n >= h.first || h.Shown == nil {
		// The nearest keyframe, which may be after n.
		i := max(0, min((n-h.first+KeyframeEvery/2)/KeyframeEvery, len(h.keyframes)-1))
		h.Shown, h.Cursor = h.keyframes[i].Copy(), h.first+i*KeyframeEvery
	}
	h.SetView(h.Shown, view, now)
	h.Moved = h.movesBefore(h.Cursor)
}

// movesBefore returns how many moves are among the first n changes.
func (h *History) movesBefore(n int) int {
	if n < h.first {
		return h.past.MovesBefore(n)
	}
	return h.firstMove + sort.Search(len(h.moves), func(i int) bool { return h.moves[i].Change >= n })
}

// SetView sets b's view and time.
func (h *History) SetView(b *board.Board, v *board.View, now time.Time) {
	if b.View != v {
		b.SetView(v, now)
	}
	b.Retime(now)
}

// Bytes that values take in addition to their own size, measured as the heap's growth
// (TestSizeIsWhatTheHeapHolds).
const (
	// changeExtra is for what a change points to besides its pod and move: lists of plugins, a verdict.
	changeExtra = 150
	// boardPerPod is for each pod on a board that no other board shares, in all of the board's orders.
	boardPerPod = 100
)

// Size returns about how many bytes of memory h takes, excluding what it shares with beginning, the
// history it was forked from, if not nil.
func (h *History) Size(beginning *History) int {
	changes, moves, keyframes := len(h.changes), len(h.moves), len(h.keyframes)
	if beginning != nil {
		changes -= len(beginning.changes)
		moves -= len(beginning.moves)
		keyframes -= len(beginning.keyframes)
	}
	n := cap(h.changes)*int(unsafe.Sizeof(board.Change{})) + cap(h.moves)*int(unsafe.Sizeof(&board.Transition{}))
	n += cap(h.tallies) * int(unsafe.Sizeof(Tally{}))
	n += changes*(int(unsafe.Sizeof(board.Pod{}))+changeExtra) + moves*int(unsafe.Sizeof(board.Transition{}))
	return n + keyframes*h.head.Pods.Len()*boardPerPod
}
