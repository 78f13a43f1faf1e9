// Package timeline is one run of the queue through time: of a recording, of a live cluster, or of a what-if that left
// one of them.
//
//	Engine    feeds events to a queue and turns what the queue tells into changes; it only goes forward
//	Timeline  the engine and its history, with checkpoints to fork from, what a person did in a fork, and undo
//	Spare     a scheduler that is kept near to the present, for the next what-if
//	Replay, Follow, Drain   a run without a screen
//
// Looking at the past reads the history and executes nothing. A fork executes again what led to it, and comes out the
// same. A timeline belongs to one goroutine; boards, moves and series that it hands out do not change. The package
// imports history, model and what is below them.
package timeline
