// Package board is the base page: the panes of the queue, the pods in flight and the log, with
// finding, sorting and grouping of pods.
//
// Rows hold positions, never pods: the cost of a frame depends on the size of the terminal, not on
// the number of pods.
package board
