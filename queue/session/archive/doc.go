// Package archive keeps in a file what happened in a timeline and is not in memory any more: its changes in blocks, packed and
// each found by number and by time, and now and then the whole board, to begin from.
//
// Changes and moves have the numbers that they have in the timeline, from 0. What is read comes out as it was written, but that it
// holds its past by number: the move before a pod's oldest in a block is read when it is asked for. One goroutine writes; any may
// read. The package imports board and what is below it.
package archive
