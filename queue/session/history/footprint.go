package history

import (
	"unsafe"

	"github.com/schedq/schedq/queue/session/board"
)

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
