// Package history records one run of the queue: its numbered changes and moves, boards to start from, a
// cursor that moves back and forth, and pod counts per second. Viewing the past executes nothing.
//
// The newest part is in memory. The oldest is in an archive if there is one, and may otherwise be
// dropped. A history belongs to one goroutine; the boards, moves, logs and series that it returns are
// immutable. The package imports archive, board and what they import.
package history
