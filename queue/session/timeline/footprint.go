package timeline

import (
	"unsafe"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/sources"
)

// What things take beside their own size, in bytes, measured as the heap's growth (TestSizeIsWhatTheHeapHolds).
const (
	// changeExtra is for what a change points to beside its pod and its move: lists of plugins, a verdict.
	changeExtra = 150
	// podCopy is for the pod's object that a local scheduler in a what-if writes with a change.
	podCopy = 900
	// boardPerPod is for each pod on a board that no other board shares, in all the orders that it is kept in.
	boardPerPod = 100
	// enginePerPod is for each pod of a queue that is kept to fork from, and enginePerObject for each object.
	enginePerPod    = 400
	enginePerObject = 100
	// schedulerPerObject is for each object that a local scheduler has taken in.
	schedulerPerObject = 2500
	// schedulerItself is for a local scheduler without any.
	schedulerItself = 400 << 10
)

// Size is about how many bytes of memory the timeline holds, beside the recording's own objects.
func (t *Timeline) Size() int64 {
	pods, objects := t.head.Pods.Len(), t.Engine.Objects.Tree.Len()
	engine := pods*enginePerPod + objects*enginePerObject
	changes, moves, keyframes := len(t.changes), len(t.moves), len(t.keyframes)
	n := cap(t.changes)*int(unsafe.Sizeof(Change{})) + cap(t.moves)*int(unsafe.Sizeof(&board.Transition{}))
	n += cap(t.tallies) * int(unsafe.Sizeof(Tally{}))
	if t.Forked != nil { // what it began with is the recording's, too
		changes -= len(t.Forked.History.changes)
		moves -= len(t.Forked.History.moves)
		keyframes -= len(t.Forked.History.keyframes)
		n += changes*podCopy + 2*engine
	} else {
		n += len(t.checkpoints) * engine
	}
	n += changes*(int(unsafe.Sizeof(board.Pod{}))+changeExtra) + moves*int(unsafe.Sizeof(board.Transition{}))
	n += keyframes * pods * boardPerPod
	if t.Feed != nil && t.Feed.Shadow != nil {
		n += cap(t.Feed.Events) * int(unsafe.Sizeof(sources.Event{}))
	}
	if t.Engine.Driver != nil {
		n += schedulerItself + objects*schedulerPerObject
	}
	return int64(n)
}
