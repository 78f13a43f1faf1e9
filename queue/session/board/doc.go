// Package board shows where every pod is at one moment, in several views: sorted, filtered, grouped, with
// pod groups folded, or in lanes by arrival. Pods and moves on a board are immutable.
//
// Copying a board is cheap, and a change to the copy does not affect the original, so a frame may keep
// one. The package imports the model for verdicts, and the filter.
package board
