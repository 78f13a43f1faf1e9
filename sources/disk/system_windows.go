package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Windows has no such flags: a file that is open is in nobody's way there.
const (
	dontWait   = 0
	dontFollow = 0
)

// goesWithClose is how a file is opened that is removed when it is closed, by whomever: a file that is open has to keep its name.
const goesWithClose = windows.FILE_FLAG_DELETE_ON_CLOSE

// lock locks a byte that no file has: unlike elsewhere, nobody could read what is locked.
func lock(f *os.File, shared bool) error {
	var how uint32 = windows.LOCKFILE_FAIL_IMMEDIATELY
	if !shared {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	at := &windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrLocked
	}
	return err
}

// ours is false: modes say nothing here, so none is to be tightened.
func ours(os.FileInfo) bool { return false }
