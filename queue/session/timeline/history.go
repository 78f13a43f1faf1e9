package timeline

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/board"
)

// KeyframeEvery is how many changes lie between two keyframes: few enough to walk through them within
// a frame, and enough for the keyframes to cost little.
const KeyframeEvery = 2048

// history is all that happened so far, and a cursor in it. Looking at the past reads it; nothing is
// executed again. Changes and moves have numbers, from 0; the oldest of them may be forgotten.
type history struct {
	changes   []Change            // from first on
	moves     []*board.Transition // the moves of changes, from firstMove on
	keyframes []*board.Board      // keyframes[i] is the board before change first+i*KeyframeEvery

	// first is the oldest change that is kept, a multiple of KeyframeEvery, and firstMove the oldest move.
	first, firstMove int

	tallies []Tally // one for each second that has changes, but the last such second: see Series

	head *board.Board // the board after the last change

	// Cursor is how many changes are in the past of the moment shown, Moved how many of them are moves, and
	// Shown the board at that moment. At the end Shown is head itself.
	Cursor, Moved int
	Shown         *board.Board
}

func newHistory() *history {
	b := board.New()
	return &history{head: b, Shown: b}
}

// ChangeCount returns how many changes there are, those included that are forgotten.
func (h *history) ChangeCount() int { return h.first + len(h.changes) }

// MoveCount returns how many moves there are, those included that are forgotten.
func (h *history) MoveCount() int { return h.firstMove + len(h.moves) }

// Change returns the change of that number, which must be kept.
func (h *history) Change(i int) Change { return h.changes[i-h.first] }

// Move returns the move of that number, which must be kept.
func (h *history) Move(i int) *board.Transition { return h.moves[i-h.firstMove] }

// MovesFrom returns the moves from that number on, as far as they are kept.
func (h *history) MovesFrom(i int) []*board.Transition { return h.moves[max(i-h.firstMove, 0):] }

// MovesShown returns the moves up to the moment shown, as far as they are kept.
func (h *history) MovesShown() []*board.Transition { return slices.Clip(h.moves[:h.Moved-h.firstMove]) }

// MovesKept returns how many moves are kept.
func (h *history) MovesKept() int { return len(h.moves) }

// fork returns a history that begins as this one up to the cursor.
func (h *history) fork() *history {
	f := &history{
		changes:   slices.Clip(h.changes[:h.Cursor-h.first]),
		moves:     slices.Clip(h.moves[:h.Moved-h.firstMove]),
		keyframes: slices.Clip(h.keyframes[:(h.Cursor-h.first+KeyframeEvery-1)/KeyframeEvery]),
		first:     h.first,
		firstMove: h.firstMove,
		tallies:   slices.Clip(h.closed()),
		head:      h.Shown.Copy(),
		Cursor:    h.Cursor,
		Moved:     h.Moved,
	}
	f.Shown = f.head
	return f
}

// append adds a change. If the cursor was at the end it stays there.
func (h *history) append(c Change) {
	if h.ChangeCount()%KeyframeEvery == 0 {
		h.keyframes = append(h.keyframes, h.head.Copy())
	}
	h.closeSecond(c.At)
	atEnd := h.Cursor == h.ChangeCount()
	h.changes = append(h.changes, c)
	h.head.Replace(c.Before, c.After)
	if c.Move != nil {
		c.Move.Change = h.ChangeCount() - 1
		h.moves = append(h.moves, c.Move)
	}
	if atEnd {
		h.Cursor, h.Moved = h.ChangeCount(), h.MoveCount()
	}
}

// ChangesBy returns how many changes had happened by t, those at t included.
func (h *history) ChangesBy(t time.Time) int {
	return h.first + sort.Search(len(h.changes), func(i int) bool { return h.changes[i].At.After(t) })
}

// SetCursor moves the cursor so that n changes are in the past, from those that are forgotten to all of them.
func (h *history) SetCursor(n int) {
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
		// The nearest: from one that is behind n one walks back.
		h.jump(min((n-h.first+KeyframeEvery/2)/KeyframeEvery, len(h.keyframes)-1))
	}
	h.walk(n)
}

// walk moves the cursor to n, change by change. A pod that changes several times on the way is put into its place
// once, as it was last.
func (h *history) walk(n int) {
	if distance := max(n-h.Cursor, h.Cursor-n); distance <= 2 {
		for ; h.Cursor < n; h.Cursor++ {
			c := h.Change(h.Cursor)
			h.Shown.Replace(c.Before, c.After)
			h.Moved += c.moveCount()
		}
		for ; h.Cursor > n; h.Cursor-- {
			c := h.Change(h.Cursor - 1)
			h.Shown.Replace(c.After, c.Before)
			h.Moved -= c.moveCount()
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
		h.Moved += c.moveCount()
	}
	for ; h.Cursor > n; h.Cursor-- {
		c := h.Change(h.Cursor - 1)
		add(c.After, c.Before)
		h.Moved -= c.moveCount()
	}
	for _, p := range all {
		if p.was != nil || p.is != nil {
			h.Shown.Replace(p.was, p.is)
		}
	}
}

// jump moves the cursor to the keyframe with that index.
func (h *history) jump(keyframe int) {
	view, now := h.Shown.View, h.Shown.Now
	h.Cursor = h.first + keyframe*KeyframeEvery
	h.Shown = h.keyframes[keyframe].Copy()
	h.SetView(h.Shown, view, now)
	h.Moved = h.movesBefore(h.Cursor)
}

// movesBefore returns how many moves are among the first n changes.
func (h *history) movesBefore(n int) int {
	return h.firstMove + sort.Search(len(h.moves), func(i int) bool { return h.moves[i].Change >= n })
}

// SetView has b seen through v, as of now.
func (h *history) SetView(b *board.Board, v *board.View, now time.Time) {
	if b.View != v {
		b.SetView(v, now)
	}
	b.Retime(now)
}

// moveCount is 1 if c is a move, and 0 if only details changed.
func (c Change) moveCount() int {
	if c.Move != nil {
		return 1
	}
	return 0
}
