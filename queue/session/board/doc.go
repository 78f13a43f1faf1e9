// Package board is where every pod is at one moment, and the ways to look at it: sorted, filtered, in groups, pod
// groups folded, in lanes by arrival. Pods and moves are values that do not change once they are on a board.
//
// A board is copied for nothing, and what the copy changes, the other does not see; so a frame may keep one. The
// package imports the model for verdicts and the filter, and knows nothing of time but what it is told.
package board
