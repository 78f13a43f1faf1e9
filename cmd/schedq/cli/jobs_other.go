//go:build !unix

package cli

// inForeground reports whether the program may change the terminal.
func inForeground(int) bool { return true }

// ignoreTTYStop keeps the program from being stopped when it changes a terminal in the background.
func ignoreTTYStop() {}
