// Package board is the lowest page: the panes of the queue, the pods in flight and the log, in whatever room they are
// given; what finds, sorts and folds pods there.
//
// Rows hold positions, never pods: what a frame costs follows from the size of the terminal and not from how many pods
// there are.
package board
