package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Windows has no such flags and does not need them.
const (
	dontWait   = 0
	dontFollow = 0
)

// goesWithClose is the flag that removes a file when it is closed: an open file must keep its name.
const goesWithClose = windows.FILE_FLAG_DELETE_ON_CLOSE

// lock locks a byte beyond the end of any file: Windows locks are mandatory, and would prevent reading.
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

// ours returns false: modes have no meaning on Windows, so none must be restricted.
func ours(os.FileInfo) bool { return false }
