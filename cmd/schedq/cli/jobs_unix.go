//go:build unix

package cli

import (
	"os/signal"

	"golang.org/x/sys/unix"
)

// foreground reports whether the terminal is this program's to change. While it was put into the background, with
// ctrl+z, the terminal is the shell's, and whoever changes it all the same is stopped.
func foreground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// unstoppable has the program not be stopped for touching a terminal that is the shell's. A shell that kills what was
// put into the background wakes it for that, and the screen's first act is to take the terminal.
func unstoppable() { signal.Ignore(unix.SIGTTOU) }
