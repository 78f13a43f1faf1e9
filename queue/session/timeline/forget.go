package timeline

import (
	"slices"
	"sort"

	"github.com/schedq/schedq/queue/session/board"
)

// Forget drops the changes before the cut-th, whose number is a multiple of KeyframeEvery, and what led to them, and of the pods
// that had left by then all but those that keep is true of; nil is none. Slices that frames have stay as they are.
func (t *Timeline) Forget(cut int, keep func(*board.Pod) bool) {
	h := t.history
	moved := h.movesBefore(cut)
	told := sort.Search(len(h.tallies), func(i int) bool { return h.tallies[i].changes > cut })
	h.changes, h.moves = slices.Clone(h.changes[cut-h.first:]), slices.Clone(h.moves[moved-h.firstMove:])
	h.keyframes, h.tallies = slices.Clone(h.keyframes[(cut-h.first)/KeyframeEvery:]), slices.Clone(h.tallies[told:])
	h.first, h.firstMove = cut, moved

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
		}
	}
	dropped := sort.Search(len(t.Counts), func(i int) bool { return t.Counts[i].Changes >= cut })
	t.Counts = slices.Clone(t.Counts[dropped:])
	// Pods that left before then are in no change any more.
	oldest := h.changes[0].At
	h.head.DropLeft(oldest, keep)
	if h.Shown != h.head {
		h.Shown.DropLeft(oldest, keep)
	}
}
