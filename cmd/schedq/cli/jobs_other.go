//go:build !unix

package cli

// foreground reports whether the terminal is this program's to change.
func foreground(int) bool { return true }

// unstoppable has the program not be stopped for touching a terminal that is the shell's.
func unstoppable() {}
