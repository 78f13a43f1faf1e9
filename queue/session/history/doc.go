// Package history is all that happened in one run of the queue: its changes and moves, each with its number, the boards to begin
// from, a cursor that goes to and fro, and how many pods each second had where. Looking at it executes nothing.
//
// The newest is in memory; the oldest is in an archive, if there is one, and else may be forgotten. A history belongs to one
// goroutine; the boards, moves, logs and series that it hands out do not change. The package imports archive, board and what is
// below them.
package history
