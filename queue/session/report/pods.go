package report

import (
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
)

// podReport is what a reporter remembers of a pod: of the pods of one name, one after the other, as of one.
type podReport struct {
	number uint32
	// selected is true once the pod is reported on, and moved once it was somewhere. Until it is selected, passed is what is to be
	// counted if it will be.
	selected, moved bool
	passed          passedMoves

	tier            queue.Tier
	since, failedAt moment
	wokenBy         uint32   // the event's number
	plugins         []string // of the last failed attempt, until the pod is in activeQ again
	// last is the pod as it was told last, until it left. Then longest is what can be said of it.
	last    *board.Pod
	longest longest
}

// podOver is what a reporter remembers of a pod that left, and of which nothing is still to be counted, unless a later one of its name is
// selected: most pods of a long recording. The rest of its podReport is as that of a pod that was nowhere yet, since time that is spent
// nowhere in the queue is not counted.
type podOver struct {
	longest longest
	wokenBy uint32
	is      bool         // it is over, or was before
	passed  *passedMoves // of a pod that is not selected; else nil
}

// longest is what can be said of the pod in a LongestReport but for its name. The zero value is of a pod that did not wait.
type longest struct {
	waited   Seconds
	attempts int
	plugins  uint32 // the number of the rejection and 1, or 0 of no plugins
	tier     queue.Tier
	is       bool
}

// countedMove is what is counted of a move.
type countedMove struct {
	at                 moment
	attempts           int
	event, rejection   uint32 // their numbers; rejection is that of a failed attempt
	from, to           queue.Tier
	observed, restated bool
}
