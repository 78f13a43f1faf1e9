// Package process is what the program is to the system: it ends in order, in that it listens for signals and has the terminal be as
// it was when the program began, and has threads enough to answer a person while it works.
//
// Nothing else in the program listens for signals that ask it to end. The package imports nothing else of the program.
package process
