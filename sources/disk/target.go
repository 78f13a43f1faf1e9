package disk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/schedq/schedq/sources"
)

// Options define how a file is written.
type Options struct {
	// Replace allows replacing an existing file or symbolic link. The target of the link stays unchanged.
	Replace bool
	// Mode is the mode of the file, whatever the mode of the one that it replaces. 0 is 0600.
	Mode fs.FileMode
}

func (o Options) mode() fs.FileMode {
	if o.Mode == 0 {
		return 0o600
	}
	return o.Mode
}

// refusal is the error about an existing file, as a sentence.
type refusal string

func (r refusal) Error() string { return string(r) }

// Is makes a refusal match fs.ErrExist.
func (refusal) Is(err error) bool { return err == fs.ErrExist }

func busy(path string) error {
	return refusal(fmt.Sprintf("%s is being written by another schedq", sources.Sanitize(path)))
}

func exists(path string) error {
	return refusal(fmt.Sprintf("%s exists already: name another file, or replace it with --force", sources.Sanitize(path)))
}

// Check returns the error with which Write or Create would refuse path. The error is one sentence with the path. It
// matches fs.ErrExist if path exists and is not a directory.
func Check(ctx context.Context, path string, opts Options) error {
	ops := operations(ctx)
	through, err := inspect(ops, path, opts.Replace)
	if err != nil || through {
		return err
	}
	if opts.Replace && writtenNow(ops, path) {
		return busy(path)
	}
	if _, err := ops.Stat(filepath.Dir(path)); err != nil {
		return cannotWrite(path, err)
	}
	return nil
}

// inspect checks what exists at path. through is true if it is written directly and can't be replaced, such as a pipe or
// a terminal.
func inspect(ops Operations, path string, replace bool) (through bool, err error) {
	if _, ok := standard(path); ok {
		return true, nil
	}
	info, err := ops.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, cannotWrite(path, err)
	}
	link := info.Mode().Type() == fs.ModeSymlink
	if link {
		// A link to a pipe or a device overwrites nothing: shells pass the end of a pipe as /dev/fd/63.
		to, err := ops.Stat(path)
		if err == nil && !to.Mode().IsRegular() {
			info, link = to, false
		}
	}
	switch {
	case info.IsDir():
		return false, fmt.Errorf("%s is a directory: name a file to write in it", sources.Sanitize(path))
	case link && !replace:
		return false, refusal(fmt.Sprintf("%s is a symbolic link: name the file itself, or replace the link with --force", sources.Sanitize(path)))
	case link:
		return false, nil
	case !info.Mode().IsRegular():
		return true, nil
	case !replace && writtenNow(ops, path):
		return false, busy(path)
	case !replace:
		return false, exists(path)
	}
	return false, nil
}

// standard returns the open file that path names, such as /dev/stdout. If opened by that name, a file to which standard
// output is redirected would be overwritten from its start.
func standard(path string) (*os.File, bool) {
	switch path {
	case "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1":
		return os.Stdout, true
	case "/dev/stderr", "/dev/fd/2", "/proc/self/fd/2":
		return os.Stderr, true
	}
	return nil, false
}

// WrittenNow reports whether a schedq is writing the file at path.
func WrittenNow(ctx context.Context, path string) bool { return writtenNow(operations(ctx), path) }

func writtenNow(ops Operations, path string) bool {
	f, err := openThere(ops, path)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(f.Lock(true), ErrLocked)
}

// openThere opens an existing file for locking. Some file systems require write access for an exclusive lock.
func openThere(ops Operations, path string) (File, error) {
	f, err := ops.Open(path, os.O_RDWR|dontWait|dontFollow, 0)
	if err != nil {
		f, err = ops.Open(path, os.O_RDONLY|dontWait|dontFollow, 0)
	}
	return f, err
}

// openStays reports whether an open file can't be renamed, replaced or removed.
const openStays = runtime.GOOS == "windows"

// holdLock locks the file at path, if it exists, until release is called, so that no other schedq replaces or writes it.
// A file that can't be opened or locked is ignored. If openStays, holdLock only checks that the file is not locked.
func holdLock(ops Operations, path string) (release func(), err error) {
	for range 100 {
		f, err := openThere(ops, path)
		if err != nil {
			return func() {}, nil
		}
		if errors.Is(f.Lock(false), ErrLocked) {
			f.Close()
			return nil, busy(path)
		}
		held, err := f.Stat()
		if err != nil {
			f.Close()
			return nil, cannotWrite(path, err)
		}
		now, err := ops.Lstat(path)
		if err == nil && os.SameFile(held, now) {
			if openStays {
				f.Close()
			}
			return func() { f.Close() }, nil
		}
		f.Close() // the previous holder of the lock has replaced the file
	}
	return nil, busy(path)
}
