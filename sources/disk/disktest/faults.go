// Package disktest lets file operations fail, for tests of what writes and reads files.
package disktest

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"sync"
	"syscall"

	"github.com/schedq/schedq/sources/disk"
)

// Faults are the operations of the operating system, of which some fail.
type Faults struct {
	disk.Operations
	// From is the number of the operation that fails, from 1; 0 is none. Lasting has all that follow fail, too.
	From    int
	Lasting bool
	// Fails is how: as the system's error. A write that fails has written half of what it was given; without an
	// error it does not even say so.
	Fails syscall.Errno
	// NoLinks has the file system have no hard links.
	NoLinks bool
	// NoNames has no name be given to a file that has none, as without /proc.
	NoNames bool

	mu   sync.Mutex
	done []string // the operations so far
	held bool     // a removal failed
}

// Context returns a context in which files are read and written with these faults.
func (f *Faults) Context(ctx context.Context) context.Context {
	f.Operations = disk.System()
	return disk.With(ctx, f)
}

// Fail has the operation fail that is the nth from now on, and with lasting all that follow; 0 is none. It may be called while
// files are in use.
func (f *Faults) Fail(nth int, lasting bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.From, f.Lasting = len(f.done)+nth, lasting
	if nth == 0 {
		f.From = 0
	}
}

// Count is how many operations there were.
func (f *Faults) Count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.done)
}

// Done are the operations so far, by the names of the system's calls.
func (f *Faults) Done() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.done)
}

// KeptFromRemoving reports whether a removal was let fail: what should have been removed may still be there.
func (f *Faults) KeptFromRemoving() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.held
}

// now notes an operation, and reports whether it fails.
func (f *Faults) now(op string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = append(f.done, op)
	n := len(f.done)
	return n == f.From || f.Lasting && f.From > 0 && n > f.From
}

func (f *Faults) failed(op, path string) error {
	if !f.now(op) {
		return nil
	}
	if op == "remove" {
		f.mu.Lock()
		f.held = true
		f.mu.Unlock()
	}
	return &fs.PathError{Op: op, Path: path, Err: f.errno()}
}

// errno is the error of operations other than writing, which can't fail without one.
func (f *Faults) errno() syscall.Errno {
	if f.Fails == 0 {
		return syscall.EIO
	}
	return f.Fails
}

// Open implements disk.Operations.
func (f *Faults) Open(path string, flag int, mode fs.FileMode) (disk.File, error) {
	if err := f.failed("open", path); err != nil {
		return nil, err
	}
	opened, err := f.Operations.Open(path, flag, mode)
	if err != nil {
		return nil, err
	}
	return &file{opened, f, path}, nil
}

// Lstat implements disk.Operations.
func (f *Faults) Lstat(path string) (fs.FileInfo, error) {
	if err := f.failed("lstat", path); err != nil {
		return nil, err
	}
	return f.Operations.Lstat(path)
}

// Stat implements disk.Operations.
func (f *Faults) Stat(path string) (fs.FileInfo, error) {
	if err := f.failed("stat", path); err != nil {
		return nil, err
	}
	return f.Operations.Stat(path)
}

// Link implements disk.Operations.
func (f *Faults) Link(from, to string) error {
	if f.NoLinks {
		return &os.LinkError{Op: "link", Old: from, New: to, Err: syscall.EPERM}
	}
	if f.now("link") {
		return &os.LinkError{Op: "link", Old: from, New: to, Err: f.errno()}
	}
	return f.Operations.Link(from, to)
}

// Rename implements disk.Operations.
func (f *Faults) Rename(from, to string) error {
	if f.now("rename") {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: f.errno()}
	}
	return f.Operations.Rename(from, to)
}

// Remove implements disk.Operations.
func (f *Faults) Remove(path string) error {
	if err := f.failed("remove", path); err != nil {
		return err
	}
	return f.Operations.Remove(path)
}

// MkdirAll implements disk.Operations.
func (f *Faults) MkdirAll(path string, mode fs.FileMode) error {
	if err := f.failed("mkdir", path); err != nil {
		return err
	}
	return f.Operations.MkdirAll(path, mode)
}

// Chmod implements disk.Operations.
func (f *Faults) Chmod(path string, mode fs.FileMode) error {
	if err := f.failed("chmod", path); err != nil {
		return err
	}
	return f.Operations.Chmod(path, mode)
}

// ReadDir implements disk.Operations.
func (f *Faults) ReadDir(path string) ([]fs.DirEntry, error) {
	if err := f.failed("readdir", path); err != nil {
		return nil, err
	}
	return f.Operations.ReadDir(path)
}

type file struct {
	disk.File
	faults *Faults
	path   string
}

// Link implements disk.File.
func (f *file) Link(path string) error {
	if f.faults.NoNames || f.faults.now("link") {
		return &os.LinkError{Op: "link", New: path, Err: f.faults.errno()}
	}
	return f.File.Link(path)
}

// Read implements disk.File.
func (f *file) Read(p []byte) (int, error) {
	if err := f.faults.failed("read", f.path); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

// Write implements disk.File.
func (f *file) Write(p []byte) (int, error) {
	if !f.faults.now("write") {
		return f.File.Write(p)
	}
	n, err := f.File.Write(p[:len(p)/2])
	if err == nil && f.faults.Fails != 0 {
		err = &fs.PathError{Op: "write", Path: f.path, Err: f.faults.Fails}
	}
	return n, err
}

// Stat implements disk.File.
func (f *file) Stat() (fs.FileInfo, error) {
	if err := f.faults.failed("stat", f.path); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

// Chmod implements disk.File.
func (f *file) Chmod(mode fs.FileMode) error {
	if err := f.faults.failed("chmod", f.path); err != nil {
		return err
	}
	return f.File.Chmod(mode)
}

// Sync implements disk.File. The disk is not waited for: no test cuts its power.
func (f *file) Sync() error { return f.faults.failed("sync", f.path) }

// Lock implements disk.File.
func (f *file) Lock(shared bool) error {
	if err := f.faults.failed("lock", f.path); err != nil {
		return err
	}
	return f.File.Lock(shared)
}

// Close implements disk.File. A file that can't be closed is closed all the same, as the system does it.
func (f *file) Close() error {
	return firstError(f.faults.failed("close", f.path), f.File.Close())
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
