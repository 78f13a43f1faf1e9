// Package archive stores the history of a timeline that is no longer in memory in a file: its changes in
// compressed blocks, found by number and by time, and occasionally the whole board to start from.
//
// Changes and moves have the timeline's numbers, from 0. They are read back as they were written, except
// that a pod's moves before its oldest in a block are read on demand. One goroutine writes; any may read.
// The package imports board and what it imports.
package archive
