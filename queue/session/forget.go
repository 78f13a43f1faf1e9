package session

import (
	"slices"
	"sort"
)

// forget drops the first cut changes, a multiple of keyframeEvery, and what led to them. Slices that frames
// have stay as they are.
func (t *timeline) forget(cut int) {
	h := t.history
	moved := sort.Search(len(h.moves), func(i int) bool { return h.moves[i].change >= cut })
	told := sort.Search(len(h.tallies), func(i int) bool { return h.tallies[i].changes > cut })
	h.changes, h.moves = slices.Clone(h.changes[cut:]), slices.Clone(h.moves[moved:])
	h.keyframes, h.tallies = slices.Clone(h.keyframes[cut/keyframeEvery:]), slices.Clone(h.tallies[told:])
	for _, m := range h.moves {
		m.change -= cut // only the owner looks at it
	}
	for i := range h.tallies {
		h.tallies[i].changes -= cut
	}
	h.cursor, h.moved = h.cursor-cut, h.moved-moved

	// The engine before the first change that is left is the oldest that is needed.
	first := 0
	for first+1 < len(t.checkpoints) && t.checkpoints[first+1].engine.changes <= cut {
		first++
	}
	if first < len(t.checkpoints) {
		from := t.checkpoints[first].events
		t.checkpoints = slices.Clone(t.checkpoints[first:])
		t.feed.events, t.next = slices.Clone(t.feed.events[from:]), t.next-from
		for i := range t.checkpoints {
			t.checkpoints[i].events -= from
			t.checkpoints[i].engine.changes -= cut
		}
	}
	t.engine.changes -= cut
	dropped := sort.Search(len(t.counts), func(i int) bool { return t.counts[i].changes >= cut })
	t.counts = slices.Clone(t.counts[dropped:])
	for i := range t.counts {
		t.counts[i].changes -= cut
	}
	// Pods that left before then are in no change any more.
	oldest := h.changes[0].at
	h.head.dropLeft(oldest)
	if h.shown != h.head {
		h.shown.dropLeft(oldest)
	}
}
