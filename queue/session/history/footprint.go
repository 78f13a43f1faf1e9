package history

import (
	"unsafe"

	"github.com/schedq/schedq/queue/session/board"
)

// What things take beside their own size, in bytes, measured as the heap's growth (TestSizeIsWhatTheHeapHolds).
const (
	// changeExtra is for what a change points to beside its pod and its move: lists of plugins, a verdict.
	changeExtra = 150
	// boardPerPod is for each pod on a board that no other board shares, in all the orders that it is kept in.
	boardPerPod = 100
)

// Size is about how many bytes of memory h holds beside what it shares with beginning, which it forked from; nil is none.
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
