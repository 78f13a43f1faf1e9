// Package process ends the program in order: it listens for signals, and has the terminal be as it was when the program
// began.
//
// Nothing else in the program listens for signals that ask it to end. The package imports nothing else of the program.
package process
