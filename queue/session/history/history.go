package history

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/archive"
	"github.com/schedq/schedq/queue/session/board"
)

// KeyframeEvery is how many changes lie between two keyframes: few enough to walk through them within
// a frame, and enough for the keyframes to cost little.
const KeyframeEvery = 2048

// History is all that happened so far, and a cursor in it. Looking at the past reads it; nothing is
// executed again. Changes and moves have numbers, from 0; the oldest of them may lie in an archive, or be forgotten.
type History struct {
	changes   []board.Change      // from first on
	moves     []*board.Transition // the moves of changes, from firstMove on
	keyframes []*board.Board      // keyframes[i] is the board before change first+i*KeyframeEvery

	// first is the oldest change that is in memory, a multiple of KeyframeEvery, and firstMove the oldest move.
	first, firstMove int
	// past has all before those. Nil: they are forgotten. stored is the change before which the last board in it was.
	past    *archive.Archive
	stored  int
	storing *storing // what is on its way there, or nil

	tallies []Tally // one for each second that has changes, but the last such second: see Series

	head *board.Board // after the last change

	// Cursor is how many changes are in the past of the moment shown, Moved how many of them are moves, and
	// Shown the board at that moment. At the end Shown is head itself.
	Cursor, Moved int
	Shown         *board.Board
}

// New returns a history of nothing.
func New() *History { return Of(board.New()) }

// ChangeCount returns how many changes there are, those included that are forgotten.
func (h *History) ChangeCount() int { return h.first + len(h.changes) }

// MoveCount returns how many moves there are, those included that are forgotten.
func (h *History) MoveCount() int { return h.firstMove + len(h.moves) }

// Change returns the change of that number, which must not be forgotten.
func (h *History) Change(i int) board.Change {
	if i < h.first {
		return h.past.Change(i)
	}
	return h.changes[i-h.first]
}

// Move returns the move of that number, which must not be forgotten.
func (h *History) Move(i int) *board.Transition {
	if i < h.firstMove {
		return readMove(h.past, i)
	}
	return h.moves[i-h.firstMove]
}

// MovesFrom returns the moves from that number on, as far as they are in memory.
func (h *History) MovesFrom(i int) []*board.Transition { return h.moves[max(i-h.firstMove, 0):] }

// Oldest returns the number of the oldest change that is not forgotten, and that of the oldest move.
func (h *History) Oldest() (change, move int) {
	if h.past != nil {
		return 0, 0
	}
	return h.first, h.firstMove
}

// Of returns a history that begins with b, in which nothing has happened.
func Of(b *board.Board) *History { return &History{head: b, Shown: b} }

// Head is the board after the last change. Only Append may change it.
func (h *History) Head() *board.Board { return h.head }

// Fork returns a history that begins as this one up to the cursor, where changes are in memory.
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

// Append adds a change. If the cursor was at the end it stays there.
func (h *History) Append(c board.Change) {
	if h.ChangeCount()%KeyframeEvery == 0 {
		h.keyframes = append(h.keyframes, h.head.Copy())
	}
	h.closeSecond(c.At)
	atEnd := h.Cursor == h.ChangeCount()
	h.changes = append(h.changes, c)
	h.head.Replace(c.Before, c.After)
	if c.Move != nil {
		c.Move.Change = h.ChangeCount() - 1
		if h.past != nil {
			c.Move.KeepIn(h.past)
		}
		h.moves = append(h.moves, c.Move)
	}
	if atEnd {
		h.Cursor, h.Moved = h.ChangeCount(), h.MoveCount()
	}
}

// ChangesBy returns how many changes had happened by t, those at t included.
func (h *History) ChangesBy(t time.Time) int {
	if h.past != nil && len(h.changes) > 0 && h.changes[0].At.After(t) {
		return h.past.ChangesBy(t)
	}
	return h.first + sort.Search(len(h.changes), func(i int) bool { return h.changes[i].At.After(t) })
}

// SetCursor moves the cursor so that n changes are in the past, from those that are forgotten to all of them.
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

// walk moves the cursor to n, change by change. A pod that changes several times on the way is put into its place
// once, as it was last.
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
	type net struct{ was, is *board.Pod }
	at := map[types.NamespacedName]int{}
	var all []net
	add := func(was, is *board.Pod) {
		if was == nil && is == nil {
			return
		}
		key := cmp.Or(was, is).Key
		i, known := at[key]
		if !known {
			i = len(all)
			at[key] = i
			all = append(all, net{was: was})
		}
		all[i].is = is
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
	for _, p := range all {
		if p.was != nil || p.is != nil {
			h.Shown.Replace(p.was, p.is)
		}
	}
}

// jump moves the cursor to where a board is kept that is near n.
func (h *History) jump(n int) {
	view, now := h.Shown.View, h.Shown.Now
	if n < h.first {
		h.Shown, h.Cursor = h.past.Board(n)
	}
	if n >= h.first || h.Shown == nil {
		// The nearest: from one that is behind n one walks back.
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

// SetView has b seen through v, as of now.
func (h *History) SetView(b *board.Board, v *board.View, now time.Time) {
	if b.View != v {
		b.SetView(v, now)
	}
	b.Retime(now)
}
