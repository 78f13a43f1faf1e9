package disk

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// unnamed is how a file without a name is opened, by its folder: the kernel removes it when it is closed, unless it got a name.
const unnamed = unix.O_TMPFILE

// link gives a file that has no name that one.
func link(f *os.File, path string) error {
	from := fmt.Sprintf("/proc/self/fd/%d", f.Fd())
	if err := unix.Linkat(unix.AT_FDCWD, from, unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW); err != nil {
		return &os.LinkError{Op: "link", Old: from, New: path, Err: err}
	}
	return nil
}
