package disk

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// unnamed is the flag to open an unnamed file in a folder: the kernel removes it when it is closed, unless it was named.
const unnamed = unix.O_TMPFILE

// link names an unnamed file.
func link(f *os.File, path string) error {
	from := fmt.Sprintf("/proc/self/fd/%d", f.Fd())
	if err := unix.Linkat(unix.AT_FDCWD, from, unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW); err != nil {
		return &os.LinkError{Op: "link", Old: from, New: path, Err: err}
	}
	return nil
}
