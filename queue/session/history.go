package session

import (
	"slices"
	"sort"
	"time"
)

// keyframeEvery is how many changes lie between two keyframes: few enough to walk through them within
// a frame, and enough for the keyframes to cost little.
const keyframeEvery = 2048

// history is all that happened so far, and a cursor in it. Looking at the past reads it; nothing is
// executed again.
type history struct {
	changes   []change
	moves     []*Transition // of changes, in the same order
	keyframes []*Board      // keyframes[i] is the board before changes[i*keyframeEvery]

	head *Board // after the last change

	// cursor is how many changes are in the past of the moment shown, moved how many moves of those,
	// and shown the board then. At the end shown is head itself.
	cursor, moved int
	shown         *Board
}

func newHistory() *history {
	b := newBoard()
	return &history{head: b, shown: b}
}

// fork returns a history that begins as this one up to the cursor.
func (h *history) fork() *history {
	f := &history{
		changes:   slices.Clip(h.changes[:h.cursor]),
		moves:     slices.Clip(h.moves[:h.moved]),
		keyframes: slices.Clip(h.keyframes[:(h.cursor+keyframeEvery-1)/keyframeEvery]),
		head:      h.shown.copy(),
		cursor:    h.cursor,
		moved:     h.moved,
	}
	f.shown = f.head
	return f
}

// append adds a change. If the cursor was at the end it stays there.
func (h *history) append(c change) {
	if len(h.changes)%keyframeEvery == 0 {
		h.keyframes = append(h.keyframes, h.head.copy())
	}
	atEnd := h.cursor == len(h.changes)
	h.changes = append(h.changes, c)
	h.head.replace(c.before, c.after)
	if c.move != nil {
		c.move.change = len(h.changes) - 1
		h.moves = append(h.moves, c.move)
	}
	if atEnd {
		h.cursor, h.moved = len(h.changes), len(h.moves)
	}
}

// at returns how many changes had happened at t.
func (h *history) at(t time.Time) int {
	return sort.Search(len(h.changes), func(i int) bool { return h.changes[i].at.After(t) })
}

// show moves the cursor so that n changes are in the past.
func (h *history) show(n int) {
	switch {
	case n == h.cursor:
		return
	case n == len(h.changes):
		h.setFilter(h.head, h.shown.filter)
		h.shown = h.head
		h.cursor, h.moved = n, len(h.moves)
		return
	case h.shown == h.head:
		h.shown = h.head.copy()
	}
	if distance := max(n-h.cursor, h.cursor-n); distance > keyframeEvery {
		h.jump(n / keyframeEvery)
	}
	for ; h.cursor < n; h.cursor++ {
		c := h.changes[h.cursor]
		h.shown.replace(c.before, c.after)
		h.moved += c.steps()
	}
	for ; h.cursor > n; h.cursor-- {
		c := h.changes[h.cursor-1]
		h.shown.replace(c.after, c.before)
		h.moved -= c.steps()
	}
}

// jump moves the cursor to a keyframe.
func (h *history) jump(keyframe int) {
	filter := h.shown.filter
	h.cursor = keyframe * keyframeEvery
	h.shown = h.keyframes[keyframe].copy()
	h.setFilter(h.shown, filter)
	h.moved = sort.Search(len(h.moves), func(i int) bool { return h.moves[i].change >= h.cursor })
}

func (h *history) setFilter(b *Board, f Filter) {
	if b.filter.text != f.text {
		b.setFilter(f)
	}
}

// steps is how many moves c is.
func (c change) steps() int {
	if c.move != nil {
		return 1
	}
	return 0
}
