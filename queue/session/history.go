package session

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"k8s.io/apimachinery/pkg/types"
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

	tallies []Tally // of the seconds with changes but the last: see Series

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
		tallies:   slices.Clip(h.closed()),
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
	h.closeSecond(c.at)
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
		h.see(h.head, h.shown.view, h.shown.now)
		h.shown = h.head
		h.cursor, h.moved = n, len(h.moves)
		return
	case h.shown == h.head:
		h.shown = h.head.copy()
	}
	if distance := max(n-h.cursor, h.cursor-n); distance > keyframeEvery {
		// The nearest: from one that is behind n one walks back.
		h.jump(min((n+keyframeEvery/2)/keyframeEvery, len(h.keyframes)-1))
	}
	h.walk(n)
}

// walk moves the cursor change by change. Of a pod that changes several times, only the last is put into its
// place.
func (h *history) walk(n int) {
	if distance := max(n-h.cursor, h.cursor-n); distance <= 2 {
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
		return
	}
	type net struct{ was, is *Pod }
	at := map[types.NamespacedName]int{}
	var all []net
	add := func(was, is *Pod) {
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
	for ; h.cursor < n; h.cursor++ {
		c := h.changes[h.cursor]
		add(c.before, c.after)
		h.moved += c.steps()
	}
	for ; h.cursor > n; h.cursor-- {
		c := h.changes[h.cursor-1]
		add(c.after, c.before)
		h.moved -= c.steps()
	}
	for _, p := range all {
		if p.was != nil || p.is != nil {
			h.shown.replace(p.was, p.is)
		}
	}
}

// jump moves the cursor to a keyframe.
func (h *history) jump(keyframe int) {
	view, now := h.shown.view, h.shown.now
	h.cursor = keyframe * keyframeEvery
	h.shown = h.keyframes[keyframe].copy()
	h.see(h.shown, view, now)
	h.moved = sort.Search(len(h.moves), func(i int) bool { return h.moves[i].change >= h.cursor })
}

// see makes b be seen in that way and from now.
func (h *history) see(b *Board, v *view, now time.Time) {
	if b.view != v {
		b.setView(v, now)
	}
	b.retime(now)
}

// steps is how many moves c is.
func (c change) steps() int {
	if c.move != nil {
		return 1
	}
	return 0
}
