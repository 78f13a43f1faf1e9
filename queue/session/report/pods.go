package report

import (
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
)

// podReport is a reporter's state of a pod. Successive pods with one name share it.
type podReport struct {
	number uint32
	// selected is true once the pod is selected, and moved once it has moved. Until it is selected,
	// skipped contains the moves to count if it will be.
	selected, moved bool
	skipped         skippedMoves

	tier            queue.Tier
	since, failedAt moment
	wokenBy         uint32   // the event's number
	plugins         []string // of the last failed attempt, until the pod returns to activeQ
	// last is the pod's last state, until it leaves. Then longest is set.
	last    *board.Pod
	longest longest
}

// finishedPod is the small state that a reporter keeps of a pod that left and has nothing left to count,
// unless a later pod with its name is selected. Most pods of a long recording are finished. The rest of
// its podReport is that of a new pod.
type finishedPod struct {
	longest longest
	wokenBy uint32
	known   bool          // the pod is finished, or was before
	skipped *skippedMoves // nil if the pod is selected
}

// longest is a LongestReport without the name. The zero value is that of a pod that did not wait.
type longest struct {
	waited                Seconds
	attempts              int
	plugins               uint32 // the number of the rejection plus 1, or 0 for no plugins
	tier                  queue.Tier
	known                 bool
	waitedMore, triedMore bool // waited and attempts are lower bounds
	gone                  time.Time
}

// countedMove is the part of a move that is counted.
type countedMove struct {
	at                 moment
	attempts           int
	event, rejection   uint32 // numbers; rejection is set for a failed attempt
	from, to           queue.Tier
	observed, restated bool
	atLeast            bool // attempts is a lower bound
}
