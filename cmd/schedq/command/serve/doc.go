// Package serve holds the command that opens a room to visitors.
//
// What can be wrong is found before the room is open. Visitors reach nothing of this machine. The package imports packages
// of cmd/schedq, the room, the screen and what is below it, and no other command.
package serve
