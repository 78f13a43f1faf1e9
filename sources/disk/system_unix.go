//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package disk

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// dontWait and dontFollow are flags to inspect an existing file: opening a pipe does not block, and links are not
// followed.
const (
	dontWait   = unix.O_NONBLOCK
	dontFollow = unix.O_NOFOLLOW
)

// goesWithClose is the flag that removes a file when it is closed. Here its name is removed once it is open.
const goesWithClose = 0

func lock(f *os.File, shared bool) error {
	how := unix.LOCK_EX
	if shared {
		how = unix.LOCK_SH
	}
	for {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrLocked
		}
		return err
	}
}

// ours reports whether a file belongs to the current user.
func ours(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
