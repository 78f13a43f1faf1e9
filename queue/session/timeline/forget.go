package timeline

import (
	"slices"
	"sort"

	"github.com/schedq/schedq/queue/session/board"
)

// Forget drops the first cut changes, a multiple of KeyframeEvery, and what led to them, and of the pods that had left by
// then all but those that keep is true of; nil is none. Slices that frames have stay as they are.
func (t *Timeline) Forget(cut int, keep func(*board.Pod) bool) {
	h := t.history
	moved := sort.Search(len(h.Moves), func(i int) bool { return h.Moves[i].Change >= cut })
	told := sort.Search(len(h.tallies), func(i int) bool { return h.tallies[i].changes > cut })
	h.Changes, h.Moves = slices.Clone(h.Changes[cut:]), slices.Clone(h.Moves[moved:])
	h.keyframes, h.tallies = slices.Clone(h.keyframes[cut/KeyframeEvery:]), slices.Clone(h.tallies[told:])
	for _, m := range h.Moves {
		m.Change -= cut // only the owner looks at it
	}
	for i := range h.tallies {
		h.tallies[i].changes -= cut
	}
	h.Cursor, h.Moved = h.Cursor-cut, h.Moved-moved

	// The engine before the first change that is left is the oldest that is needed.
	first := 0
	for first+1 < len(t.checkpoints) && t.checkpoints[first+1].engine.changes <= cut {
		first++
	}
	if first < len(t.checkpoints) {
		from := t.checkpoints[first].events
		t.checkpoints = slices.Clone(t.checkpoints[first:])
		t.Feed.Events, t.Next = slices.Clone(t.Feed.Events[from:]), t.Next-from
		for i := range t.checkpoints {
			t.checkpoints[i].events -= from
			t.checkpoints[i].engine.changes -= cut
		}
	}
	t.Engine.changes -= cut
	dropped := sort.Search(len(t.Counts), func(i int) bool { return t.Counts[i].Changes >= cut })
	t.Counts = slices.Clone(t.Counts[dropped:])
	for i := range t.Counts {
		t.Counts[i].Changes -= cut
	}
	// Pods that left before then are in no change any more.
	oldest := h.Changes[0].At
	h.head.DropLeft(oldest, keep)
	if h.Shown != h.head {
		h.Shown.DropLeft(oldest, keep)
	}
}
