// Package class serves lessons to the visitors of a room.
//
// Each visitor has a session of their own, and nothing on their screen reaches this machine. How far they come is kept
// in memory, by their names, for as long as the room is open. The package imports lessons, progress, the room and the
// screen, and not the command line.
package class
