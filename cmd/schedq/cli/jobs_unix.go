//go:build unix

package cli

import (
	"os/signal"

	"golang.org/x/sys/unix"
)

// inForeground reports whether the program may change the terminal. After ctrl+z the terminal belongs
// to the shell, and a background process that changes it is stopped.
func inForeground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// ignoreTTYStop keeps the program from being stopped when it changes a terminal in the background. A
// shell that kills a stopped job wakes it first, and the screen's first act is to take the terminal.
func ignoreTTYStop() { signal.Ignore(unix.SIGTTOU) }
