// Package plain makes safe what the program says to a person beside its output: errors and notes.
//
// Whatever arguments, flags, files and libraries put into it, none of its bytes steers the terminal. It imports sources
// alone.
package plain
